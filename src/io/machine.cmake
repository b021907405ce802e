# Machine files, and the strict JSON reader.
target_sources(
  ranktree_io
  PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/interconnect_json.cpp
    ${CMAKE_CURRENT_LIST_DIR}/json_place.cpp
    ${CMAKE_CURRENT_LIST_DIR}/machine_file.cpp
)
