# Parameters of the cost models, rules of collectives, and the lines that MPI programs print.
target_sources(
  ranktree_io
  PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/decisions_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/json_object.cpp
    ${CMAKE_CURRENT_LIST_DIR}/open_mpi_rules.cpp
    ${CMAKE_CURRENT_LIST_DIR}/parameters_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/rules_file.cpp
)
