! graph.c's distributed graphs in Fortran, mpif.h (BINDING 1) or mpi_f08 (3), with reorder = .true.
#if BINDING == 3
#define COMM type(MPI_Comm)
#else
#define COMM integer
#endif
program graph
#include "binding.inc"
  interface
    function this_pu() bind(c, name='sched_getcpu')
      use iso_c_binding, only: c_int
      integer(c_int) :: this_pu
    end function
  end interface
  integer :: rank, vertex, error, partner(1), heard(1), weights(1), sources(1), degrees(1)
  COMM :: made
  character(len=8) :: call_name
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, call_name)
  partner = [ieor(rank, 1)]
  weights = [100]
  if (call_name == 'dist') then
    sources = [rank]
    degrees = [1]
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, partner, weights, MPI_INFO_NULL, .true., made, error)
  else
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, partner, weights, 1, partner, weights, MPI_INFO_NULL, .true., &
                                        made, error)
  end if
  call MPI_Comm_rank(made, vertex, error)
  call MPI_Neighbor_allgather(vertex, 1, MPI_INTEGER, heard, 1, MPI_INTEGER, made, error)
  write (*, '(i0,1x,i0,1x,i0,1x,i0)') vertex, this_pu(), rank, merge(1, 0, heard(1) == ieor(vertex, 1))
  call MPI_Finalize(error)
end program
