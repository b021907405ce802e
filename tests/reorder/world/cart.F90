! cart.c's first grid in Fortran, mpif.h (BINDING 1) or mpi_f08 (3).
#if BINDING == 3
#define COMM type(MPI_Comm)
#else
#define COMM integer
#endif
program cart
#include "binding.inc"
  interface
    function this_pu() bind(c, name='sched_getcpu')
      use iso_c_binding, only: c_int
      integer(c_int) :: this_pu
    end function
  end interface
  integer :: rank, ranks, inner, error, at(1), sizes(1)
  logical :: periods(1)
  COMM :: grid
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  sizes = [ranks]
  periods = [.false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, .false., grid, error)
  call MPI_Comm_rank(grid, inner, error)
  call MPI_Cart_coords(grid, inner, 1, at, error)
  write (*, '(i0,1x,i0,1x,i0)') at(1), this_pu(), rank
  call MPI_Finalize(error)
end program
