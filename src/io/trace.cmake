# What traces are made of: the parts that ranks write while they run, and what becomes of them.
target_sources(
  ranktree_io
  PRIVATE ${CMAKE_CURRENT_LIST_DIR}/trace_records.cpp ${CMAKE_CURRENT_LIST_DIR}/trace_parts.cpp
)
