! A user of the installed module for one MPI: splits MPI_COMM_WORLD by the machine; prints on how many ranks a part's index
! is below the number of parts, or there is no part.
program user_mpi
  use mpi_f08
  use ranktree
  implicit none
  type(MPI_Comm) :: part
  character(len=RANKTREE_MAX_TYPE) :: type_name
  integer :: rank, ranks, parts, index, length, right, all_right

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, part)
  right = 1
  if (part /= MPI_COMM_NULL) then
    call ranktree_Comm_get_hlevel_info(part, parts, index, type_name, length)
    right = merge(1, 0, index >= 0 .and. index < parts .and. len_trim(type_name) == length)
    call MPI_Comm_free(part)
  end if
  call MPI_Reduce(right, all_right, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a, i0)', all_right, ' of ', ranks
  call MPI_Finalize()
end program user_mpi
