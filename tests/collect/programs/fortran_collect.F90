! Every collective of the Fortran modules, blocking, nonblocking and persistent, against the native ones on the same
! integers; buffers that are no plain arrays; errors. BINDING 1: mpif.h, 2: use mpi, 3: use mpi_f08. Prints ok.
!
! With NO_F08 the module ranktree_mpif in place of ranktree.
#include "../../fortran/handles.inc"
program fortran_collect
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
#include "../../fortran/modules.inc"
  integer, parameter :: block = 11, gap = -7
  character(len=13), parameter :: forms(0:2) = [', blocking   ', ', nonblocking', ', persistent ']
  integer :: code, rank, ranks, root, form, i, total
  integer, allocatable :: counts(:), displacements(:)
  integer, allocatable, asynchronous :: given(:), found(:), expected(:)
  type(ranktree_Request) :: request
  COMM :: world

  call MPI_Init(code)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, code)
  call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN, code)
  call MPI_Comm_rank(world, rank, code)
  call MPI_Comm_size(world, ranks, code)
  counts = [(mod(5 * i, 7), i = 1, ranks)]
  displacements = [(sum(counts(:i - 1)) + i - 1, i = 1, ranks)]
  total = max(block * ranks, sum(counts) + ranks)
  allocate (given(total), found(total), expected(total))
  do root = 0, ranks - 1
    do form = 0, 2
      call check_vectors()
      call check_blocks()
      call check_lists()
    end do
  end do
  call check_in_place()
  call check_buffers()
  call check_sections()
  call check_requests()
  call check_errors()
#if BINDING == 3
  call check_large()
#else
  call check_own_operation()
#endif
  call ranktree_Comm_set_reproducible(world, .true., code)
  call expect(code == MPI_SUCCESS, 'success from set_reproducible')
  call MPI_Comm_free(world, code)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(code)

contains

#include "../../fortran/expect.inc"

  ! What is sent, and two copies of what is received into, so that nothing else may change.
  subroutine begin()
    given = [(1000 * rank + i, i = 1, total)]
    found = gap - rank
    expected = found
    code = -1
  end subroutine begin

  subroutine finish(what)
    character(len=*), intent(in) :: what
    integer :: round
    call expect(code == MPI_SUCCESS, 'success from ' // what // forms(form))
    do round = 1, merge(2, 1, form == 2)
      if (form == 2) call ranktree_Start(request)
      if (form > 0) call ranktree_Wait(request)
    end do
    call expect((request /= RANKTREE_REQUEST_NULL) .eqv. form == 2, 'no request left by ' // what // forms(form))
    if (form == 2) call ranktree_Request_free(request, code)
    call expect(request == RANKTREE_REQUEST_NULL .and. code == MPI_SUCCESS, 'a request freed of ' // what // forms(form))
    call expect(all(found == expected), 'the MPI''s result of ' // what // forms(form))
  end subroutine finish

  subroutine check_vectors()
    call begin()
    if (rank == root) found = given
    expected = found
    call MPI_Bcast(expected, block, MPI_INTEGER, root, world, code)
    if (form == 0) call ranktree_Bcast(found, block, MPI_INTEGER, root, world, code)
    if (form == 1) call ranktree_Ibcast(found, block, MPI_INTEGER, root, world, request, code)
    if (form == 2) call ranktree_Bcast_init(found, block, MPI_INTEGER, root, world, MPI_INFO_NULL, request, code)
    call finish('bcast')
    call begin()
    call MPI_Reduce(given, expected, block, MPI_INTEGER, MPI_SUM, root, world, code)
    if (form == 0) call ranktree_Reduce(given, found, block, MPI_INTEGER, MPI_SUM, root, world, code)
    if (form == 1) call ranktree_Ireduce(given, found, block, MPI_INTEGER, MPI_SUM, root, world, request, code)
    if (form == 2) call ranktree_Reduce_init(given, found, block, MPI_INTEGER, MPI_SUM, root, world, MPI_INFO_NULL, &
        request, code)
    call finish('reduce')
    call begin()
    call MPI_Allreduce(given, expected, block, MPI_INTEGER, MPI_MAX, world, code)
    if (form == 0) call ranktree_Allreduce(given, found, block, MPI_INTEGER, MPI_MAX, world, code)
    if (form == 1) call ranktree_Iallreduce(given, found, block, MPI_INTEGER, MPI_MAX, world, request, code)
    if (form == 2) call ranktree_Allreduce_init(given, found, block, MPI_INTEGER, MPI_MAX, world, MPI_INFO_NULL, &
        request, code)
    call finish('allreduce')
    call begin()
    if (form == 0) call ranktree_Barrier(world, code)
    if (form == 1) call ranktree_Ibarrier(world, request, code)
    if (form == 2) call ranktree_Barrier_init(world, MPI_INFO_NULL, request, code)
    call finish('barrier')
  end subroutine check_vectors

  subroutine check_blocks()
    call begin()
    call MPI_Gather(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, root, world, code)
    if (form == 0) call ranktree_Gather(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, code)
    if (form == 1) call ranktree_Igather(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, request, code)
    if (form == 2) call ranktree_Gather_init(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, &
        MPI_INFO_NULL, request, code)
    call finish('gather')
    call begin()
    call MPI_Scatter(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, root, world, code)
    if (form == 0) call ranktree_Scatter(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, code)
    if (form == 1) call ranktree_Iscatter(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, request, code)
    if (form == 2) call ranktree_Scatter_init(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, &
        MPI_INFO_NULL, request, code)
    call finish('scatter')
    call begin()
    call MPI_Allgather(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, world, code)
    if (form == 0) call ranktree_Allgather(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, code)
    if (form == 1) call ranktree_Iallgather(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, request, code)
    if (form == 2) call ranktree_Allgather_init(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, &
        MPI_INFO_NULL, request, code)
    call finish('allgather')
    call begin()
    call MPI_Alltoall(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, world, code)
    if (form == 0) call ranktree_Alltoall(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, code)
    if (form == 1) call ranktree_Ialltoall(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, request, code)
    if (form == 2) call ranktree_Alltoall_init(given, block, MPI_INTEGER, found, block, MPI_INTEGER, world, &
        MPI_INFO_NULL, request, code)
    call finish('alltoall')
    call begin()
    call MPI_Reduce_scatter_block(given, expected, block, MPI_INTEGER, MPI_SUM, world, code)
    if (form == 0) call ranktree_Reduce_scatter_block(given, found, block, MPI_INTEGER, MPI_SUM, world, code)
    if (form == 1) call ranktree_Ireduce_scatter_block(given, found, block, MPI_INTEGER, MPI_SUM, world, request, code)
    if (form == 2) call ranktree_Reduce_scatter_block_init(given, found, block, MPI_INTEGER, MPI_SUM, world, &
        MPI_INFO_NULL, request, code)
    call finish('reduce_scatter_block')
  end subroutine check_blocks

  subroutine check_lists()
    integer :: own
    own = counts(rank + 1)
    call begin()
    call MPI_Gatherv(given, own, MPI_INTEGER, expected, counts, displacements, MPI_INTEGER, root, world, code)
    if (form == 0) call ranktree_Gatherv(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, root, world, &
        code)
    if (form == 1) call ranktree_Igatherv(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, root, &
        world, request, code)
    if (form == 2) call ranktree_Gatherv_init(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, root, &
        world, MPI_INFO_NULL, request, code)
    call finish('gatherv')
    call begin()
    call MPI_Scatterv(given, counts, displacements, MPI_INTEGER, expected, own, MPI_INTEGER, root, world, code)
    if (form == 0) call ranktree_Scatterv(given, counts, displacements, MPI_INTEGER, found, own, MPI_INTEGER, root, &
        world, code)
    if (form == 1) call ranktree_Iscatterv(given, counts, displacements, MPI_INTEGER, found, own, MPI_INTEGER, root, &
        world, request, code)
    if (form == 2) call ranktree_Scatterv_init(given, counts, displacements, MPI_INTEGER, found, own, MPI_INTEGER, root, &
        world, MPI_INFO_NULL, request, code)
    call finish('scatterv')
    call begin()
    call MPI_Allgatherv(given, own, MPI_INTEGER, expected, counts, displacements, MPI_INTEGER, world, code)
    if (form == 0) call ranktree_Allgatherv(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, world, &
        code)
    if (form == 1) call ranktree_Iallgatherv(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, world, &
        request, code)
    if (form == 2) call ranktree_Allgatherv_init(given, own, MPI_INTEGER, found, counts, displacements, MPI_INTEGER, &
        world, MPI_INFO_NULL, request, code)
    call finish('allgatherv')
    call begin()
    call MPI_Reduce_scatter(given, expected, counts, MPI_INTEGER, MPI_SUM, world, code)
    if (form == 0) call ranktree_Reduce_scatter(given, found, counts, MPI_INTEGER, MPI_SUM, world, code)
    if (form == 1) call ranktree_Ireduce_scatter(given, found, counts, MPI_INTEGER, MPI_SUM, world, request, code)
    if (form == 2) call ranktree_Reduce_scatter_init(given, found, counts, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, &
        request, code)
    call finish('reduce_scatter')
  end subroutine check_lists

  ! MPI_IN_PLACE of this kind of handles, on each side where it may be; the native call is not in place.
  subroutine check_in_place()
    form = 0
    root = ranks - 1
    call begin()
    call MPI_Allreduce(given, expected, block, MPI_INTEGER, MPI_SUM, world, code)
    found(:block) = given(:block)
    call ranktree_Allreduce(MPI_IN_PLACE, found, block, MPI_INTEGER, MPI_SUM, world, code)
    call finish('allreduce in place')
    found(:block) = given(:block)
    call ranktree_Iallreduce(MPI_IN_PLACE, found, block, MPI_INTEGER, MPI_SUM, world, request, code)
    form = 1
    call finish('iallreduce in place')
    form = 0
    call begin()
    call MPI_Reduce(given, expected, block, MPI_INTEGER, MPI_SUM, root, world, code)
    if (rank == root) then
      found(:block) = given(:block)
      call ranktree_Reduce(MPI_IN_PLACE, found, block, MPI_INTEGER, MPI_SUM, root, world, code)
    else
      call ranktree_Reduce(given, found, block, MPI_INTEGER, MPI_SUM, root, world, code)
    end if
    call finish('reduce in place')
    call begin()
    call MPI_Scatter(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, root, world, code)
    if (rank == root) then
      expected = found
      call ranktree_Scatter(given, block, MPI_INTEGER, MPI_IN_PLACE, block, MPI_INTEGER, root, world, code)
    else
      call ranktree_Scatter(given, block, MPI_INTEGER, found, block, MPI_INTEGER, root, world, code)
    end if
    call finish('scatter in place')
    call begin()
    call MPI_Allgather(given, block, MPI_INTEGER, expected, block, MPI_INTEGER, world, code)
    found(rank * block + 1:(rank + 1) * block) = given(:block)
    call ranktree_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, found, block, MPI_INTEGER, world, code)
    call finish('allgather in place')
  end subroutine check_in_place

  ! Matrices, scalars, texts, sections; MPI_BOTTOM with a type of addresses.
  subroutine check_buffers()
    real(real64), target :: matrix(3, 4)
    character(len=5) :: text
    integer :: number, strided(9)
    integer(MPI_ADDRESS_KIND) :: addresses(1)
    TYPE_HANDLE :: absolute
    matrix = rank
    call ranktree_Bcast(matrix, 12, MPI_DOUBLE_PRECISION, 1, world, code)
    call expect(all(abs(matrix - 1) < 0.5_real64), 'a matrix')
    matrix = rank
    call ranktree_Bcast(matrix(2:3, 2:3), 4, MPI_DOUBLE_PRECISION, 0, world, code)
    call expect(all(nint(matrix(2:3, 2:3)) == 0) .and. all(nint(matrix(:, 1)) == rank), 'a section of a matrix')
    text = merge('right', 'wrong', rank == 1)
    call ranktree_Bcast(text, 5, MPI_CHARACTER, 1, world)
    call expect(text == 'right', 'a text')
    number = rank
    call ranktree_Allreduce(rank, number, 1, MPI_INTEGER, MPI_SUM, world)
    call expect(number == ranks * (ranks - 1) / 2, 'a number')
    strided = rank
    call ranktree_Bcast(strided(1:9:2), 5, MPI_INTEGER, 1, world, code)
    call expect(all(strided(1:9:2) == 1) .and. all(strided(2:8:2) == rank), 'every other element')
    call ranktree_Ibcast(strided(1:9:2), 5, MPI_INTEGER, 1, world, request, code)
    call expect_class(MPI_ERR_BUFFER, 'a section that would be gone')
    number = rank
    call MPI_Get_address(number, addresses(1), code)
    call MPI_Type_create_hindexed(1, [1], addresses, MPI_INTEGER, absolute, code)
    call MPI_Type_commit(absolute, code)
    call ranktree_Bcast(MPI_BOTTOM, 1, absolute, 1, world, code)
    call MPI_Type_free(absolute, code)
    call read_again(number)
    call expect(number == 1, 'a number by its address')
  end subroutine check_buffers

  ! Sections in places that MPI ignores on a rank, and in those that it does not.
  subroutine check_sections()
    integer, asynchronous :: strided(9)
    root = 0
    strided = rank
    do form = 1, 2
      call begin()
      call MPI_Reduce(given, expected, 5, MPI_INTEGER, MPI_SUM, root, world, code)
      if (rank == root) call reduce_into(found(:5))
      if (rank /= root) call reduce_into(strided(1:9:2))
      call finish('reduce with a section elsewhere')
      call begin()
      call MPI_Gather(given, 1, MPI_INTEGER, expected, 1, MPI_INTEGER, root, world, code)
      if (rank == root) call gather_into(found(:ranks))
      if (rank /= root) call gather_into(strided(1:9:2))
      call finish('gather with a section elsewhere')
      call begin()
      call MPI_Scatter(given, 1, MPI_INTEGER, expected, 1, MPI_INTEGER, root, world, code)
      if (rank == root) call scatter_from(given)
      if (rank /= root) call scatter_from(strided(1:9:2))
      call finish('scatter with a section elsewhere')
      if (rank == root) then
        call reduce_into(strided(1:9:2))
        call expect_class(MPI_ERR_BUFFER, 'a result in a section')
        call gather_into(strided(1:9:2))
        call expect_class(MPI_ERR_BUFFER, 'blocks in a section')
        call scatter_from(strided(1:9:2))
        call expect_class(MPI_ERR_BUFFER, 'blocks of a section')
      end if
      if (form == 1) call ranktree_Ireduce(strided(1:9:2), found, 5, MPI_INTEGER, MPI_SUM, root, world, request, code)
      if (form == 2) call ranktree_Reduce_init(strided(1:9:2), found, 5, MPI_INTEGER, MPI_SUM, root, world, &
          MPI_INFO_NULL, request, code)
      call expect_class(MPI_ERR_BUFFER, 'operands in a section')
    end do
    call expect(all(strided == rank), 'untouched sections')
  end subroutine check_sections

  subroutine reduce_into(into)
    integer, asynchronous :: into(:)
    if (form == 1) call ranktree_Ireduce(given, into, 5, MPI_INTEGER, MPI_SUM, root, world, request, code)
    if (form == 2) call ranktree_Reduce_init(given, into, 5, MPI_INTEGER, MPI_SUM, root, world, MPI_INFO_NULL, &
        request, code)
  end subroutine reduce_into

  subroutine gather_into(into)
    integer, asynchronous :: into(:)
    if (form == 1) call ranktree_Igather(given, 1, MPI_INTEGER, into, 1, MPI_INTEGER, root, world, request, code)
    if (form == 2) call ranktree_Gather_init(given, 1, MPI_INTEGER, into, 1, MPI_INTEGER, root, world, MPI_INFO_NULL, &
        request, code)
  end subroutine gather_into

  subroutine scatter_from(from)
    integer, asynchronous :: from(:)
    if (form == 1) call ranktree_Iscatter(from, 1, MPI_INTEGER, found, 1, MPI_INTEGER, root, world, request, code)
    if (form == 2) call ranktree_Scatter_init(from, 1, MPI_INTEGER, found, 1, MPI_INTEGER, root, world, MPI_INFO_NULL, &
        request, code)
  end subroutine scatter_from

  ! Two at once; Test until both are complete.
  subroutine check_requests()
    type(ranktree_Request) :: both(2)
    integer, asynchronous :: sums(2)
    logical :: done
    sums = 0
    call ranktree_Iallreduce(rank, sums(1), 1, MPI_INTEGER, MPI_SUM, world, both(1))
    call ranktree_Iallreduce(1, sums(2), 1, MPI_INTEGER, MPI_SUM, world, both(2))
    call ranktree_Waitall(2, both, code)
    call read_again(sums(1))
    call expect(code == MPI_SUCCESS .and. all(both == RANKTREE_REQUEST_NULL), 'two complete requests')
    call expect(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks, 'two sums')
    call ranktree_Ibarrier(world, request)
    done = .false.
    do while (.not. done)
      call ranktree_Test(request, done, code)
    end do
    call expect(request == RANKTREE_REQUEST_NULL, 'a complete request by Test')
  end subroutine check_requests

  ! A program's MPI_F_SYNC_REG.
  subroutine read_again(number)
    integer, intent(inout) :: number
    if (number < -1000000) number = 0
  end subroutine read_again

  subroutine expect_class(class, what)
    integer, intent(in) :: class
    character(len=*), intent(in) :: what
    integer :: found_class, ignored
    call expect(code /= MPI_SUCCESS, 'an error from ' // what)
    call MPI_Error_class(code, found_class, ignored)
    call expect(found_class == class, 'another class from ' // what)
  end subroutine expect_class

  subroutine check_errors()
    form = 0
    call begin()
    call ranktree_Bcast(found, 1, MPI_INTEGER, ranks, world, code)
    call expect_class(MPI_ERR_ROOT, 'a root that is none')
    call ranktree_Ibcast(found, -1, MPI_INTEGER, 0, world, request, code)
    call expect_class(MPI_ERR_COUNT, 'a negative count')
    call expect(request == RANKTREE_REQUEST_NULL .and. all(found == expected), 'untouched outputs')
  end subroutine check_errors

#if BINDING == 3
  ! Counts and displacements of MPI_COUNT_KIND and MPI_ADDRESS_KIND.
  subroutine check_large()
    integer(MPI_COUNT_KIND) :: wide_counts(ranks)
    integer(MPI_ADDRESS_KIND) :: wide_displacements(ranks)
    integer(MPI_COUNT_KIND), parameter :: wide_block = block
    wide_counts = counts
    wide_displacements = displacements
    do form = 0, 2
      call begin()
      call MPI_Allgatherv(given, counts(rank + 1), MPI_INTEGER, expected, counts, displacements, MPI_INTEGER, world)
      if (form == 0) call ranktree_Allgatherv(given, wide_counts(rank + 1), MPI_INTEGER, found, wide_counts, &
          wide_displacements, MPI_INTEGER, world, code)
      if (form == 1) call ranktree_Iallgatherv(given, wide_counts(rank + 1), MPI_INTEGER, found, wide_counts, &
          wide_displacements, MPI_INTEGER, world, request, code)
      if (form == 2) call ranktree_Allgatherv_init(given, wide_counts(rank + 1), MPI_INTEGER, found, wide_counts, &
          wide_displacements, MPI_INTEGER, world, MPI_INFO_NULL, request, code)
      call finish('allgatherv with large counts')
      call begin()
      call MPI_Reduce(given, expected, block, MPI_INTEGER, MPI_MIN, 0, world)
      if (form == 0) call ranktree_Reduce(given, found, wide_block, MPI_INTEGER, MPI_MIN, 0, world, code)
      if (form == 1) call ranktree_Ireduce(given, found, wide_block, MPI_INTEGER, MPI_MIN, 0, world, request, code)
      if (form == 2) call ranktree_Reduce_init(given, found, wide_block, MPI_INTEGER, MPI_MIN, 0, world, MPI_INFO_NULL, &
          request, code)
      call finish('reduce with a large count')
    end do
  end subroutine check_large
#else
  ! Not commutative: the last operand.
  subroutine last(from, into, length, type)
    integer, intent(in) :: length, type, from(length)
    integer, intent(inout) :: into(length)
    if (type == MPI_INTEGER .and. any(from > into)) into = -1
  end subroutine last

  subroutine check_own_operation()
    OP_HANDLE :: operation
    form = 0
    call MPI_Op_create(last, .false., operation, code)
    call begin()
    call ranktree_Allreduce(given, found, block, MPI_INTEGER, operation, world, code)
    expected(:block) = [(1000 * (ranks - 1) + i, i = 1, block)]
    call finish('an operation of Fortran')
    call MPI_Op_free(operation, code)
  end subroutine check_own_operation
#endif
end program fortran_collect
