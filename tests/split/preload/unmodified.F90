! unmodified.c's `unguided` in Fortran, once for each binding: BINDING 1 is mpif.h, 2 is `use mpi`, 3 is `use mpi_f08`.
! Each rank prints its rank and the number of ranks on each level, from the world down: "3: 4 2 1".
#if BINDING == 3
#define COMM_TYPE type(MPI_Comm)
#else
#define COMM_TYPE integer
#endif
program unmodified
#if BINDING == 2
  use mpi
#elif BINDING == 3
  use mpi_f08
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
#ifdef OPEN_MPI
  integer, parameter :: unguided = 12 ! of Open MPI 5; 4.1 has no name for it
#else
  integer, parameter :: unguided = 3
#endif
  integer :: rank, members, counted, error, level
  character(len=200) :: line
  COMM_TYPE :: comm, part

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  write (line, '(i0, a)') rank, ':'
  comm = MPI_COMM_WORLD
  do level = 1, 10
    call MPI_Comm_split_type(comm, unguided, 0, MPI_INFO_NULL, part, error)
    if (error /= MPI_SUCCESS) then
      line = trim(line)//' error'
      exit
    end if
    if (part == MPI_COMM_NULL) exit
    call MPI_Comm_size(part, members, error)
    call MPI_Allreduce(members, counted, 1, MPI_INTEGER, MPI_SUM, part, error)
    write (line(len_trim(line) + 1:), '(a, i0)') ' ', counted/members
    comm = part
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  write (*, '(a)') trim(line)
  call MPI_Finalize(error)
end program unmodified
