! Nonblocking collectives through one of the three bindings, with Fortran's own MPI_IN_PLACE and statuses; rank 0 prints a
! number for all that all ranks have received. BINDING: 1 mpif.h, 2 mpi, 3 mpi_f08.
program nonblocking
#include "binding.inc"
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
    call take(a, n)
    call take(c, n)
    call take(d, n)
    call take(e, n)
  end do
  call print_all()
  call MPI_Finalize(ierror)

contains

#include "seen.inc"
end program nonblocking
