!> Hierarchical communicators, rank reordering and collectives for Fortran programs whose handles are integers: mpif.h
!> and `use mpi`.
!>
!> The calls of ranktree/mpi.h, which has the whole contract: levels, reordering, info keys, errors. Compile this file
!> with the compiler of the program and link with libranktree_mpi_<mpi>. Programs with `use mpi_f08` compile
!> ranktree.f90 instead, which contains all of this too. Source: hsplit-2018 §3-5; reorder-2011 §3; treematch-2013
!> appendix A.
!>
!> Ranks and indices count from 0, as in MPI. Texts are padded with blanks, or cut where the variable is too short.
!> Outputs are untouched on error, hence intent(inout). Without ierror, a program does not see an error after which the
!> communicator's error handler returns.
include 'ranktree_reorder.f90'
include 'ranktree_collect.f90'
include 'ranktree_collect_mpif.f90'

module ranktree_mpif
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
  use ranktree_reorder_mpif
  use ranktree_collect_bindings, only: ranktree_Request, RANKTREE_REQUEST_NULL, operator(==), operator(/=), &
      ranktree_Start, ranktree_Wait, ranktree_Test, ranktree_Waitall, ranktree_Request_free, &
      ranktree_Comm_set_reproducible
  use ranktree_collect_mpif
  implicit none
  private

  !> Length of a variable for any type name: one less than in C, as with MPI's constants (MPI 5.0 §2.6.2).
  integer, parameter, public :: RANKTREE_MAX_TYPE = 31
  !> Size of a buffer in C for a name with its terminator.
  integer, parameter :: c_size = RANKTREE_MAX_TYPE + 1

  !> Split types for ranktree_Comm_split_type. MPI's constants of these names, where they exist, have the same meaning.
  integer, parameter, public :: RANKTREE_COMM_TYPE_SHARED = int(z'52540001')
  integer, parameter, public :: RANKTREE_COMM_TYPE_HW_UNGUIDED = int(z'52540002')
  integer, parameter, public :: RANKTREE_COMM_TYPE_HW_GUIDED = int(z'52540003')
  integer, parameter, public :: RANKTREE_COMM_TYPE_RESOURCE_GUIDED = int(z'52540004')

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
    module procedure hsplit_integer
  end interface
  interface ranktree_Comm_hsplit_with_roots
    module procedure hsplit_with_roots_integer
  end interface
  interface ranktree_Comm_hsplit_all
    module procedure hsplit_all_integer
  end interface
  interface ranktree_Comm_split_type
    module procedure split_type_integer
  end interface
  interface ranktree_Comm_get_hlevel_info
    module procedure get_hlevel_info_integer
  end interface
  interface ranktree_Comm_get_min_hlevel
    module procedure get_min_hlevel_integer
  end interface
  interface ranktree_Comm_get_location
    module procedure get_location_integer
  end interface
  interface ranktree_Get_hw_resource_info
    module procedure get_hw_resource_info_integer
  end interface
  interface ranktree_Comm_get_message
    module procedure get_message_integer
  end interface

  ! src/capi/mpi_fortran.c
  interface
    integer(c_int) function c_hsplit(comm, key, info, newcomm) bind(C, name='ranktree_fortran_Comm_hsplit')
      import :: c_int
      integer(c_int), value :: comm, key, info
      integer(c_int), intent(inout) :: newcomm
    end function c_hsplit

    integer(c_int) function c_hsplit_with_roots(comm, info, newcomm, rootscomm) &
        bind(C, name='ranktree_fortran_Comm_hsplit_with_roots')
      import :: c_int
      integer(c_int), value :: comm, info
      integer(c_int), intent(inout) :: newcomm, rootscomm
    end function c_hsplit_with_roots

    integer(c_int) function c_hsplit_all(comm, info, max, nlevels, levels, roots) &
        bind(C, name='ranktree_fortran_Comm_hsplit_all')
      import :: c_int, c_ptr
      integer(c_int), value :: comm, info, max
      integer(c_int), intent(inout) :: nlevels
      integer(c_int), intent(inout) :: levels(*)
      type(c_ptr), value :: roots
    end function c_hsplit_all

    integer(c_int) function c_split_type(comm, split_type, key, info, newcomm) &
        bind(C, name='ranktree_fortran_Comm_split_type')
      import :: c_int
      integer(c_int), value :: comm, split_type, key, info
      integer(c_int), intent(inout) :: newcomm
    end function c_split_type

    integer(c_int) function c_get_hlevel_info(comm, num_comms, index, name, len, resultlen) &
        bind(C, name='ranktree_fortran_Comm_get_hlevel_info')
      import :: c_char, c_int
      integer(c_int), value :: comm, len
      integer(c_int), intent(inout) :: num_comms, index, resultlen
      character(kind=c_char), intent(inout) :: name(*)
    end function c_get_hlevel_info

    integer(c_int) function c_get_min_hlevel(comm, n, ranks, name, len, resultlen) &
        bind(C, name='ranktree_fortran_Comm_get_min_hlevel')
      import :: c_char, c_int
      integer(c_int), value :: comm, n, len
      integer(c_int), intent(in) :: ranks(*)
      character(kind=c_char), intent(inout) :: name(*)
      integer(c_int), intent(inout) :: resultlen
    end function c_get_min_hlevel

    integer(c_int) function c_get_location(comm, rank, max, nlevels, names, ids) &
        bind(C, name='ranktree_fortran_Comm_get_location')
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: comm, rank, max
      integer(c_int), intent(inout) :: nlevels
      character(kind=c_char), intent(inout) :: names(*)
      integer(c_int64_t), intent(inout) :: ids(*)
    end function c_get_location

    integer(c_int) function c_get_hw_resource_info(hw_info) bind(C, name='ranktree_fortran_Get_hw_resource_info')
      import :: c_int
      integer(c_int), intent(inout) :: hw_info
    end function c_get_hw_resource_info

    integer(c_int) function c_get_message(comm, text, len, resultlen) &
        bind(C, name='ranktree_fortran_Comm_get_message')
      import :: c_char, c_int
      integer(c_int), value :: comm, len
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int), intent(inout) :: resultlen
    end function c_get_message
  end interface

contains

  !> One level down, the highest first: newcomm is this rank's part, MPI_COMM_NULL when it has none. key orders its
  !> ranks. Collective over comm. hsplit-2018 §3.2.1.
  subroutine hsplit_integer(comm, key, info, newcomm, ierror)
    integer, intent(in) :: comm, key, info
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_hsplit(comm, key, info, newcomm), ierror)
  end subroutine hsplit_integer

  !> One level down; at rank 0 of each newcomm, rootscomm holds all of these, MPI_COMM_NULL at the others. Collective
  !> over comm. hsplit-2018 §3.2.3.
  subroutine hsplit_with_roots_integer(comm, info, newcomm, rootscomm, ierror)
    integer, intent(in) :: comm, info
    integer, intent(inout) :: newcomm, rootscomm
    integer, optional, intent(out) :: ierror
    call give(c_hsplit_with_roots(comm, info, newcomm, rootscomm), ierror)
  end subroutine hsplit_with_roots_integer

  !> All levels at once: levels(1) is a part of comm, levels(i + 1) of levels(i), MPI_COMM_NULL beyond nlevels; roots(i)
  !> are the roots of the parts that levels(i) is one of. levels(max), roots(max); roots on all ranks or on none; max
  !> equal on all ranks. Collective over comm. hsplit-2018 §3.4.
  subroutine hsplit_all_integer(comm, info, max, nlevels, levels, roots, ierror)
    integer, intent(in) :: comm, info, max
    integer, intent(inout) :: nlevels
    integer, intent(inout) :: levels(max)
    integer, optional, intent(inout) :: roots(max)
    integer, optional, intent(out) :: ierror
    integer(c_int), target :: made_roots(max + 1)
    integer(c_int) :: code
    if (present(roots)) then
      code = c_hsplit_all(comm, info, max, nlevels, levels, c_loc(made_roots))
      if (code == 0) roots = made_roots(:max)
    else
      code = c_hsplit_all(comm, info, max, nlevels, levels, c_null_ptr)
    end if
    call give(code, ierror)
  end subroutine hsplit_all_integer

  !> MPI_Comm_split_type of MPI 5.0 §7.4.2, for the types above and MPI's. Collective over comm.
  subroutine split_type_integer(comm, split_type, key, info, newcomm, ierror)
    integer, intent(in) :: comm, split_type, key, info
    integer, intent(inout) :: newcomm
    integer, optional, intent(out) :: ierror
    call give(c_split_type(comm, split_type, key, info, newcomm), ierror)
  end subroutine split_type_integer

  !> The object that comm represents: one of num_comms, number index from 0, of objects with this type name; resultlen
  !> is the length of the whole name. Local. hsplit-2018 §3.3.1.
  subroutine get_hlevel_info_integer(comm, num_comms, index, type, resultlen, ierror)
    integer, intent(in) :: comm
    integer, intent(inout) :: num_comms, index, resultlen
    character(len=*), intent(inout) :: type
    integer, optional, intent(out) :: ierror
    character(kind=c_char) :: name(c_size)
    integer(c_int) :: code
    code = c_get_hlevel_info(comm, num_comms, index, name, c_size, resultlen)
    if (code == 0) type = text_of(name)
    call give(code, ierror)
  end subroutine get_hlevel_info_integer

  !> The lowest level that ranks(n) of comm share; "Unknown" where the calling rank is not among them. Collective over
  !> comm; each rank may query other ranks. hsplit-2018 §3.3.2.
  subroutine get_min_hlevel_integer(comm, n, ranks, type, resultlen, ierror)
    integer, intent(in) :: comm, n
    integer, intent(in) :: ranks(n)
    character(len=*), intent(inout) :: type
    integer, intent(inout) :: resultlen
    integer, optional, intent(out) :: ierror
    character(kind=c_char) :: name(c_size)
    integer(c_int) :: code
    code = c_get_min_hlevel(comm, n, ranks, name, c_size, resultlen)
    if (code == 0) type = text_of(name)
    call give(code, ierror)
  end subroutine get_min_hlevel_integer

  !> The chain of a rank, outermost first: its names in types(max) and numbers in ids(max); nlevels is its length, more
  !> than max when the arrays hold only its beginning. Collective over comm; each rank may query another rank.
  subroutine get_location_integer(comm, rank, max, nlevels, types, ids, ierror)
    integer, intent(in) :: comm, rank, max
    integer, intent(inout) :: nlevels
    character(len=*), intent(inout) :: types(max)
    integer(int64), intent(inout) :: ids(max)
    integer, optional, intent(out) :: ierror
    character(kind=c_char) :: names(c_size, max)
    integer(c_int) :: code
    integer :: i
    code = c_get_location(comm, rank, max, nlevels, names, ids)
    if (code == 0) then
      do i = 1, min(nlevels, max)
        types(i) = text_of(names(:, i))
      end do
    end if
    call give(code, ierror)
  end subroutine get_location_integer

  !> The resources of this machine, one key each, "true" where the caller is bound within one instance. hw_info is to
  !> be freed with MPI_Info_free. Local. MPI 5.0 §9.1.2.
  subroutine get_hw_resource_info_integer(hw_info, ierror)
    integer, intent(inout) :: hw_info
    integer, optional, intent(out) :: ierror
    call give(c_get_hw_resource_info(hw_info), ierror)
  end subroutine get_hw_resource_info_integer

  !> The reason of the last error of a call on comm, or a warning; blank when there is neither. resultlen is the length
  !> of the whole text. Local.
  subroutine get_message_integer(comm, text, resultlen, ierror)
    integer, intent(in) :: comm
    character(len=*), intent(inout) :: text
    integer, intent(inout) :: resultlen
    integer, optional, intent(out) :: ierror
    character(kind=c_char) :: message(len(text) + 1)
    integer(c_int) :: code
    code = c_get_message(comm, message, size(message), resultlen)
    if (code == 0) text = text_of(message)
    call give(code, ierror)
  end subroutine get_message_integer

  ! Converts a text of C: the characters before the terminator.
  pure function text_of(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=length_of(letters)) :: text
    integer :: i
    do i = 1, len(text)
      text(i:i) = letters(i)
    end do
  end function text_of

  pure integer function length_of(letters)
    character(kind=c_char), intent(in) :: letters(:)
    do length_of = 0, size(letters) - 1
      if (letters(length_of + 1) == c_null_char) return
    end do
  end function length_of

  subroutine give(code, ierror)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = code
  end subroutine give
end module ranktree_mpif
