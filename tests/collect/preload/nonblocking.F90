! Nonblocking collectives through one of the three bindings, with Fortran's own MPI_IN_PLACE and statuses; rank 0 prints a
! number for all that all ranks have received. BINDING: 1 mpif.h, 2 mpi, 3 mpi_f08.
program nonblocking
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer, parameter :: n = 700
#if BINDING == 3
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: statuses(4)
#else
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4)
#endif
  integer :: rank, size, ierror, round, root, done, place
  integer, asynchronous :: a(n), b(n), c(n), d(n), e(n)
  integer(kind=8) :: seen

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  seen = 17
  do round = 0, 39
    root = mod(round, size)
    call fill(a, round, rank == root)
    call MPI_Ibcast(a, n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(1), ierror)
    call fill(b, round + 1, .true.)
    c = 0
    call MPI_Ireduce(b, c, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, requests(2), ierror)
    call fill(d, round + 2, .true.)
    call MPI_Iallreduce(MPI_IN_PLACE, d, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Iallreduce(b, e, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(4), ierror)
    if (mod(round + rank, 2) == 0) then
      call MPI_Waitall(4, requests, statuses, ierror)
    else
      do done = 1, 4
        call MPI_Waitany(4, requests, place, MPI_STATUS_IGNORE, ierror)
      end do
    end if
    call take(a)
    call take(c)
    call take(d)
    call take(e)
  end do
  call print_all()
  call MPI_Finalize(ierror)

contains

  subroutine fill(numbers, seed, wanted)
    integer, intent(out) :: numbers(:)
    integer, intent(in) :: seed
    logical, intent(in) :: wanted
    integer :: i
    do i = 1, n
      numbers(i) = merge(mod(rank * 7919 + seed * 1047 + i * 31, 100003), 5, wanted)
    end do
  end subroutine fill

  subroutine take(numbers)
    integer, intent(in) :: numbers(:)
    integer :: i
    do i = 1, ubound(numbers, 1)
      seen = mod(seen * 131_8 + int(numbers(i), 8), 1000000007_8)
    end do
  end subroutine take

  subroutine print_all()
    integer :: own(1), other(1), source, error
    own(1) = int(seen)
    if (rank /= 0) then
      call MPI_Send(own, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, error)
      return
    end if
    do source = 1, size - 1
      call MPI_Recv(other, 1, MPI_INTEGER, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call take(other)
    end do
    print '(i0)', seen
  end subroutine print_all
end program nonblocking
