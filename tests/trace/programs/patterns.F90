! patterns.c in Fortran, once for each binding: BINDING 1 is mpif.h, 2 is `use mpi`, 3 is `use mpi_f08`.
#if BINDING == 3
#define COMM_TYPE type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#else
#define COMM_TYPE integer
#define REQUEST_TYPE integer
#endif
program patterns
#if BINDING == 2
  use mpi
#elif BINDING == 3
  use mpi_f08
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, rows, columns, row, column, error, i
  double precision :: out(4096), in(4096)

  out = 0
  in = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  rows = 1
  do i = 1, ranks
    if (i*i <= ranks .and. mod(ranks, i) == 0) rows = i
  end do
  columns = ranks/rows
  row = rank/columns
  column = mod(rank, columns)
  call ring()
  call wavefront()
  call transposed()
  call all_to_all()
  call MPI_Finalize(error)

contains

  integer function at(r, c)
    integer, intent(in) :: r, c
    at = MPI_PROC_NULL
    if (r >= 0 .and. r < rows .and. c >= 0 .and. c < columns) at = r*columns + c
  end function at

  subroutine ring()
    integer :: k
    do k = 1, 10
      call MPI_Sendrecv(out, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, in, 100, MPI_DOUBLE_PRECISION, &
                        mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
  end subroutine ring

  subroutine wavefront()
    integer :: k
    do k = 1, 6
      call MPI_Recv(in, 5*k, MPI_DOUBLE_PRECISION, at(row - 1, column), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(in, 5*k, MPI_DOUBLE_PRECISION, at(row, column - 1), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Send(out, 5*k, MPI_DOUBLE_PRECISION, at(row + 1, column), 2, MPI_COMM_WORLD, error)
      call MPI_Send(out, 5*k, MPI_DOUBLE_PRECISION, at(row, column + 1), 2, MPI_COMM_WORLD, error)
    end do
  end subroutine wavefront

  subroutine transposed()
    COMM_TYPE :: line
    REQUEST_TYPE :: requests(2)
    integer :: partner, other, k
    partner = ranks - 1 - rank
    if (rows == columns) partner = column*columns + row
    call MPI_Comm_split(MPI_COMM_WORLD, row, columns - column, line, error)
    do k = 1, 5
      call MPI_Irecv(in, 75, MPI_DOUBLE_PRECISION, partner, 3, MPI_COMM_WORLD, requests(1), error)
      call MPI_Isend(out, 75, MPI_DOUBLE_PRECISION, partner, 3, MPI_COMM_WORLD, requests(2), error)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, line, error)
    end do
    do other = 0, columns - 1
      call MPI_Recv_init(in, 1, MPI_DOUBLE_PRECISION, other, 4, line, requests(1), error)
      call MPI_Send_init(out, 1, MPI_DOUBLE_PRECISION, other, 4, line, requests(2), error)
      do k = 1, 3
        call MPI_Startall(2, requests, error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      end do
      call MPI_Request_free(requests(1), error)
      call MPI_Request_free(requests(2), error)
    end do
    call MPI_Comm_free(line, error)
  end subroutine transposed

  subroutine all_to_all()
    integer :: counts(256), places(256), numbers(7), k
    numbers = 0
    do k = 0, ranks - 1
      counts(k + 1) = 1 + mod(rank + k, 2)
      places(k + 1) = 2*k
    end do
    call MPI_Bcast(numbers, 7, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    call MPI_Alltoall(out, 4, MPI_DOUBLE_PRECISION, in, 4, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
    call MPI_Alltoallv(out, counts, places, MPI_DOUBLE_PRECISION, in, counts, places, MPI_DOUBLE_PRECISION, &
                       MPI_COMM_WORLD, error)
    call MPI_Allreduce(out, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine all_to_all

end program patterns
