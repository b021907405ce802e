!> Hierarchical communicators, rank reordering and collectives for Fortran 2008: the calls of ranktree/mpi.h with the
!> handles of mpi_f08, and with integers. Each name is generic: it accepts type(MPI_Comm) and type(MPI_Info), or
!> integers.
!>
!> Compile this file, which includes the files beside it, with the compiler of the program, and link with
!> libranktree_mpi_<mpi>. Where the MPI has no mpi_f08 module, compile and use ranktree_mpif.f90 instead. The whole
!> contract is in ranktree/mpi.h, the differences in Fortran in ranktree_mpif.f90. Source: hsplit-2018 §3-5,
!> reorder-2011 §3, treematch-2013 appendix A.
include 'ranktree_mpif.f90'
include 'ranktree_collect_f08.f90'

module ranktree
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08, only: MPI_Comm, MPI_Info, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
  use ranktree_mpif
  use ranktree_collect_f08
  use ranktree_reorder_bindings, only: c_dist_graph_create, c_dist_graph_create_adjacent, flag, &
      RANKTREE_WEIGHTS_GIVEN, RANKTREE_WEIGHTS_NONE, RANKTREE_WEIGHTS_UNIT
  implicit none
  private

  public :: RANKTREE_MAX_TYPE
  public :: RANKTREE_COMM_TYPE_SHARED, RANKTREE_COMM_TYPE_HW_UNGUIDED, RANKTREE_COMM_TYPE_HW_GUIDED
  public :: RANKTREE_COMM_TYPE_RESOURCE_GUIDED
  public :: ranktree_Comm_hsplit, ranktree_Comm_hsplit_with_roots, ranktree_Comm_hsplit_all
  public :: ranktree_Comm_split_type, ranktree_Comm_get_hlevel_info, ranktree_Comm_get_min_hlevel
  public :: ranktree_Comm_get_location, ranktree_Get_hw_resource_info, ranktree_Comm_get_message
  public :: ranktree_Dist_graph_create, ranktree_Dist_graph_create_adjacent, ranktree_Graph_create
  public :: ranktree_Dims_create, ranktree_Cart_create_weighted
  public :: ranktree_Cart_create, ranktree_Comm_reorder, ranktree_Comm_get_info, ranktree_read_pattern
  public :: ranktree_Comm_rebalance
  public :: ranktree_Request, RANKTREE_REQUEST_NULL, operator(==), operator(/=)
  public :: ranktree_Start, ranktree_Wait, ranktree_Test, ranktree_Waitall, ranktree_Request_free
  public :: ranktree_Comm_set_reproducible
  public :: ranktree_Bcast, ranktree_Reduce, ranktree_Allreduce, ranktree_Barrier, ranktree_Gather, ranktree_Gatherv, &
      ranktree_Scatter, ranktree_Scatterv, ranktree_Allgather, ranktree_Allgatherv, ranktree_Reduce_scatter, &
      ranktree_Reduce_scatter_block, ranktree_Alltoall, ranktree_Ibcast, ranktree_Ireduce, ranktree_Iallreduce, &
      ranktree_Ibarrier, ranktree_Igather, ranktree_Igatherv, ranktree_Iscatter, ranktree_Iscatterv, &
      ranktree_Iallgather, ranktree_Iallgatherv, ranktree_Ireduce_scatter, ranktree_Ireduce_scatter_block, &
      ranktree_Ialltoall, ranktree_Bcast_init, ranktree_Reduce_init, ranktree_Allreduce_init, ranktree_Barrier_init, &
      ranktree_Gather_init, ranktree_Gatherv_init, ranktree_Scatter_init, ranktree_Scatterv_init, &
      ranktree_Allgather_init, ranktree_Allgatherv_init, ranktree_Reduce_scatter_init, &
      ranktree_Reduce_scatter_block_init, ranktree_Alltoall_init

  interface ranktree_Comm_hsplit
    module procedure hsplit_f08
  end interface
  interface ranktree_Comm_hsplit_with_roots
    module procedure hsplit_with_roots_f08
  end interface
  interface ranktree_Comm_hsplit_all
    module procedure hsplit_all_f08
  end interface
  interface ranktree_Comm_split_type
    module procedure split_type_f08
  end interface
  interface ranktree_Comm_get_hlevel_info
    module procedure get_hlevel_info_f08
  end interface
  interface ranktree_Comm_get_min_hlevel
    module procedure get_min_hlevel_f08
  end interface
  interface ranktree_Comm_get_location
    module procedure get_location_f08
  end interface
  interface ranktree_Get_hw_resource_info
    module procedure get_hw_resource_info_f08
  end interface
  interface ranktree_Comm_get_message
    module procedure get_message_f08
  end interface
  interface ranktree_Dist_graph_create
    module procedure dist_graph_create_f08
  end interface
  interface ranktree_Dist_graph_create_adjacent
    module procedure dist_graph_create_adjacent_f08
  end interface
  interface ranktree_Graph_create
    module procedure graph_create_f08
  end interface
  interface ranktree_Cart_create
    module procedure cart_create_f08
  end interface
  interface ranktree_Dims_create
    module procedure dims_create_f08
  end interface
  interface ranktree_Cart_create_weighted
    module procedure cart_create_weighted_f08
  end interface
  interface ranktree_Comm_reorder
    module procedure comm_reorder_f08
  end interface
  interface ranktree_Comm_get_info
    module procedure comm_get_info_f08
  end interface
  interface ranktree_read_pattern
    module procedure read_pattern_f08
  end interface
  interface ranktree_Comm_rebalance
    module procedure rebalance_f08
  end interface
  interface ranktree_Comm_set_reproducible
    module procedure set_reproducible_f08
  end interface

contains

  !> One level down, the highest first: newcomm is this rank's part, MPI_COMM_NULL when it has none. key orders its
  !> ranks. Collective over comm. hsplit-2018 §3.2.1.
  subroutine hsplit_f08(comm, key, info, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: key
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_hsplit(comm%MPI_VAL, key, info%MPI_VAL, newcomm%MPI_VAL, ierror)
  end subroutine hsplit_f08

  !> One level down; at rank 0 of each newcomm, rootscomm holds all of these, MPI_COMM_NULL at the others. Collective
  !> over comm. hsplit-2018 §3.2.3.
  subroutine hsplit_with_roots_f08(comm, info, newcomm, rootscomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(inout) :: newcomm, rootscomm
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_hsplit_with_roots(comm%MPI_VAL, info%MPI_VAL, newcomm%MPI_VAL, rootscomm%MPI_VAL, ierror)
  end subroutine hsplit_with_roots_f08

  !> All levels at once: levels(1) is a part of comm, levels(i + 1) of levels(i), MPI_COMM_NULL beyond nlevels; roots(i)
  !> are the roots of the parts that levels(i) is one of. levels(max), roots(max); roots on all ranks or on none; max
  !> equal on all ranks. Collective over comm. hsplit-2018 §3.4.
  subroutine hsplit_all_f08(comm, info, max, nlevels, levels, roots, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, intent(in) :: max
    integer, intent(inout) :: nlevels
    type(MPI_Comm), intent(inout) :: levels(max)
    type(MPI_Comm), optional, intent(inout) :: roots(max)
    integer, optional, intent(out) :: ierror
    integer :: made(max), made_roots(max), code
    if (present(roots)) then
      call ranktree_Comm_hsplit_all(comm%MPI_VAL, info%MPI_VAL, max, nlevels, made, made_roots, code)
      if (code == 0) roots%MPI_VAL = made_roots
    else
      call ranktree_Comm_hsplit_all(comm%MPI_VAL, info%MPI_VAL, max, nlevels, made, ierror=code)
    end if
    if (code == 0) levels%MPI_VAL = made
    if (present(ierror)) ierror = code
  end subroutine hsplit_all_f08

  !> MPI_Comm_split_type of MPI 5.0 §7.4.2, for Ranktree's types and MPI's. Collective over comm.
  subroutine split_type_f08(comm, split_type, key, info, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: split_type, key
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_split_type(comm%MPI_VAL, split_type, key, info%MPI_VAL, newcomm%MPI_VAL, ierror)
  end subroutine split_type_f08

  !> The object that comm represents: one of num_comms, number index from 0, of objects with this type name; resultlen
  !> is the length of the whole name. Local. hsplit-2018 §3.3.1.
  subroutine get_hlevel_info_f08(comm, num_comms, index, type, resultlen, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: num_comms, index, resultlen
    character(len=*), intent(inout) :: type
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_get_hlevel_info(comm%MPI_VAL, num_comms, index, type, resultlen, ierror)
  end subroutine get_hlevel_info_f08

  !> The lowest level that ranks(n) of comm share; "Unknown" where the calling rank is not among them. Collective over
  !> comm; each rank may query other ranks. hsplit-2018 §3.3.2.
  subroutine get_min_hlevel_f08(comm, n, ranks, type, resultlen, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer, intent(in) :: ranks(n)
    character(len=*), intent(inout) :: type
    integer, intent(inout) :: resultlen
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_get_min_hlevel(comm%MPI_VAL, n, ranks, type, resultlen, ierror)
  end subroutine get_min_hlevel_f08

  !> The chain of a rank, outermost first: its names in types(max) and numbers in ids(max); nlevels is its length, more
  !> than max when the arrays hold only its beginning. Collective over comm; each rank may query another rank.
  subroutine get_location_f08(comm, rank, max, nlevels, types, ids, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: rank, max
    integer, intent(inout) :: nlevels
    character(len=*), intent(inout) :: types(max)
    integer(int64), intent(inout) :: ids(max)
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_get_location(comm%MPI_VAL, rank, max, nlevels, types, ids, ierror)
  end subroutine get_location_f08

  !> The resources of this machine, one key each, "true" where the caller is bound within one instance. hw_info is to
  !> be freed with MPI_Info_free. Local. MPI 5.0 §9.1.2.
  subroutine get_hw_resource_info_f08(hw_info, ierror)
    type(MPI_Info), intent(inout) :: hw_info
    integer, optional, intent(out) :: ierror
    call ranktree_Get_hw_resource_info(hw_info%MPI_VAL, ierror)
  end subroutine get_hw_resource_info_f08

  !> The reason of the last error of a call on comm, or a warning; blank when there is neither. resultlen is the length
  !> of the whole text. Local.
  subroutine get_message_f08(comm, text, resultlen, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(inout) :: text
    integer, intent(inout) :: resultlen
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_get_message(comm%MPI_VAL, text, resultlen, ierror)
  end subroutine get_message_f08

  !> MPI_Dist_graph_create with reordering that works; weights as in MPI. Collective over comm. reorder-2011 §3.
  subroutine dist_graph_create_f08(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, intent(in) :: n
    integer, intent(in) :: sources(*), degrees(*), destinations(*)
    integer, dimension(..), intent(in), contiguous, target :: weights
    logical, intent(in) :: reorder
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_dist_graph_create(comm%MPI_VAL, n, sources, degrees, destinations, kind_of(c_loc(weights)), &
        c_loc(weights), info%MPI_VAL, flag(reorder), newcomm%MPI_VAL)
    if (present(ierror)) ierror = code
  end subroutine dist_graph_create_f08

  !> MPI_Dist_graph_create_adjacent with reordering that works: rank k declares all edges of vertex k. Collective over
  !> comm.
  subroutine dist_graph_create_adjacent_f08(comm, indegree, sources, sourceweights, outdegree, destinations, &
      destweights, info, reorder, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, intent(in) :: indegree, outdegree
    integer, intent(in) :: sources(*), destinations(*)
    integer, dimension(..), intent(in), contiguous, target :: sourceweights, destweights
    logical, intent(in) :: reorder
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_dist_graph_create_adjacent(comm%MPI_VAL, indegree, sources, kind_of(c_loc(sourceweights)), &
        c_loc(sourceweights), outdegree, destinations, kind_of(c_loc(destweights)), c_loc(destweights), info%MPI_VAL, &
        flag(reorder), newcomm%MPI_VAL)
    if (present(ierror)) ierror = code
  end subroutine dist_graph_create_adjacent_f08

  !> MPI_Graph_create with reordering: index(nnodes), edges(index(nnodes)). Collective over comm.
  subroutine graph_create_f08(comm, nnodes, index, edges, reorder, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nnodes
    integer, intent(in) :: index(*), edges(*)
    logical, intent(in) :: reorder
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Graph_create(comm%MPI_VAL, nnodes, index, edges, reorder, newcomm%MPI_VAL, ierror)
  end subroutine graph_create_f08

  !> MPI_Cart_create, the grid tiled on the machine's tree. Collective over comm.
  subroutine cart_create_f08(comm, ndims, dims, periods, reorder, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ndims
    integer, intent(in) :: dims(ndims)
    logical, intent(in) :: periods(ndims), reorder
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Cart_create(comm%MPI_VAL, ndims, dims, periods, reorder, newcomm%MPI_VAL, ierror)
  end subroutine cart_create_f08

  !> The grid of all ranks for given traffic: dim_weights(j) is what is exchanged through a plane across the whole domain;
  !> a dimension of 0 is chosen. Collective over comm.
  subroutine dims_create_f08(comm, ndims, dim_weights, periods, info, dims, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ndims
    real(real64), intent(in) :: dim_weights(ndims)
    logical, intent(in) :: periods(ndims)
    type(MPI_Info), intent(in) :: info
    integer, intent(inout) :: dims(ndims)
    integer, optional, intent(out) :: ierror
    call ranktree_Dims_create(comm%MPI_VAL, ndims, dim_weights, periods, info%MPI_VAL, dims, ierror)
  end subroutine dims_create_f08

  !> The grid of ranktree_Dims_create and its placement, the ranks reordered. Collective over comm.
  subroutine cart_create_weighted_f08(comm, ndims, dim_weights, periods, info, dims, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ndims
    real(real64), intent(in) :: dim_weights(ndims)
    logical, intent(in) :: periods(ndims)
    type(MPI_Info), intent(in) :: info
    integer, intent(inout) :: dims(ndims)
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Cart_create_weighted(comm%MPI_VAL, ndims, dim_weights, periods, info%MPI_VAL, dims, newcomm%MPI_VAL, &
        ierror)
  end subroutine cart_create_weighted_f08

  !> The order only: newrank is this process's rank in newcomm. Without weights every edge counts once; newcomm may be
  !> absent (each on all ranks or none). Collective over comm.
  subroutine comm_reorder_f08(comm, n, sources, degrees, destinations, weights, info, newrank, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, intent(in) :: n
    integer, intent(in) :: sources(*), degrees(*), destinations(*)
    real(real64), optional, intent(in) :: weights(*)
    integer, intent(inout) :: newrank
    type(MPI_Comm), optional, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    if (present(newcomm)) then
      call ranktree_Comm_reorder(comm%MPI_VAL, n, sources, degrees, destinations, weights, info%MPI_VAL, newrank, &
          newcomm%MPI_VAL, ierror)
    else
      call ranktree_Comm_reorder(comm%MPI_VAL, n, sources, degrees, destinations, weights, info%MPI_VAL, newrank, &
          ierror=ierror)
    end if
  end subroutine comm_reorder_f08

  !> The result of reordering: comm's info with the keys ranktree_reorder, ranktree_reorder_reason,
  !> ranktree_reorder_before and ranktree_reorder_after. Free info with MPI_Info_free. Local.
  subroutine comm_get_info_f08(comm, info, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(inout) :: info
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_get_info(comm%MPI_VAL, info%MPI_VAL, ierror)
  end subroutine comm_get_info_f08

  !> The graph of a recorded pattern, for ranktree_Dist_graph_create and MPI_Dist_graph_create: all of it at rank 0,
  !> nothing (n = 0) elsewhere. metric: "size", "msg" or "avg". Collective over comm. treematch-2013 appendix A.
  subroutine read_pattern_f08(file, comm, metric, n, sources, degrees, destinations, weights, ierror)
    character(len=*), intent(in) :: file, metric
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: n
    integer, allocatable, intent(inout) :: sources(:), degrees(:), destinations(:), weights(:)
    integer, optional, intent(out) :: ierror
    call ranktree_read_pattern(file, comm%MPI_VAL, metric, n, sources, degrees, destinations, weights, ierror)
  end subroutine read_pattern_f08

  !> A better order for the traffic since the last call: newranks(i + 1) is the rank in newcomm of rank i of comm;
  !> MPI_COMM_NULL where the gain does not exceed the cost. Collective over comm.
  subroutine rebalance_f08(comm, info, newranks, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, optional, intent(inout) :: newranks(*)
    type(MPI_Comm), intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_rebalance(comm%MPI_VAL, info%MPI_VAL, newranks, newcomm%MPI_VAL, ierror)
  end subroutine rebalance_f08

  !> Reductions on comm whose bits depend on the number of ranks only. Collective over comm.
  subroutine set_reproducible_f08(comm, flag, ierror)
    type(MPI_Comm), intent(in) :: comm
    logical, intent(in) :: flag
    integer, optional, intent(out) :: ierror
    call ranktree_Comm_set_reproducible(comm%MPI_VAL, flag, ierror)
  end subroutine set_reproducible_f08

  ! The kind of the weights at an address. Lists are of any rank: MPI's constants are scalars in some MPIs.
  integer(c_int) function kind_of(pointer)
    type(c_ptr), intent(in) :: pointer
    integer(c_intptr_t) :: address
    address = transfer(pointer, address)
    kind_of = ranktree_weights_given
    if (address == loc(MPI_UNWEIGHTED)) kind_of = ranktree_weights_unit
    if (address == loc(MPI_WEIGHTS_EMPTY)) kind_of = ranktree_weights_none
  end function kind_of
end module ranktree
