# ranktree_test(<name> SOURCES <file...> LIBS <target...> [TIMEOUT seconds])
#
# One GoogleTest executable without MPI, one ctest entry. Every entry has a TIMEOUT: a hang is a failure.
function(ranktree_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "TIMEOUT" "SOURCES;LIBS")
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${T_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${T_LIBS} GTest::gtest_main ranktree_options)
  target_compile_definitions(test_${name} PRIVATE RANKTREE_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
endfunction()

# ranktree_mpi_command(<variable> <mpi> <ranks>): the launcher of one MPI, oversubscription allowed, ranks yielding.
function(ranktree_mpi_command variable mpi ranks)
  if(RANKTREE_MPI_FAMILY_${mpi} STREQUAL "openmpi")
    set(
      ${variable}
      ${CMAKE_COMMAND}
      -E
      env
      OMPI_ALLOW_RUN_AS_ROOT=1
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      ${RANKTREE_MPIEXEC_${mpi}}
      --oversubscribe
      --bind-to
      none
      --mca
      mpi_yield_when_idle
      1
      -n
      ${ranks}
      PARENT_SCOPE
    )
  else()
    set(${variable} ${RANKTREE_MPIEXEC_${mpi}} -n ${ranks} PARENT_SCOPE)
  endif()
endfunction()
