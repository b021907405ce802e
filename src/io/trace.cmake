# Traces: the parts that ranks write while they run, and the records read from them.
target_sources(
  ranktree_io
  PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/trace_phases.cpp
    ${CMAKE_CURRENT_LIST_DIR}/trace_records.cpp
    ${CMAKE_CURRENT_LIST_DIR}/trace_parts.cpp
)
