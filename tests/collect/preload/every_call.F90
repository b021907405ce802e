! Collectives through one of the three bindings, with the constants that Fortran has of its own (MPI_IN_PLACE,
! MPI_BOTTOM); rank 0 prints a number for all that all ranks have received. BINDING: 1 mpif.h, 2 mpi, 3 mpi_f08.
program every_call
#include "binding.inc"
  integer, parameter :: n = 500
  integer, parameter :: most = 16
  integer :: rank, size, ierror, round, root, i
  integer :: in(n * most), out(n * most), counts(most), places(most)
  integer(kind=8) :: seen

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  seen = 17
  do round = 0, 39
    root = mod(round, size)
    call fill(out, round, rank == root)
    call broadcast(out, root)
    call take(out, n)
    call fill(in, round, .true.)
    out = 0
    call MPI_Reduce(in, out, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
    call take(out, n)
    call fill(out, round + 1, .true.)
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, ierror)
      call take(out, n)
    else
      call MPI_Reduce(out, in, n, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, ierror)
    end if
    call fill(out, round + 2, .true.)
    call MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call take(out, n)
    call fill(in, round + 3, .true.)
    call MPI_Reduce_scatter_block(in, out, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call take(out, n)
    call MPI_Allgather(in, n, MPI_INTEGER, out, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call take(out, n * size)
    call fill(out, round + 4, .true.)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call take(out, n * size)
    call fill(out, round + 5, .true.)
    if (rank == root) then
      call MPI_Gather(MPI_IN_PLACE, n, MPI_INTEGER, out, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call take(out, n * size)
      call MPI_Scatter(out, n, MPI_INTEGER, MPI_IN_PLACE, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    else
      call MPI_Gather(out, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call MPI_Scatter(in, n, MPI_INTEGER, out, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call take(out, n)
    end if
    do i = 1, size
      counts(i) = mod(i, 3) * 20
      places(i) = (i - 1) * n
    end do
    call fill(in, round + 6, .true.)
    out = 0
    call MPI_Gatherv(in, counts(rank + 1), MPI_INTEGER, out, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call take(out, n * size)
    call MPI_Alltoall(in, n, MPI_INTEGER, out, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call take(out, n * size)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call print_all()
  call MPI_Finalize(ierror)

contains

#include "seen.inc"

  ! By the address alone.
  subroutine broadcast(numbers, from)
    integer, intent(inout), asynchronous, target :: numbers(:)
    integer, intent(in) :: from
    integer(kind=MPI_ADDRESS_KIND) :: address(1)
    integer :: length(1), error
#if BINDING == 3
    type(MPI_Datatype) :: place
#else
    integer :: place
#endif
    call MPI_Get_address(numbers, address(1), error)
    length(1) = n
    call MPI_Type_create_hindexed(1, length, address, MPI_INTEGER, place, error)
    call MPI_Type_commit(place, error)
    call MPI_Bcast(MPI_BOTTOM, 1, place, from, MPI_COMM_WORLD, error)
    call MPI_Type_free(place, error)
  end subroutine broadcast
end program every_call
