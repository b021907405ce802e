!> Hierarchical collectives for Fortran: the code that both kinds of handles share. Part of ranktree_mpif.f90, which
!> includes this file; the contract is in ranktree/mpi_collect.h.
!>
!> Buffers may be of any type and rank, MPI_IN_PLACE or MPI_BOTTOM. Blocking calls copy array sections that are not
!> contiguous; the others return MPI_ERR_BUFFER for them on ranks where MPI uses the buffer. Buffers of nonblocking and
!> persistent calls must be asynchronous, or be kept by MPI_F_SYNC_REG, as in MPI.
module ranktree_collect_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  public
  private :: same_requests, other_requests
  private :: start_request, wait_request, test_request, wait_requests, free_request, set_reproducible_integer

  !> A pending operation, or a persistent one. MPI's own calls do not accept it.
  type, bind(C) :: ranktree_Request
    type(c_ptr) :: handle = c_null_ptr
  end type ranktree_Request

  type(ranktree_Request), parameter :: RANKTREE_REQUEST_NULL = ranktree_Request(c_null_ptr)

  ! The arguments of a call, laid out as in src/capi/mpi_fortran_collect.cpp.
  type, bind(C) :: ranktree_collect_call
    integer(c_int32_t) :: collective = 0
    integer(c_int32_t) :: form = 0
    integer(c_int32_t) :: wide = 0
    integer(c_int32_t) :: contiguous_send = 1
    integer(c_int32_t) :: contiguous_receive = 1
    integer(c_int32_t) :: comm = 0
    integer(c_int32_t) :: root = 0
    integer(c_int32_t) :: op = 0
    integer(c_int32_t) :: sendtype = 0
    integer(c_int32_t) :: recvtype = 0
    integer(c_int32_t) :: info = 0
    integer(c_int64_t) :: sendcount = 0
    integer(c_int64_t) :: recvcount = 0
    type(c_ptr) :: sendbuf = c_null_ptr
    type(c_ptr) :: recvbuf = c_null_ptr
    type(c_ptr) :: counts = c_null_ptr
    type(c_ptr) :: displacements = c_null_ptr
  end type ranktree_collect_call

  interface
    integer(c_int) function c_collect(what, in_place, bottom, request) bind(C, name='ranktree_fortran_collect')
      import :: c_int, ranktree_collect_call, ranktree_Request
      type(ranktree_collect_call), intent(in) :: what
      type(*), intent(in) :: in_place, bottom
      type(ranktree_Request), optional, intent(inout) :: request
    end function c_collect

    integer(c_int) function c_set_reproducible(comm, flag) bind(C, name='ranktree_fortran_Comm_set_reproducible')
      import :: c_int
      integer(c_int), value :: comm, flag
    end function c_set_reproducible

    integer(c_int) function c_start(request) bind(C, name='ranktree_Start')
      import :: c_int, ranktree_Request
      type(ranktree_Request), intent(inout) :: request
    end function c_start

    integer(c_int) function c_wait(request) bind(C, name='ranktree_Wait')
      import :: c_int, ranktree_Request
      type(ranktree_Request), intent(inout) :: request
    end function c_wait

    integer(c_int) function c_test(request, flag) bind(C, name='ranktree_Test')
      import :: c_int, ranktree_Request
      type(ranktree_Request), intent(inout) :: request
      integer(c_int), intent(inout) :: flag
    end function c_test

    integer(c_int) function c_waitall(count, requests) bind(C, name='ranktree_Waitall')
      import :: c_int, ranktree_Request
      integer(c_int), value :: count
      type(ranktree_Request), intent(inout) :: requests(*)
    end function c_waitall

    integer(c_int) function c_request_free(request) bind(C, name='ranktree_Request_free')
      import :: c_int, ranktree_Request
      type(ranktree_Request), intent(inout) :: request
    end function c_request_free
  end interface

  interface ranktree_Start
    module procedure start_request
  end interface
  interface ranktree_Wait
    module procedure wait_request
  end interface
  interface ranktree_Test
    module procedure test_request
  end interface
  interface ranktree_Waitall
    module procedure wait_requests
  end interface
  interface ranktree_Request_free
    module procedure free_request
  end interface
  interface ranktree_Comm_set_reproducible
    module procedure set_reproducible_integer
  end interface
  interface operator(==)
    module procedure same_requests
  end interface
  interface operator(/=)
    module procedure other_requests
  end interface

contains

  !> Starts an inactive persistent operation. Collective over its communicator.
  subroutine start_request(request, ierror)
    type(ranktree_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_start(request)
    if (present(ierror)) ierror = code
  end subroutine start_request

  !> Returns when the operation is complete: the request is RANKTREE_REQUEST_NULL, or inactive if it is persistent.
  subroutine wait_request(request, ierror)
    type(ranktree_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_wait(request)
    if (present(ierror)) ierror = code
  end subroutine wait_request

  !> As ranktree_Wait, without waiting: flag is true when the operation is complete.
  subroutine test_request(request, flag, ierror)
    type(ranktree_Request), intent(inout) :: request
    logical, intent(out) :: flag
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code, done
    done = 0
    code = c_test(request, done)
    flag = done /= 0
    if (present(ierror)) ierror = code
  end subroutine test_request

  !> Waits until requests(count) are complete, in any order.
  subroutine wait_requests(count, requests, ierror)
    integer, intent(in) :: count
    type(ranktree_Request), intent(inout) :: requests(*)
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_waitall(count, requests)
    if (present(ierror)) ierror = code
  end subroutine wait_requests

  !> Frees an inactive persistent request.
  subroutine free_request(request, ierror)
    type(ranktree_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_request_free(request)
    if (present(ierror)) ierror = code
  end subroutine free_request

  !> Reductions on comm whose bits depend on the number of ranks only. Collective over comm.
  subroutine set_reproducible_integer(comm, flag, ierror)
    integer, intent(in) :: comm
    logical, intent(in) :: flag
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_set_reproducible(comm, merge(1_c_int, 0_c_int, flag))
    if (present(ierror)) ierror = code
  end subroutine set_reproducible_integer

  elemental logical function same_requests(left, right)
    type(ranktree_Request), intent(in) :: left, right
    same_requests = transfer(left%handle, 0_c_int64_t) == transfer(right%handle, 0_c_int64_t)
  end function same_requests

  elemental logical function other_requests(left, right)
    type(ranktree_Request), intent(in) :: left, right
    other_requests = .not. same_requests(left, right)
  end function other_requests
end module ranktree_collect_bindings
