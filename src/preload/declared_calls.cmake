# ranktree_declared_calls(<mpi> <header>): writes `header` with "#define RANKTREE_HAS_MPI_X 1" for every function that the
# mpi.h of this MPI declares, found by one run of its preprocessor. The wrappers of the others are left out.
function(ranktree_declared_calls mpi header)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/include_mpi.c)
  file(WRITE ${source} "#include <mpi.h>\n")
  execute_process(COMMAND ${RANKTREE_MPICC_${mpi}} -E -P ${source} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[ *\n]MPI_[A-Z][A-Za-z0-9_]*[ \n]*\\(" declarations "${text}")
  list(TRANSFORM declarations REPLACE "[^A-Za-z0-9_]" "")
  list(REMOVE_DUPLICATES declarations)
  list(SORT declarations)
  list(LENGTH declarations count)
  if(count LESS 300)
    message(FATAL_ERROR "${RANKTREE_MPICC_${mpi}}: only ${count} functions found in its mpi.h")
  endif()
  list(TRANSFORM declarations REPLACE "(.+)" "#define RANKTREE_HAS_\\1 1")
  list(JOIN declarations "\n" lines)
  file(CONFIGURE OUTPUT ${header} CONTENT "#pragma once\n${lines}\n")
  message(STATUS "MPI ${mpi}: ${count} functions declared")
endfunction()

# ranktree_exported_calls(<mpi> <header>): writes `header` with "#define RANKTREE_EXPORTS_MPI_X 1" for every function that
# the libraries of this MPI define, and "RANKTREE_EXPORTS_PMPI_X" for those of profiling, whether its mpi.h declares it or
# not (MPI_Errhandler_set, MPIX_Comm_revoke). A program that looks a call up finds no wrapper of one that its MPI lacks.
function(ranktree_exported_calls mpi header)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/exports_${mpi})
  file(WRITE ${program}.c "#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
  execute_process(
    COMMAND ${RANKTREE_MPICC_${mpi}} ${program}.c -o ${program} -Wl,--trace
    OUTPUT_VARIABLE text
    COMMAND_ERROR_IS_FATAL ANY
  )
  string(REGEX MATCHALL "[^ ()\n]*/libmpi[^ ()\n]*" libraries "${text}")
  list(REMOVE_DUPLICATES libraries)
  # libmpi.so may be a linker script, which nm cannot read; the library that it names is in the list as well.
  execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${libraries} OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL " P?MPIX?_[A-Z][A-Za-z0-9_]*" names "${text}")
  list(REMOVE_DUPLICATES names)
  list(LENGTH names count)
  if(count LESS 300)
    message(FATAL_ERROR "${RANKTREE_MPICC_${mpi}}: only ${count} functions found in its libraries (${libraries})")
  endif()
  list(SORT names)
  list(TRANSFORM names REPLACE " (.+)" "#define RANKTREE_EXPORTS_\\1 1")
  list(JOIN names "\n" lines)
  file(CONFIGURE OUTPUT ${header} CONTENT "#pragma once\n${lines}\n")
endfunction()
