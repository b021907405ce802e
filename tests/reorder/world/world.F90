! MPI_COMM_WORLD in Fortran: mpif.h (BINDING 1), the module mpi (2), the module mpi_f08 (3).
#if BINDING == 3
#define COMM type(MPI_Comm)
#define GROUP type(MPI_Group)
#define REQUEST type(MPI_Request)
#define HANDLER type(MPI_Errhandler)
#define FILE type(MPI_File)
#define WIN type(MPI_Win)
#define TYPE type(MPI_Datatype)
#else
#define COMM integer
#define GROUP integer
#define REQUEST integer
#define HANDLER integer
#define FILE integer
#define WIN integer
#define TYPE integer
#endif

program world
#include "binding.inc"
  integer :: rank, ranks, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call messages()
  call collectives()
  call communicators()
  call attributes()
  call errors()
  call windows()
  call files()
  flush (6)
  call MPI_Finalize(error)

contains

  subroutine report(what, value)
    character(*), intent(in) :: what
    integer, intent(in) :: value
    write (*, '(i0,1x,a,1x,i0)') rank, what, value
  end subroutine

  subroutine messages()
    integer :: out(2), in(2), next, before
    REQUEST :: requests(2)
    next = mod(rank + 1, ranks)
    before = mod(rank + ranks - 1, ranks)
    out = [10 * rank, 10 * rank + 1]
    call MPI_Irecv(in, 2, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 2, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call MPI_Sendrecv_replace(out, 2, MPI_INTEGER, before, 2, next, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call report('received', in(1) + in(2))
    call report('exchanged', out(1) + out(2))
    call MPI_Send_init(rank, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(1), error)
    call MPI_Start(requests(1), error)
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Request_free(requests(1), error)
    call report('persistent', in(1))
  end subroutine

  subroutine collectives()
    integer :: value, total, all(64), mine(64), root
    do root = 0, ranks - 1
      value = 100 * rank + root
      call MPI_Bcast(value, 1, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      call report('broadcast', value)
    end do
    call MPI_Scan(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call report('scan', total)
    value = rank
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call report('sum', value)
    call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call report('second', all(min(2, ranks)))
    mine = 0
    mine(1:ranks) = 10 * rank + all(1:ranks)
    call MPI_Alltoall(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call report('from last', all(ranks))
    call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    if (rank == ranks - 1) call report('gathered', all(1) + 2 * all(ranks))
  end subroutine

  subroutine communicators()
    COMM :: half, grid
    GROUP :: inner_group
    integer :: inner, same, sizes(1), at(1), source, destination, lowest(1), mapped(1), length
    logical :: periods(1)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
    call MPI_Comm_rank(half, inner, error)
    call report('half', inner)
    call MPI_Comm_group(half, inner_group, error)
    call MPI_Comm_free(half, error)
    block
      GROUP :: all
      call MPI_Comm_group(MPI_COMM_WORLD, all, error)
      lowest = [mod(rank, 2)]
      call MPI_Group_translate_ranks(all, 1, lowest, inner_group, mapped, error)
      call report('translated', mapped(1))
      call MPI_Group_free(all, error)
    end block
    call MPI_Group_free(inner_group, error)
    sizes = [ranks]
    periods = [.true.]
    call MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, .false., grid, error)
    call MPI_Cart_coords(grid, rank, 1, at, error)
    call MPI_Cart_shift(grid, 0, 1, source, destination, error)
    call report('at', at(1))
    call report('to', destination)
    call MPI_Comm_compare(grid, MPI_COMM_WORLD, same, error)
    call report('congruent', merge(1, 0, same == MPI_CONGRUENT))
    call MPI_Comm_free(grid, error)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, error)
    write (*, '(i0,1x,a)') rank, name(1:length)
  end subroutine

  subroutine attributes()
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: key
    logical :: found
    COMM :: copy
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, error)
    call report('tag known', merge(1, 0, found .and. value > 30000))
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, found, error)
    call report('application', merge(1, 0, found))
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
    call report('not yet', merge(1, 0, found))
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 40_MPI_ADDRESS_KIND + rank, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
    call report('attribute', merge(int(value), -1, found))
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
    call MPI_Comm_get_attr(copy, key, value, found, error)
    call report('copied', merge(int(value), -1, found))
    call MPI_Comm_free(copy, error)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
    call report('gone', merge(1, 0, found))
    call MPI_Comm_free_keyval(key, error)
  end subroutine

  subroutine errors()
    HANDLER :: handler
    integer :: code, class, datum
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler, error)
    call report('returned', merge(1, 0, handler == MPI_ERRORS_RETURN))
    datum = 0
    call MPI_Send(datum, 1, MPI_INTEGER, ranks, 1, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class, error)
    call report('no such rank', merge(1, 0, class == MPI_ERR_RANK))
  end subroutine

  subroutine windows()
    WIN :: window
    integer :: cell(1), value
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    cell = -1
    value = rank
    bytes = 4
    call MPI_Win_create(cell, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
    call MPI_Win_fence(0, window, error)
    call MPI_Put(value, 1, MPI_INTEGER, mod(rank + 1, ranks), 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, error)
    call MPI_Win_fence(0, window, error)
    call report('put', cell(1))
    call MPI_Win_free(window, error)
  end subroutine

  subroutine files()
    FILE :: file_handle
    integer :: all(64)
    character(len=1000) :: name
    integer(kind=MPI_OFFSET_KIND) :: at
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file_handle, error)
    at = 4 * rank
    call MPI_File_write_at_all(file_handle, at, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_sync(file_handle, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    at = 0
    call MPI_File_read_at_all(file_handle, at, all, ranks, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call report('file', sum(all(1:ranks)) + 1000 * all(ranks))
    call MPI_File_close(file_handle, error)
  end subroutine
end program
