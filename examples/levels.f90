! The levels of the machine that every rank belongs to, and a broadcast that goes down them, with the mpi_f08 module:
! levels.c in Fortran.
!
!   levels_f08
program levels_f08
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use ranktree
  implicit none

  integer, parameter :: most_levels = 64, the_value = 20180913
  integer :: rank, ranks, value, has, reached
  type(MPI_Info) :: info

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call print_levels()

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'ranktree_leftover', 'group')
  value = merge(the_value, 0, rank == 0)
  call broadcast_down()
  call MPI_Info_free(info)
  has = merge(1, 0, value == the_value)
  call MPI_Reduce(has, reached, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    print '(a, i0, a, i0, a)', 'broadcast down the levels: ', reached, ' of ', ranks, ' ranks have the value'
    if (reached /= ranks) then
      write (error_unit, '(a)') 'levels_f08: the broadcast did not reach all ranks'
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end if
  call MPI_Finalize()

contains

  ! Rank 0 prints the lines of all ranks, one after the other.
  subroutine print_levels()
    character(len=80) :: lines(most_levels + 1)
    integer :: i, from, length
    type(MPI_Status) :: status
    call describe_levels(lines, length)
    if (rank /= 0) then
      call MPI_Send(lines, length*len(lines), MPI_CHARACTER, 0, 0, MPI_COMM_WORLD)
      return
    end if
    print '(a)', (trim(lines(i)), i=1, length)
    do from = 1, ranks - 1
      call MPI_Recv(lines, size(lines)*len(lines), MPI_CHARACTER, from, 0, MPI_COMM_WORLD, status)
      call MPI_Get_count(status, MPI_CHARACTER, length)
      print '(a)', (trim(lines(i)), i=1, length/len(lines))
    end do
  end subroutine print_levels

  ! This rank's lines, such as "  Package 1 of 2, ranks: 4, root".
  subroutine describe_levels(lines, length)
    character(len=*), intent(out) :: lines(:)
    integer, intent(out) :: length
    character(len=RANKTREE_MAX_TYPE) :: type_name
    type(MPI_Comm) :: levels(most_levels), roots(most_levels)
    integer :: i, level_count, siblings, index, members, name_length
    call ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, most_levels, level_count, levels, roots)
    write (lines(1), '(a, i0, a, i0)') 'rank ', rank, ', levels: ', level_count
    do i = 1, level_count
      call ranktree_Comm_get_hlevel_info(levels(i), siblings, index, type_name, name_length)
      call MPI_Comm_size(levels(i), members)
      write (lines(i + 1), '(3a, i0, a, i0, a, i0, a)') '  ', trim(type_name), ' ', index, ' of ', siblings, &
        ', ranks: ', members, trim(merge(', root', '      ', roots(i) /= MPI_COMM_NULL))
    end do
    length = level_count + 1
    call free_levels(level_count, levels, roots)
  end subroutine describe_levels

  ! Gives all ranks the value of rank 0. With ranktree_leftover=group the parts of a level cover it, so all ranks of a
  ! smallest part have it as their last level.
  subroutine broadcast_down()
    type(MPI_Comm) :: levels(most_levels), roots(most_levels), smallest
    integer :: i, level_count
    call ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, most_levels, level_count, levels, roots)
    smallest = MPI_COMM_WORLD
    do i = 1, level_count
      if (roots(i) /= MPI_COMM_NULL) call MPI_Bcast(value, 1, MPI_INTEGER, 0, roots(i))
      smallest = levels(i)
    end do
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, smallest)
    call free_levels(level_count, levels, roots)
  end subroutine broadcast_down

  ! The deepest first, on all ranks.
  subroutine free_levels(level_count, levels, roots)
    integer, intent(in) :: level_count
    type(MPI_Comm), intent(inout) :: levels(:), roots(:)
    integer :: i
    do i = level_count, 1, -1
      if (roots(i) /= MPI_COMM_NULL) call MPI_Comm_free(roots(i))
      call MPI_Comm_free(levels(i))
    end do
  end subroutine free_levels
end program levels_f08
