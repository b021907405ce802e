! The Fortran calls with BINDING 1: mpif.h, 2: use mpi, 3: use mpi_f08.
!
!   fortran_calls levels     the levels of each rank, as the examples print them, behind 'rank: '
!   fortran_calls calls      every call once; the machine and the bindings are test_languages.py's
!   fortran_calls errors     what goes wrong
!
! With NO_F08 the module ranktree_mpif in place of ranktree.
#include "../../fortran/handles.inc"
program fortran_calls
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
#include "../../fortran/modules.inc"
  integer, parameter :: most = 16
  integer :: code, rank, ranks
  character(len=16) :: task

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, task)
  select case (task)
  case ('levels')
    call print_levels()
  case ('calls')
    call check_splits()
    call check_level_info()
    call check_min_hlevel()
    call check_location()
    call check_resources()
  case ('errors')
    call check_errors()
    call check_null()
  case default
    call expect(.false., 'a task')
  end select
  if (rank == 0 .and. task /= 'levels') print '(a)', 'ok'
  call MPI_Finalize(code)

contains

#include "../../fortran/expect.inc"

  ! Lines of several ranks may mix, so that each begins with its rank.
  subroutine print_levels()
    COMM :: levels(most), roots(most)
    character(len=RANKTREE_MAX_TYPE) :: name
    integer :: i, level_count, siblings, index, members, length
    call ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, most, level_count, levels, roots)
    print '(i0, a, i0, a, i0)', rank, ': rank ', rank, ', levels: ', level_count
    do i = 1, level_count
      call ranktree_Comm_get_hlevel_info(levels(i), siblings, index, name, length)
      call MPI_Comm_size(levels(i), members, code)
      print '(i0, 3a, i0, a, i0, a, i0, a)', rank, ':   ', trim(name), ' ', index, ' of ', siblings, ', ranks: ', members, &
        trim(merge(', root', '      ', roots(i) /= MPI_COMM_NULL))
    end do
    call free_levels(level_count, levels, roots)
  end subroutine print_levels

  subroutine free_levels(level_count, levels, roots)
    integer, intent(in) :: level_count
    COMM, intent(inout) :: levels(:)
    COMM, optional, intent(inout) :: roots(:)
    integer :: i
    do i = level_count, 1, -1
      call free_one(levels(i))
      if (present(roots)) call free_one(roots(i))
    end do
  end subroutine free_levels

  subroutine free_one(comm)
    COMM, intent(inout) :: comm
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, code)
  end subroutine free_one

  logical function same(left, right)
    COMM, intent(in) :: left, right
    integer :: compared
    same = (left == MPI_COMM_NULL) .eqv. (right == MPI_COMM_NULL)
    if (.not. same .or. left == MPI_COMM_NULL) return
    call MPI_Comm_compare(left, right, compared, code)
    same = compared == MPI_CONGRUENT
  end function same

  ! All calls that split give the same communicators.
  subroutine check_splits()
    COMM :: part, with_roots, roots, by_type, reversed, levels(most), all_roots(most), no_roots(most)
    integer :: level_count, counted, error, place, members
    call ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, part)
    error = -1
    call ranktree_Comm_hsplit_with_roots(MPI_COMM_WORLD, MPI_INFO_NULL, with_roots, roots, error)
    call expect(error == MPI_SUCCESS, 'success from hsplit_with_roots')
    call ranktree_Comm_split_type(MPI_COMM_WORLD, RANKTREE_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, by_type)
    call ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, most, level_count, levels, all_roots)
    error = -1
    call ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, most, counted, no_roots, ierror=error)
    call expect(error == MPI_SUCCESS, 'success from hsplit_all')
    call expect(counted == level_count .and. level_count > 0, 'the same levels without roots')
    call expect(same(part, with_roots) .and. same(part, by_type), 'the same part by all calls')
    call expect(same(part, levels(1)) .and. same(part, no_roots(1)), 'the part as the first level')
    call expect(same(roots, all_roots(1)), 'the same roots')
    call expect(all(levels(level_count + 1:) == MPI_COMM_NULL), 'MPI_COMM_NULL beyond the levels')
    call expect(all(all_roots(level_count + 1:) == MPI_COMM_NULL), 'no roots beyond the levels')
    call ranktree_Comm_hsplit(MPI_COMM_WORLD, -rank, MPI_INFO_NULL, reversed, error)
    call MPI_Comm_rank(part, place, code)
    call MPI_Comm_size(part, members, code)
    call MPI_Comm_rank(reversed, error, code)
    call expect(error == members - 1 - place, 'the key to turn the order round')
    call free_levels(level_count, levels, all_roots)
    call free_levels(counted, no_roots)
    call free_one(reversed)
    call free_one(by_type)
    call free_one(with_roots)
    call free_one(roots)
    call free_one(part)
  end subroutine check_splits

  ! The world is not known; a part is; names are padded, and cut where the variable is short.
  subroutine check_level_info()
    COMM :: part
    character(len=40) :: long
    character(len=4) :: short(3)
    character(len=0) :: nothing
    integer :: siblings, index, length, error
    call ranktree_Comm_get_hlevel_info(MPI_COMM_WORLD, siblings, index, long, length)
    call expect(siblings == 1 .and. index == 0 .and. long == 'Unknown' .and. length == 7, 'Unknown 0 of 1')
    call ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, part)
    long = repeat('x', len(long))
    short = 'xxxx'
    error = -1
    call ranktree_Comm_get_hlevel_info(part, siblings, index, long, length, error)
    call expect(error == MPI_SUCCESS .and. length == 7, 'a name of 7 letters')
    call expect(siblings == 2 .and. index == merge(1, 0, rank == 3), 'two siblings')
    call expect(long(:7) == 'Package' .and. long(8:) == repeat(' ', 33), 'a name padded with blanks')
    call ranktree_Comm_get_hlevel_info(part, siblings, index, short(2), length)
    call expect(length == 7 .and. short(2) == 'Pack', 'a name cut at the end of the variable')
    call expect(short(1) == 'xxxx' .and. short(3) == 'xxxx', 'nothing written beside the variable')
    call ranktree_Comm_get_hlevel_info(part, siblings, index, nothing, length)
    call expect(length == 7, 'the length of a name in a short buffer')
    call free_one(part)
  end subroutine check_level_info

  subroutine check_min_hlevel()
    character(len=RANKTREE_MAX_TYPE) :: name
    character(len=3) :: short
    integer :: length, error
    call ranktree_Comm_get_min_hlevel(MPI_COMM_WORLD, 2, [2, 1], name, length)
    call expect(name == merge('L3Cache', 'Unknown', rank == 1 .or. rank == 2), 'L3Cache for ranks 1 and 2')
    error = -1
    call ranktree_Comm_get_min_hlevel(MPI_COMM_WORLD, 4, [0, 1, 2, 3], short, length, error)
    call expect(error == MPI_SUCCESS .and. short == 'Nod' .and. length == 4, 'Node for all, cut')
    call ranktree_Comm_get_min_hlevel(MPI_COMM_WORLD, 0, [integer ::], name, length)
    call expect(name == 'Unknown', 'Unknown for no ranks')
  end subroutine check_min_hlevel

  subroutine check_location()
    character(len=9) :: names(0:9)
    integer(int64) :: numbers(0:9)
    integer :: i, levels, error
    names = 'untouched'
    numbers = -7
    call ranktree_Comm_get_location(MPI_COMM_WORLD, 2, size(names), levels, names, numbers)
    call expect(levels >= 4 .and. levels < 10, 'some levels')
    do i = 0, levels - 1
      if (names(i) == 'Node') exit
    end do
    call expect(all(names(i + 1:i + 3) == ['Package', 'L3Cache', 'Core   ']), 'the objects around rank 2')
    call expect(all(numbers(i + 1:i + 3) == [0, 0, 1]), 'their numbers')
    call expect(all(names(levels:) == 'untouched') .and. all(numbers(levels:) == -7), 'the rest untouched')
    error = -1
    names = 'untouched'
    call ranktree_Comm_get_location(MPI_COMM_WORLD, 2, 1, levels, names, numbers, error)
    call expect(error == MPI_SUCCESS .and. levels > 1 .and. names(1) == 'untouched', 'a chain that is cut')
  end subroutine check_location

  subroutine check_resources()
    INFO :: resources
    character(len=8) :: value
    logical :: exists
    integer :: error
    call ranktree_Get_hw_resource_info(resources)
    call MPI_Info_get(resources, 'hwloc://Package', 8, value, exists, code)
    call expect(exists .and. value == 'true', 'to be within one package')
    call MPI_Info_get(resources, 'hwloc://Core', 8, value, exists, code)
    call expect(exists .and. value == merge('false', 'true ', rank == 0), 'rank 0 not to be within one core')
    call MPI_Info_free(resources, code)
    error = -1
    call ranktree_Get_hw_resource_info(resources, error)
    call expect(error == MPI_SUCCESS, 'success')
    call MPI_Info_free(resources, code)
  end subroutine check_resources

  subroutine expect_class(error, wanted, what)
    integer, intent(in) :: error, wanted
    character(len=*), intent(in) :: what
    integer :: found
    call MPI_Error_class(error, found, code)
    call expect(found == wanted, 'another error class: '//what)
  end subroutine expect_class

  ! Errors come back through ierror where the handler returns, with their class and reason; outputs are untouched.
  subroutine check_errors()
    COMM :: comm, part, levels(2), roots(2)
    INFO :: info
    character(len=200) :: text
    character(len=4) :: short
    character(len=16) :: names(1)
    integer(int64) :: numbers(1)
    integer :: length, level_count, error
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, code)
    call ranktree_Comm_get_message(comm, text, length)
    call expect(length == 0 .and. text == '', 'no message before an error')
    part = MPI_COMM_SELF
    levels = MPI_COMM_SELF
    roots = MPI_COMM_SELF
    level_count = 77
    call ranktree_Comm_hsplit_all(comm, MPI_INFO_NULL, -1, level_count, levels, roots, error)
    call expect_class(error, MPI_ERR_ARG, 'max -1')
    call expect(level_count == 77 .and. all(levels == MPI_COMM_SELF) .and. all(roots == MPI_COMM_SELF), 'no output')
    call ranktree_Comm_get_message(comm, text, length, error)
    call expect(error == MPI_SUCCESS .and. length > 4 .and. len_trim(text) == length, 'the reason')
    call ranktree_Comm_get_message(comm, short, length)
    call expect(short == text(:4) .and. length == len_trim(text), 'the beginning of the reason')
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, 'ranktree_leftover', 'all', code)
    call ranktree_Comm_hsplit(comm, 0, info, part, error)
    call expect_class(error, MPI_ERR_ARG, 'ranktree_leftover')
    call ranktree_Comm_hsplit(comm, 0, info, part)
    call expect(part == MPI_COMM_SELF, 'no output')
    call MPI_Info_free(info, code)
    names = 'untouched'
    call ranktree_Comm_get_location(comm, ranks, 1, level_count, names, numbers, error)
    call expect_class(error, MPI_ERR_RANK, 'a rank that is not there')
    call expect(names(1) == 'untouched' .and. level_count == 77, 'no output')
    call ranktree_Comm_hsplit(comm, 0, MPI_INFO_NULL, part, error)
    call expect(error == MPI_SUCCESS, 'success after the errors')
    call free_one(part)
    call MPI_Comm_free(comm, code)
  end subroutine check_errors

  subroutine check_null()
    COMM :: part
    character(len=RANKTREE_MAX_TYPE) :: name
    integer :: siblings, index, length, error
    part = MPI_COMM_SELF
    siblings = 77
    name = 'untouched'
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call ranktree_Comm_hsplit(MPI_COMM_NULL, 0, MPI_INFO_NULL, part, error)
    call expect_class(error, MPI_ERR_COMM, 'MPI_COMM_NULL')
    call ranktree_Comm_get_hlevel_info(MPI_COMM_NULL, siblings, index, name, length, error)
    call expect_class(error, MPI_ERR_COMM, 'MPI_COMM_NULL')
    call expect(part == MPI_COMM_SELF .and. siblings == 77 .and. name == 'untouched', 'no output')
  end subroutine check_null
end program fortran_calls
