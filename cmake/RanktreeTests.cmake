# ranktree_test(<name> SOURCES <file...> LIBS <target...> [TIMEOUT seconds] [SHARDS count])
#
# One GoogleTest executable without MPI, one ctest entry, or <name>_0, <name>_1, ... with a share of its tests each, for
# what would be the last to end. Every entry has a TIMEOUT: a hang is a failure.
function(ranktree_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "TIMEOUT;SHARDS" "SOURCES;LIBS")
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(NOT T_SHARDS)
    set(T_SHARDS 1)
  endif()
  add_executable(test_${name} ${T_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${T_LIBS} GTest::gtest_main ranktree_options)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  ranktree_compile_together(test_${name})
  target_compile_definitions(test_${name} PRIVATE RANKTREE_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data")
  math(EXPR last "${T_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(entry ${name})
    if(T_SHARDS GREATER 1)
      string(APPEND entry _${shard})
    endif()
    add_test(NAME ${entry} COMMAND test_${name})
    set(environment GTEST_TOTAL_SHARDS=${T_SHARDS} GTEST_SHARD_INDEX=${shard})
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${T_TIMEOUT} ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# ranktree_mpi_command(<variable> <mpi> <ranks>): the launcher of one MPI, oversubscription allowed, ranks yielding.
function(ranktree_mpi_command variable mpi ranks)
  set(launch ${RANKTREE_MPIEXEC_${mpi}})
  if(RANKTREE_MPI_FAMILY_${mpi} STREQUAL "openmpi")
    set(as_root OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    set(
      launch
      ${CMAKE_COMMAND}
      -E
      env
      ${as_root}
      ${launch}
      --oversubscribe
      --bind-to
      none
    )
    list(APPEND launch --mca mpi_yield_when_idle 1)
  elseif(RANKTREE_MPI_FAMILY_${mpi} STREQUAL "intel")
    set(
      launch
      ${CMAKE_COMMAND}
      -E
      env
      I_MPI_PIN=0
      ${launch}
    )
  endif()
  set(${variable} ${launch} -n ${ranks} PARENT_SCOPE)
endfunction()
