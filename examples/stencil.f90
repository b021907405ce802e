! Halo exchange of a 2D grid of blocks with the mpi_f08 module: the two dimensions of stencil.c, in Fortran.
!
!   stencil_f08 [cells] [iterations]
!
! A cell's value encodes its position in the whole grid and the iteration, so every halo cell is checked after every
! exchange; on a wrong one the program calls MPI_Abort. Borders are open: the halo beyond them is never written.
program stencil
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  implicit none

  integer, parameter :: low = 1, high = 2
  real(real64), parameter :: untouched = -1
  type(MPI_Comm) :: grid
  type(MPI_Datatype) :: row_type
  integer :: blocks(2), coordinates(2), neighbours(low:high, 2)
  integer :: cells, iterations, iteration, rank
  real(real64), allocatable :: values(:, :)
  real(real64) :: seconds, slowest, start

  call MPI_Init()
  cells = argument(1, 64)
  iterations = argument(2, 10)
  call make_grid()
  call fill_block()
  seconds = 0
  do iteration = 0, iterations - 1
    start = MPI_Wtime()
    call exchange_halos()
    seconds = seconds + MPI_Wtime() - start
    call check_halos()
    values(1:cells, 1:cells) = values(1:cells, 1:cells) + real(cells, real64)**2*product(blocks)
  end do
  call MPI_Reduce(seconds, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    print '(a, i0, a, i0, a, i0, a, i0, a, f0.9, a)', 'stencil_f08: ', blocks(1), ' x ', blocks(2), ' blocks, ', cells, &
      ' cells a side, ', iterations, ' iterations: ', slowest/iterations, ' s an exchange'
  end if
  call MPI_Type_free(row_type)
  call MPI_Comm_free(grid)
  call MPI_Finalize()

contains

  ! The positive whole number of an argument, or the default.
  integer function argument(place, usual)
    integer, intent(in) :: place, usual
    character(len=32) :: text
    integer :: status
    argument = usual
    call get_command_argument(place, text)
    if (len_trim(text) == 0) return
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1) call stop_run('usage: stencil_f08 [cells] [iterations]')
  end function argument

  subroutine stop_run(text)
    character(len=*), intent(in) :: text
    write (error_unit, '(a)') text
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine stop_run

  subroutine make_grid()
    integer :: size, dimension
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    blocks = 0
    call MPI_Dims_create(size, 2, blocks)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, blocks, [.false., .false.], .true., grid)
    call MPI_Comm_rank(grid, rank)
    call MPI_Cart_coords(grid, rank, 2, coordinates)
    do dimension = 1, 2
      call MPI_Cart_shift(grid, dimension - 1, 1, neighbours(low, dimension), neighbours(high, dimension))
    end do
    ! A row: second index running, one column of memory apart.
    call MPI_Type_vector(cells, 1, cells + 2, MPI_DOUBLE_PRECISION, row_type)
    call MPI_Type_commit(row_type)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  end subroutine make_grid

  ! The value of cell (i, j) of this block before the given iteration; 0 and cells + 1 are its neighbours' cells.
  real(real64) function expected_value(i, j)
    integer, intent(in) :: i, j
    integer :: place(2), side(2)
    place = coordinates*cells + [i, j] - 1
    side = blocks*cells
    expected_value = untouched
    if (any(place < 0) .or. any(place >= side)) return
    expected_value = (real(iteration, real64)*side(1) + place(1))*side(2) + place(2)
  end function expected_value

  subroutine fill_block()
    integer :: i, j
    allocate (values(0:cells + 1, 0:cells + 1), source=untouched)
    iteration = 0
    do j = 1, cells
      do i = 1, cells
        values(i, j) = expected_value(i, j)
      end do
    end do
  end subroutine fill_block

  subroutine exchange_halos()
    type(MPI_Request) :: requests(8)
    integer :: n
    n = cells
    call MPI_Irecv(values(0, 1), 1, row_type, neighbours(low, 1), 1, grid, requests(1))
    call MPI_Irecv(values(n + 1, 1), 1, row_type, neighbours(high, 1), 0, grid, requests(2))
    call MPI_Irecv(values(1, 0), n, MPI_DOUBLE_PRECISION, neighbours(low, 2), 3, grid, requests(3))
    call MPI_Irecv(values(1, n + 1), n, MPI_DOUBLE_PRECISION, neighbours(high, 2), 2, grid, requests(4))
    call MPI_Isend(values(1, 1), 1, row_type, neighbours(low, 1), 0, grid, requests(5))
    call MPI_Isend(values(n, 1), 1, row_type, neighbours(high, 1), 1, grid, requests(6))
    call MPI_Isend(values(1, 1), n, MPI_DOUBLE_PRECISION, neighbours(low, 2), 2, grid, requests(7))
    call MPI_Isend(values(1, n), n, MPI_DOUBLE_PRECISION, neighbours(high, 2), 3, grid, requests(8))
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
  end subroutine exchange_halos

  subroutine check_halos()
    integer :: k
    do k = 1, cells
      call check_cell(0, k)
      call check_cell(cells + 1, k)
      call check_cell(k, 0)
      call check_cell(k, cells + 1)
    end do
  end subroutine check_halos

  subroutine check_cell(i, j)
    integer, intent(in) :: i, j
    character(len=160) :: text
    if (values(i, j) == expected_value(i, j)) return
    write (text, '(a, i0, a, i0, a, i0, a, i0, a, f0.0, a, f0.0)') 'stencil_f08: rank ', rank, ': iteration ', &
      iteration, ', halo cell ', i, ' ', j, ': expected ', expected_value(i, j), ', found ', values(i, j)
    call stop_run(trim(text))
  end subroutine check_cell
end program stencil
