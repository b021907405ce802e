# Where compiler wrappers are looked for when RANKTREE_MPIS names none.

# Debian's own come first, so that they keep their names whatever /usr/bin/mpicc is a link to.
set(RANKTREE_MPICC_OF_DEBIAN mpicc.openmpi mpicc.mpich)
set(RANKTREE_MPICC_NAMES mpicc mpiicx mpiicc mpicc_abi)

# The folders that MPI_HOME, I_MPI_ROOT and CMAKE_PREFIX_PATH name, then those of PATH; each once.
function(ranktree_mpi_folders variable)
  cmake_path(CONVERT "$ENV{CMAKE_PREFIX_PATH}" TO_CMAKE_PATH_LIST prefixes)
  set(
    prefixes
    ${MPI_HOME}
    $ENV{MPI_HOME}
    $ENV{I_MPI_ROOT}
    ${CMAKE_PREFIX_PATH}
    ${prefixes}
  )
  list(TRANSFORM prefixes APPEND /bin)
  cmake_path(CONVERT "$ENV{PATH}" TO_CMAKE_PATH_LIST path)
  set(folders ${prefixes} ${path})
  list(FILTER folders INCLUDE REGEX "^/")
  list(REMOVE_DUPLICATES folders)
  set(${variable} "${folders}" PARENT_SCOPE)
endfunction()

# ranktree_search_mpis(): sets in the caller's scope
#   search_names      the names looked for
#   search_folders    the folders looked in
#   search_wrappers   the files of those names that are there
function(ranktree_search_mpis)
  ranktree_mpi_folders(folders)
  set(names ${RANKTREE_MPICC_NAMES})
  # Cray's compiler driver is an MPI wrapper; any other cc is not.
  if(DEFINED ENV{CRAYPE_VERSION} OR DEFINED ENV{CRAY_MPICH_DIR})
    list(APPEND names cc)
  endif()
  set(paths "")
  foreach(name IN LISTS RANKTREE_MPICC_OF_DEBIAN)
    list(TRANSFORM folders APPEND /${name} OUTPUT_VARIABLE here)
    list(APPEND paths ${here})
  endforeach()
  foreach(folder IN LISTS folders)
    list(TRANSFORM names PREPEND ${folder}/ OUTPUT_VARIABLE here)
    list(APPEND paths ${here})
  endforeach()
  set(wrappers "")
  foreach(path IN LISTS paths)
    if(EXISTS ${path} AND NOT IS_DIRECTORY ${path})
      list(APPEND wrappers ${path})
    endif()
  endforeach()
  set(search_names ${RANKTREE_MPICC_OF_DEBIAN} ${names} PARENT_SCOPE)
  set(search_folders ${folders} PARENT_SCOPE)
  set(search_wrappers ${wrappers} PARENT_SCOPE)
endfunction()
