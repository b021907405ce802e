! The reordering calls in Fortran with BINDING 1: mpif.h, 2: use mpi, 3: use mpi_f08; with NO_F08 the module
! ranktree_mpif in place of ranktree. On 4 ranks, the machine and the bindings of test_languages.py: ranks 1 and 2 share an
! L3 cache, rank 3 is alone in its package.
!
!   fortran_reorder PATTERN     PATTERN: vertices 0 and 3 exchange 1,000 bytes in each direction
#include "../../fortran/handles.inc"
program fortran_reorder
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
#include "../../fortran/modules.inc"
  integer :: code, rank

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call check_pattern()
  call check_unweighted()
  call check_objective()
  call check_adjacent()
  call check_graph()
  call check_grid()
  call check_chosen_grid()
  call check_order()
  call check_rebalance()
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(code)

contains

#include "../../fortran/expect.inc"

  ! The info value of a key after reordering.
  function info_value(comm, key) result(text)
    COMM, intent(in) :: comm
    character(len=*), intent(in) :: key
    character(len=64) :: text
    INFO :: info
    logical :: found
    call ranktree_Comm_get_info(comm, info)
    text = ''
    call MPI_Info_get(info, key, len(text), text, found, code)
    call expect(found, key)
    call MPI_Info_free(info, code)
  end function info_value

  ! Vertices 0 and 3 have each other, and sit where ranks 1 and 2 were.
  subroutine check_pair(comm, weight)
    COMM, intent(in) :: comm
    integer, intent(in) :: weight
    integer :: place, indegree, outdegree, sources(1), sourceweights(1), destinations(1), destweights(1)
    logical :: weighted
    call MPI_Comm_rank(comm, place, code)
    call MPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted, code)
    call expect(weighted .eqv. weight > 0, 'weights as declared')
    call expect(indegree == outdegree, 'both directions')
    call expect(indegree == merge(1, 0, place == 0 .or. place == 3), 'the neighbours declared for this vertex')
    call expect((indegree == 1) .eqv. (rank == 1 .or. rank == 2), 'the pair below one cache')
    call expect(info_value(comm, 'ranktree_reorder') == 'central', 'the mode')
    if (indegree == 0 .or. weight == 0) return
    call MPI_Dist_graph_neighbors(comm, 1, sources, sourceweights, 1, destinations, destweights, code)
    call expect(sources(1) == 3 - place .and. destinations(1) == 3 - place, 'the other vertex')
    call expect(sourceweights(1) == weight .and. destweights(1) == weight, 'its weight')
  end subroutine check_pair

  ! treematch-2013 appendix A.
  subroutine check_pattern()
    integer, allocatable :: sources(:), degrees(:), destinations(:), weights(:)
    character(len=1024) :: file
    COMM :: graph
    integer :: n, error, found
    call get_command_argument(1, file)
    call ranktree_read_pattern(file, MPI_COMM_WORLD, 'size', n, sources, degrees, destinations, weights)
    call expect(n == merge(4, 0, rank == 0), 'all vertices at rank 0')
    call expect(size(weights) == merge(2, 0, rank == 0), 'both edges at rank 0')
    call expect(all(weights == 1000), 'their bytes')
    call ranktree_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, weights, MPI_INFO_NULL, .true., &
      graph)
    call check_pair(graph, 1000)
    call MPI_Comm_free(graph, code)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
    call ranktree_read_pattern('no such file', MPI_COMM_SELF, 'size', n, sources, degrees, destinations, weights, error)
    call MPI_Error_class(error, found, code)
    call expect(found == MPI_ERR_FILE .and. size(weights) == merge(2, 0, rank == 0), 'MPI_ERR_FILE, outputs untouched')
  end subroutine check_pattern

  subroutine check_unweighted()
    COMM :: graph
    integer :: error
    call ranktree_Dist_graph_create(MPI_COMM_WORLD, merge(2, 0, rank == 2), [0, 3], [1, 1], [3, 0], MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .true., graph, error)
    call expect(error == MPI_SUCCESS, 'success')
    call check_pair(graph, 0)
    call MPI_Comm_free(graph, code)
  end subroutine check_unweighted

  ! A chain 3-0-1-2 in which 0 and 3 exchange most bytes: ranks are in the order that has the fewest hops of edges already.
  subroutine check_objective()
    COMM :: graph
    INFO :: info
    integer :: place
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, 'ranktree_objective', 'bytes', code)
    call ranktree_Dist_graph_create(MPI_COMM_WORLD, merge(2, 0, rank == 0), [0, 1], [2, 1], [3, 1, 2], [1000, 1, 1], info, &
      .true., graph)
    call MPI_Comm_rank(graph, place, code)
    call expect((place == 0 .or. place == 3) .eqv. (rank == 1 .or. rank == 2), 'the heaviest pair below one cache')
    call MPI_Comm_free(graph, code)
    call MPI_Info_set(info, 'ranktree_objective', 'messages', code)
    call ranktree_Dist_graph_create(MPI_COMM_WORLD, merge(2, 0, rank == 0), [0, 1], [2, 1], [3, 1, 2], [1000, 1, 1], info, &
      .true., graph)
    call expect(info_value(graph, 'ranktree_reorder') == 'identity', 'no other order by messages')
    call MPI_Comm_free(graph, code)
    call MPI_Info_free(info, code)
  end subroutine check_objective

  ! A ring, its neighbours in the order that was declared.
  subroutine check_adjacent()
    COMM :: graph
    integer :: place, indegree, outdegree, around(2), sources(2), destinations(2), sourceweights(2), destweights(2)
    logical :: weighted
    around = [modulo(rank + 1, 4), modulo(rank - 1, 4)]
    call ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, [5, 7], 2, around, [7, 5], MPI_INFO_NULL, .true., &
      graph)
    call MPI_Comm_rank(graph, place, code)
    call MPI_Dist_graph_neighbors(graph, 2, sources, sourceweights, 2, destinations, destweights, code)
    call expect(all(sources == [modulo(place + 1, 4), modulo(place - 1, 4)]), 'the sources of this vertex')
    call expect(all(destinations == sources), 'its destinations')
    call expect(all(sourceweights == [5, 7]) .and. all(destweights == [7, 5]), 'its weights')
    call MPI_Comm_free(graph, code)
    call ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, MPI_UNWEIGHTED, 2, around, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., graph)
    call MPI_Comm_rank(graph, place, code)
    call expect(place == rank, 'no other rank without reorder')
    call MPI_Comm_free(graph, code)
    ! One edge, from rank 0 to rank 1. MPI_WEIGHTS_EMPTY is a scalar in some MPIs.
    if (rank == 0) then
      call ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, around, MPI_WEIGHTS_EMPTY, 1, [1], [3], MPI_INFO_NULL, &
        .false., graph)
    else if (rank == 1) then
      call ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [0], [3], 0, around, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, &
        .false., graph)
    else
      call ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, around, MPI_WEIGHTS_EMPTY, 0, around, &
        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph)
    end if
    call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted, code)
    call expect(indegree == merge(1, 0, rank == 1) .and. outdegree == merge(1, 0, rank == 0), 'one edge')
    call expect(weighted, 'weights, empty ones too')
    call MPI_Comm_free(graph, code)
  end subroutine check_adjacent

  subroutine check_graph()
    COMM :: graph
    integer :: place, neighbours(1)
    call ranktree_Graph_create(MPI_COMM_WORLD, 4, [1, 1, 1, 2], [3, 0], .true., graph)
    call MPI_Comm_rank(graph, place, code)
    call expect((place == 0 .or. place == 3) .eqv. (rank == 1 .or. rank == 2), 'the pair below one cache')
    if (place == 0 .or. place == 3) then
      call MPI_Graph_neighbors(graph, place, 1, neighbours, code)
      call expect(neighbours(1) == 3 - place, 'the other vertex')
    end if
    call MPI_Comm_free(graph, code)
  end subroutine check_graph

  subroutine check_grid()
    COMM :: grid
    integer :: place, dims(2), coordinates(2)
    logical :: periods(2)
    call ranktree_Cart_create(MPI_COMM_WORLD, 2, [2, 2], [.true., .false.], .true., grid)
    call MPI_Comm_rank(grid, place, code)
    call MPI_Cart_get(grid, 2, dims, periods, coordinates, code)
    call expect(all(dims == 2) .and. all(periods .eqv. [.true., .false.]), 'the grid')
    call expect(all(coordinates == [place / 2, modulo(place, 2)]), 'ranks in row order')
    call MPI_Comm_free(grid, code)
  end subroutine check_grid

  ! Little is exchanged through the planes of the first dimension: only it is cut, unless one is given.
  subroutine check_chosen_grid()
    COMM :: grid
    integer :: place, error, class, chosen(2), dims(2), coordinates(2)
    logical :: periods(2)
    chosen = 0
    call ranktree_Dims_create(MPI_COMM_WORLD, 2, [1.0_real64, 100.0_real64], [.false., .true.], MPI_INFO_NULL, chosen)
    call expect(all(chosen == [4, 1]), 'cut where little is exchanged')
    chosen = [0, 2]
    call ranktree_Cart_create_weighted(MPI_COMM_WORLD, 2, [1.0_real64, 100.0_real64], [.false., .true.], MPI_INFO_NULL, &
      chosen, grid, error)
    call expect(error == MPI_SUCCESS .and. all(chosen == [2, 2]), 'the dimension given')
    call MPI_Comm_rank(grid, place, code)
    call MPI_Cart_get(grid, 2, dims, periods, coordinates, code)
    call expect(all(dims == 2) .and. all(periods .eqv. [.false., .true.]), 'the chosen grid')
    call MPI_Comm_free(grid, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, grid, code)
    call MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN, code)
    chosen = [3, 0]
    call ranktree_Dims_create(grid, 2, [1.0_real64, 1.0_real64], [.false., .true.], MPI_INFO_NULL, chosen, error)
    call MPI_Error_class(error, class, code)
    call expect(class == MPI_ERR_DIMS .and. all(chosen == [3, 0]), 'no divisor of 4, outputs untouched')
    call MPI_Comm_free(grid, code)
  end subroutine check_chosen_grid

  subroutine check_order()
    COMM :: ordered
    integer :: place, newrank, again
    real(real64) :: after, before
    character(len=64) :: text
    call ranktree_Comm_reorder(MPI_COMM_WORLD, merge(1, 0, rank == 1), [0], [1], [3], [0.5_real64], MPI_INFO_NULL, &
      newrank, ordered)
    call MPI_Comm_rank(ordered, place, code)
    call expect(newrank == place, 'the rank in the new communicator')
    call expect((place == 0 .or. place == 3) .eqv. (rank == 1 .or. rank == 2), 'the pair below one cache')
    text = info_value(ordered, 'ranktree_reorder_before')
    read (text, *) before
    text = info_value(ordered, 'ranktree_reorder_after')
    read (text, *) after
    call expect(after < before, 'a lower cost')
    call ranktree_Comm_reorder(MPI_COMM_WORLD, merge(1, 0, rank == 1), [0], [1], [3], info=MPI_INFO_NULL, newrank=again)
    call expect(again == newrank, 'the same order without a communicator and without weights')
    call MPI_Comm_free(ordered, code)
  end subroutine check_order

  ! There are no records.
  subroutine check_rebalance()
    COMM :: better
    integer :: error, found
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call ranktree_Comm_rebalance(MPI_COMM_WORLD, MPI_INFO_NULL, newcomm=better, ierror=error)
    call MPI_Error_class(error, found, code)
    call expect(found == MPI_ERR_UNSUPPORTED_OPERATION, 'MPI_ERR_UNSUPPORTED_OPERATION')
  end subroutine check_rebalance
end program fortran_reorder
