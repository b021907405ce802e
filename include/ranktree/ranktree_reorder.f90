!> Rank reordering for Fortran, the part of ranktree/mpi.h under that heading. ranktree_mpif.f90 includes this file.
!>
!> Source: reorder-2011 §3; treematch-2013 appendix A.

!> The C functions (src/capi/mpi_fortran_reorder.c), and code that both kinds of handles need.
module ranktree_reorder_bindings
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_int64_t, c_null_char, c_ptr
  implicit none
  public

  ! Values that replace an array of weights.
  integer(c_int), parameter :: RANKTREE_WEIGHTS_GIVEN = 0, RANKTREE_WEIGHTS_UNIT = 1, RANKTREE_WEIGHTS_NONE = 2

  interface
    integer(c_int) function c_dist_graph_create(comm, n, sources, degrees, destinations, kind, &
        weights, info, reorder, made) bind(C, name='ranktree_fortran_Dist_graph_create')
      import :: c_int, c_ptr
      integer(c_int), value :: comm, n, kind, info, reorder
      integer(c_int), intent(in) :: sources(*), degrees(*), destinations(*)
      type(c_ptr), value :: weights
      integer(c_int), intent(inout) :: made
    end function c_dist_graph_create

    integer(c_int) function c_dist_graph_create_adjacent(comm, indegree, sources, sourcekind, sourceweights, &
        outdegree, destinations, destkind, destweights, info, reorder, made) &
        bind(C, name='ranktree_fortran_Dist_graph_create_adjacent')
      import :: c_int, c_ptr
      integer(c_int), value :: comm, indegree, sourcekind, outdegree, destkind, info, reorder
      integer(c_int), intent(in) :: sources(*), destinations(*)
      type(c_ptr), value :: sourceweights, destweights
      integer(c_int), intent(inout) :: made
    end function c_dist_graph_create_adjacent

    integer(c_int) function c_graph_create(comm, nnodes, index, edges, reorder, made) &
        bind(C, name='ranktree_fortran_Graph_create')
      import :: c_int
      integer(c_int), value :: comm, nnodes, reorder
      integer(c_int), intent(in) :: index(*), edges(*)
      integer(c_int), intent(inout) :: made
    end function c_graph_create

    integer(c_int) function c_cart_create(comm, ndims, dims, periods, reorder, made) &
        bind(C, name='ranktree_fortran_Cart_create')
      import :: c_int
      integer(c_int), value :: comm, ndims, reorder
      integer(c_int), intent(in) :: dims(*), periods(*)
      integer(c_int), intent(inout) :: made
    end function c_cart_create

    integer(c_int) function c_dims_create(comm, ndims, weights, periods, info, dims) &
        bind(C, name='ranktree_fortran_Dims_create')
      import :: c_double, c_int
      integer(c_int), value :: comm, ndims, info
      real(c_double), intent(in) :: weights(*)
      integer(c_int), intent(in) :: periods(*)
      integer(c_int), intent(inout) :: dims(*)
    end function c_dims_create

    integer(c_int) function c_cart_create_weighted(comm, ndims, weights, periods, info, dims, made) &
        bind(C, name='ranktree_fortran_Cart_create_weighted')
      import :: c_double, c_int
      integer(c_int), value :: comm, ndims, info
      real(c_double), intent(in) :: weights(*)
      integer(c_int), intent(in) :: periods(*)
      integer(c_int), intent(inout) :: dims(*)
      integer(c_int), intent(inout) :: made
    end function c_cart_create_weighted

    integer(c_int) function c_comm_reorder(comm, n, sources, degrees, destinations, weights, info, newrank, made) &
        bind(C, name='ranktree_fortran_Comm_reorder')
      import :: c_double, c_int, c_ptr
      integer(c_int), value :: comm, n, info
      integer(c_int), intent(in) :: sources(*), degrees(*), destinations(*)
      real(c_double), optional, intent(in) :: weights(*)
      integer(c_int), intent(inout) :: newrank
      integer(c_int), optional, intent(inout) :: made
    end function c_comm_reorder

    integer(c_int) function c_comm_get_info(comm, info) bind(C, name='ranktree_fortran_Comm_get_info')
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(inout) :: info
    end function c_comm_get_info

    integer(c_int) function c_read_pattern(file, comm, metric, n, edges, lists) &
        bind(C, name='ranktree_fortran_read_pattern')
      import :: c_char, c_int, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: file(*), metric(*)
      integer(c_int), value :: comm
      integer(c_int), intent(inout) :: n
      integer(c_int64_t), intent(inout) :: edges
      type(c_ptr), intent(inout) :: lists(4)
    end function c_read_pattern

    integer(c_int) function c_rebalance(comm, info, newranks, made) bind(C, name='ranktree_fortran_Comm_rebalance')
      import :: c_int
      integer(c_int), value :: comm, info
      integer(c_int), optional, intent(inout) :: newranks(*)
      integer(c_int), intent(inout) :: made
    end function c_rebalance

    ! A function of the C library.
    subroutine c_free(pointer) bind(C, name='free')
      import :: c_ptr
      type(c_ptr), value :: pointer
    end subroutine c_free
  end interface

contains

  ! Converts a logical of Fortran to C.
  elemental integer(c_int) function flag(truth)
    logical, intent(in) :: truth
    flag = merge(1_c_int, 0_c_int, truth)
  end function flag

  ! Converts a text of Fortran to C: without its padding, with a terminator.
  pure function letters_of(text) result(letters)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: letters(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(size(letters)) = c_null_char
  end function letters_of

  ! Takes ownership of a list that C has made.
  subroutine take(list, length, into)
    type(c_ptr), intent(in) :: list
    integer(c_int64_t), intent(in) :: length
    integer, allocatable, intent(inout) :: into(:)
    integer(c_int), pointer :: made(:)
    if (allocated(into)) deallocate(into)
    allocate(into(length))
    if (length > 0) then
      call c_f_pointer(list, made, [length])
      into = made
    end if
    call c_free(list)
  end subroutine take
end module ranktree_reorder_bindings

!> The calls with integers as handles.
module ranktree_reorder_mpif
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use ranktree_reorder_bindings
  implicit none
  private

  public :: ranktree_Dist_graph_create, ranktree_Dist_graph_create_adjacent, ranktree_Graph_create
  public :: ranktree_Dims_create, ranktree_Cart_create_weighted
  public :: ranktree_Cart_create, ranktree_Comm_reorder, ranktree_Comm_get_info, ranktree_read_pattern
  public :: ranktree_Comm_rebalance

  interface ranktree_Dist_graph_create
    module procedure dist_graph_create_integer
  end interface
  interface ranktree_Dist_graph_create_adjacent
    module procedure dist_graph_create_adjacent_integer
  end interface
  interface ranktree_Graph_create
    module procedure graph_create_integer
  end interface
  interface ranktree_Cart_create
    module procedure cart_create_integer
  end interface
  interface ranktree_Dims_create
    module procedure dims_create_integer
  end interface
  interface ranktree_Cart_create_weighted
    module procedure cart_create_weighted_integer
  end interface
  interface ranktree_Comm_reorder
    module procedure comm_reorder_integer
  end interface
  interface ranktree_Comm_get_info
    module procedure comm_get_info_integer
  end interface
  interface ranktree_read_pattern
    module procedure read_pattern_integer
  end interface
  interface ranktree_Comm_rebalance
    module procedure rebalance_integer
  end interface

contains

  !> MPI_Dist_graph_create with reordering that works; weights as in MPI. Collective over comm. reorder-2011 §3.
  subroutine dist_graph_create_integer(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm, ierror)
    integer, intent(in) :: comm, n, info
    integer, intent(in) :: sources(*), degrees(*), destinations(*)
    integer, dimension(..), intent(in), contiguous, target :: weights
    logical, intent(in) :: reorder
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_dist_graph_create(comm, n, sources, degrees, destinations, kind_of(c_loc(weights)), c_loc(weights), &
        info, flag(reorder), newcomm), ierror)
  end subroutine dist_graph_create_integer

  !> MPI_Dist_graph_create_adjacent with reordering that works: rank k declares all edges of vertex k. Collective over
  !> comm.
  subroutine dist_graph_create_adjacent_integer(comm, indegree, sources, sourceweights, outdegree, destinations, &
      destweights, info, reorder, newcomm, ierror)
    integer, intent(in) :: comm, indegree, outdegree, info
    integer, intent(in) :: sources(*), destinations(*)
    integer, dimension(..), intent(in), contiguous, target :: sourceweights, destweights
    logical, intent(in) :: reorder
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_dist_graph_create_adjacent(comm, indegree, sources, kind_of(c_loc(sourceweights)), &
        c_loc(sourceweights), outdegree, destinations, kind_of(c_loc(destweights)), c_loc(destweights), info, &
        flag(reorder), newcomm), ierror)
  end subroutine dist_graph_create_adjacent_integer

  !> MPI_Graph_create with reordering: index(nnodes), edges(index(nnodes)). Collective over comm.
  subroutine graph_create_integer(comm, nnodes, index, edges, reorder, newcomm, ierror)
    integer, intent(in) :: comm, nnodes
    integer, intent(in) :: index(*), edges(*)
    logical, intent(in) :: reorder
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_graph_create(comm, nnodes, index, edges, flag(reorder), newcomm), ierror)
  end subroutine graph_create_integer

  !> MPI_Cart_create, the grid tiled on the machine's tree. Collective over comm.
  subroutine cart_create_integer(comm, ndims, dims, periods, reorder, newcomm, ierror)
    integer, intent(in) :: comm, ndims
    integer, intent(in) :: dims(ndims)
    logical, intent(in) :: periods(ndims), reorder
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_cart_create(comm, ndims, dims, flag(periods), flag(reorder), newcomm), ierror)
  end subroutine cart_create_integer

  !> The grid of all ranks for given traffic: dim_weights(j) is what is exchanged through a plane across the whole domain;
  !> a dimension of 0 is chosen. Collective over comm.
  subroutine dims_create_integer(comm, ndims, dim_weights, periods, info, dims, ierror)
    integer, intent(in) :: comm, ndims, info
    real(real64), intent(in) :: dim_weights(ndims)
    logical, intent(in) :: periods(ndims)
    integer, intent(inout) :: dims(ndims)
    integer, optional, intent(out) :: ierror
    call give(c_dims_create(comm, ndims, dim_weights, flag(periods), info, dims), ierror)
  end subroutine dims_create_integer

  !> The grid of ranktree_Dims_create and its placement, the ranks reordered. Collective over comm.
  subroutine cart_create_weighted_integer(comm, ndims, dim_weights, periods, info, dims, newcomm, ierror)
    integer, intent(in) :: comm, ndims, info
    real(real64), intent(in) :: dim_weights(ndims)
    logical, intent(in) :: periods(ndims)
    integer, intent(inout) :: dims(ndims)
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_cart_create_weighted(comm, ndims, dim_weights, flag(periods), info, dims, newcomm), ierror)
  end subroutine cart_create_weighted_integer

  !> The order only: newrank is this process's rank in newcomm. Without weights every edge counts once; newcomm may be
  !> absent (each on all ranks or none). Collective over comm.
  subroutine comm_reorder_integer(comm, n, sources, degrees, destinations, weights, info, newrank, newcomm, ierror)
    integer, intent(in) :: comm, n, info
    integer, intent(in) :: sources(*), degrees(*), destinations(*)
    real(real64), optional, intent(in) :: weights(*)
    integer, intent(inout) :: newrank
    integer, optional, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_comm_reorder(comm, n, sources, degrees, destinations, weights, info, newrank, newcomm), ierror)
  end subroutine comm_reorder_integer

  !> The result of reordering: comm's info with the keys ranktree_reorder, ranktree_reorder_reason,
  !> ranktree_reorder_before and ranktree_reorder_after. Free info with MPI_Info_free. Local.
  subroutine comm_get_info_integer(comm, info, ierror)
    integer, intent(in) :: comm
    integer, intent(inout) :: info
    integer, optional, intent(out) :: ierror
    call give(c_comm_get_info(comm, info), ierror)
  end subroutine comm_get_info_integer

  !> The graph of a recorded pattern, for ranktree_Dist_graph_create and MPI_Dist_graph_create: all of it at rank 0,
  !> nothing (n = 0) elsewhere. metric: "size", "msg" or "avg". Collective over comm. treematch-2013 appendix A.
  subroutine read_pattern_integer(file, comm, metric, n, sources, degrees, destinations, weights, ierror)
    character(len=*), intent(in) :: file, metric
    integer, intent(in) :: comm
    integer, intent(inout) :: n
    integer, allocatable, intent(inout) :: sources(:), degrees(:), destinations(:), weights(:)
    integer, optional, intent(out) :: ierror
    type(c_ptr) :: lists(4)
    integer(c_int) :: code
    integer(c_int64_t) :: edges
    code = c_read_pattern(letters_of(file), comm, letters_of(metric), n, edges, lists)
    if (code == 0) then
      call take(lists(1), int(n, c_int64_t), sources)
      call take(lists(2), int(n, c_int64_t), degrees)
      call take(lists(3), edges, destinations)
      call take(lists(4), edges, weights)
    end if
    call give(code, ierror)
  end subroutine read_pattern_integer

  !> A better order for the traffic since the last call: newranks(i + 1) is the rank in newcomm of rank i of comm;
  !> MPI_COMM_NULL where the gain does not exceed the cost. Collective over comm.
  subroutine rebalance_integer(comm, info, newranks, newcomm, ierror)
    integer, intent(in) :: comm, info
    integer, optional, intent(inout) :: newranks(*)
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_rebalance(comm, info, newranks, newcomm), ierror)
  end subroutine rebalance_integer

  ! The kind of the weights at an address. Lists are of any rank: MPI's constants are scalars in some MPIs.
  integer(c_int) function kind_of(pointer)
    include 'mpif.h'
    type(c_ptr), intent(in) :: pointer
    integer(c_intptr_t) :: address
    address = transfer(pointer, address)
    kind_of = ranktree_weights_given
    if (address == loc(MPI_UNWEIGHTED)) kind_of = ranktree_weights_unit
    if (address == loc(MPI_WEIGHTS_EMPTY)) kind_of = ranktree_weights_none
  end function kind_of

  subroutine give(code, ierror)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = code
  end subroutine give
end module ranktree_reorder_mpif
