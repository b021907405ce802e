! `random_fortran SEED STEPS`: a random program like that of main.c, smaller, in Fortran: communicators by dup, split and grid,
! collectives in both forms, in place, and messages around a ring. It prints the same line; a wrong result ends all ranks.
! BINDING: 1 mpif.h, 2 mpi, 3 mpi_f08.
#include "handles.inc"
#if BINDING == 3
#define REQUEST type(MPI_Request)
#else
#define REQUEST integer
#endif
program random_fortran
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
#include "binding.inc"
  integer, parameter :: most = 6, longest = 4000, modulus = 1000003
  integer :: rank, ranks, error, step, steps, size, me, results = 0
  integer :: members(most)
  integer(int64) :: seed, state
  integer, asynchronous :: sent(longest*most), received(longest*most)
  character(len=32) :: word
  COMM :: comm

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, word)
  read (word, *) seed
  call get_command_argument(2, word)
  read (word, *) steps
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call learn()
  do step = 1, steps
    state = modulo(seed*7919_int64 + step*104729_int64, 2147483647_int64)
    select case (draw(8))
    case (0)
      call change()
    case (1:5)
      call collective(draw(5), draw(longest), draw(size), draw(2) == 0)
    case default
      call message(draw(longest), draw(size))
    end select
    if (step == 1 .and. rank == 0) write (error_unit, '(a)') 'running'
  end do
  call MPI_Comm_free(comm, error)
  if (rank == 0) print '(a, i0, a, i0)', 'grown 0 KiB, ', results, ' results are right, program ', state
  flush (6)
  call MPI_Finalize(error)

contains

#include "expect.inc"

  ! The same on all ranks: 0..bound - 1, of Lehmer's generator (minstd), whose lowest digits are poor.
  integer function draw(bound)
    integer, intent(in) :: bound
    state = modulo(48271*state + 11, 2147483647_int64)
    draw = int(modulo(state/1024, int(bound, int64)))
  end function draw

  elemental integer function number(member, place)
    integer, intent(in) :: member, place
    number = int(modulo((member + 1)*15485863_int64 + place*32452843_int64 + step*49979687_int64, int(modulus, int64)))
  end function number

  subroutine fill(numbers, member, first, count)
    integer, intent(out) :: numbers(:)
    integer, intent(in) :: member, first, count
    integer :: place
    do place = 1, count
      numbers(place) = number(member, first + place)
    end do
  end subroutine fill

  subroutine check(numbers, member, first, count, what)
    integer, intent(in) :: numbers(:), member, first, count
    character(len=*), intent(in) :: what
    integer :: place
    do place = 1, count
      call expect(numbers(place) == number(member, first + place), what)
    end do
    results = results + 1
  end subroutine check

  subroutine learn()
    integer :: gathered(most)
    call MPI_Comm_size(comm, size, error)
    call MPI_Comm_rank(comm, me, error)
    call MPI_Allgather(rank, 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, comm, error)
    members(:size) = gathered(:size)
    call expect(members(me + 1) == rank, 'its own rank among the members')
  end subroutine learn

  ! Another communicator of all ranks in place of the one before; a split makes halves, whose sums are checked.
  subroutine change()
    COMM :: made, half
    integer :: total, key, member
    key = draw(2)
    select case (draw(3))
    case (0)
      call MPI_Comm_dup(comm, made, error)
    case (1)
      call MPI_Comm_split(comm, 0, merge(-me, me, key == 0), made, error)
    case default
      call MPI_Cart_create(comm, 1, [size], [.true.], .true., made, error)
    end select
    call MPI_Comm_split(comm, modulo(rank, 2), me, half, error)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, half, error)
    call expect(total == sum([(member, member=modulo(rank, 2), ranks - 1, 2)]), 'the sum of a half')
    call MPI_Comm_free(half, error)
    call MPI_Comm_free(comm, error)
    comm = made
    call learn()
  end subroutine change

  subroutine collective(which, count, root, later)
    integer, intent(in) :: which, count, root
    logical, intent(in) :: later
    REQUEST :: request
    integer :: i
    call fill(sent, rank, 0, count*size)
    received = -1
    if (which == 0 .and. me == root .or. which == 4) received(:count) = sent(:count)
    if (later) then
      select case (which)
      case (0)
        call MPI_Ibcast(received, count, MPI_INTEGER, root, comm, request, error)
      case (1)
        call MPI_Igather(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, root, comm, request, error)
      case (2)
        call MPI_Ialltoall(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, comm, request, error)
      case (3)
        call MPI_Ireduce(sent, received, count, MPI_INTEGER, MPI_SUM, root, comm, request, error)
      case default
        call MPI_Iallreduce(MPI_IN_PLACE, received, count, MPI_INTEGER, MPI_MAX, comm, request, error)
      end select
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    else
      select case (which)
      case (0)
        call MPI_Bcast(received, count, MPI_INTEGER, root, comm, error)
      case (1)
        call MPI_Gather(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, root, comm, error)
      case (2)
        call MPI_Alltoall(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, comm, error)
      case (3)
        call MPI_Reduce(sent, received, count, MPI_INTEGER, MPI_SUM, root, comm, error)
      case default
        call MPI_Allreduce(MPI_IN_PLACE, received, count, MPI_INTEGER, MPI_MAX, comm, error)
      end select
    end if
    if (which == 0) call check(received, members(root + 1), 0, count, 'the broadcast numbers')
    do i = 0, size - 1
      if (which == 1 .and. me == root) call check(received(i*count + 1:), members(i + 1), 0, count, 'gathered numbers')
      if (which == 2) call check(received(i*count + 1:), members(i + 1), me*count, count, 'exchanged numbers')
    end do
    if (which == 4 .or. which == 3 .and. me == root) call check_reduced(which == 3, count)
    call expect(all(received(count*size + 1:) == -1), 'nothing behind the result')
    call check(sent, rank, 0, count*size, 'its own numbers as they were')
  end subroutine collective

  subroutine check_reduced(adds, count)
    logical, intent(in) :: adds
    integer, intent(in) :: count
    integer :: place
    do place = 1, count
      call expect(received(place) == merge(sum(number(members(:size), place)), &
        maxval(number(members(:size), place)), adds), 'reduced numbers')
    end do
    results = results + 1
  end subroutine check_reduced

  subroutine message(count, distance)
    integer, intent(in) :: count, distance
    integer :: to, from
    to = modulo(me + distance, size)
    from = modulo(me - distance, size)
    call fill(sent, rank, 0, count)
    call MPI_Sendrecv(sent, count, MPI_INTEGER, to, 7, received, count, MPI_INTEGER, from, 7, comm, &
      MPI_STATUS_IGNORE, error)
    call check(received, members(from + 1), 0, count, 'the numbers of the rank before')
  end subroutine message

end program random_fortran
