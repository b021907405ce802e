! The same as fallthrough.c in Fortran, of MPI_Bcast only.
program fallthrough
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  include 'mpif.h'
  integer, parameter :: calls = 5000
  integer :: windows, rank, error
  real(real64) :: self, world
  character(len=16) :: word

  windows = 300
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) windows
  end if
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  self = least_of(MPI_COMM_SELF)
  world = least_of(MPI_COMM_WORLD)
  if (rank == 0) then
    print '(a, f0.2, a)', 'self ', self, ' MPI_Bcast'
    print '(a, f0.2, a)', 'world ', world, ' MPI_Bcast'
  end if
  call MPI_Finalize(error)

contains

  function least_of(comm) result(least)
    integer, intent(in) :: comm
    real(real64) :: least
    integer :: window, i, nothing, error
    integer(int64) :: first, last, rate

    least = huge(least)
    nothing = 0
    do window = 1, windows
      call MPI_Barrier(comm, error)
      call system_clock(first, rate)
      do i = 1, calls
        call MPI_Bcast(nothing, 0, MPI_INTEGER, 0, comm, error)
      end do
      call system_clock(last)
      least = min(least, real(last - first, real64) / real(rate, real64) * 1e9_real64 / calls)
    end do
  end function least_of
end program fallthrough
