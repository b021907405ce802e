# Programs in Fortran that use our modules, as a user builds them: by the MPI's compiler wrapper, together with the
# module's source (module files fit one compiler only).

# ranktree_fortran_program(<name> <mpi> <source> [NO_F08] [OPTIONS ...] [INCLUDES ...]): bin/<name>_<mpi>, from <source>,
# the files that it includes, and the module ranktree; NO_F08: the module ranktree_mpif, for MPIs without mpi_f08.
function(ranktree_fortran_program name mpi source)
  cmake_parse_arguments(PARSE_ARGV 3 arg "NO_F08" "" "OPTIONS;INCLUDES")
  set(modules ${PROJECT_SOURCE_DIR}/include/ranktree)
  set(module ${modules}/ranktree.f90)
  set(compiler ${RANKTREE_MPIFORT_${mpi}})
  if(arg_NO_F08)
    set(module ${modules}/ranktree_mpif.f90)
    set(compiler ${RANKTREE_MPIF77_${mpi}})
  endif()
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(target ${name}_${mpi})
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target})
  # Module files of two programs must not share a folder.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.modules)
  file(MAKE_DIRECTORY ${folder} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_custom_command(
    OUTPUT ${program}
    COMMAND
      ${compiler} -O2 -g -Wall ${arg_OPTIONS} -o ${program} ${module} ${source}
      -L$<TARGET_FILE_DIR:ranktree_mpi_c_${mpi}> -Wl,-rpath,$<TARGET_FILE_DIR:ranktree_mpi_c_${mpi}>
      -lranktree_mpi_${mpi}
    DEPENDS
      ${modules}/ranktree.f90
      ${modules}/ranktree_collect.f90
      ${modules}/ranktree_collect_f08.f90
      ${modules}/ranktree_collect_mpif.f90
      ${modules}/ranktree_mpif.f90
      ${modules}/ranktree_reorder.f90
      ${source}
      ${arg_INCLUDES}
      ranktree_mpi_c_${mpi}
    WORKING_DIRECTORY ${folder}
    COMMENT "Building the Fortran program ${target}"
    VERBATIM
  )
  add_custom_target(${target} ALL DEPENDS ${program})
endfunction()

# ranktree_fortran_bindings(<name> <mpi> <source>): bin/<name>_{mpif,usempi,f08}_<mpi>, those that the MPI can have, from a
# test's <source> that includes tests/fortran/*.inc.
function(ranktree_fortran_bindings name mpi source)
  file(GLOB includes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fortran/*.inc)
  set(number 0)
  foreach(binding IN ITEMS mpif usempi f08)
    math(EXPR number "${number} + 1")
    set(options OPTIONS -DBINDING=${number})
    if(NOT RANKTREE_MPIFORT_${mpi})
      if(NOT RANKTREE_MPIF77_${mpi} OR binding STREQUAL "f08")
        continue()
      endif()
      set(options NO_F08 ${options} -DNO_F08)
    endif()
    ranktree_fortran_program(${name}_${binding} ${mpi} ${source} ${options} INCLUDES ${includes})
  endforeach()
endfunction()
