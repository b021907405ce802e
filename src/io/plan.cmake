# Plans, and what launchers need to follow one.
target_sources(
  ranktree_io
  PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/plan_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/launch_command.cpp
    ${CMAKE_CURRENT_LIST_DIR}/launch_wrapper.cpp
    ${CMAKE_CURRENT_LIST_DIR}/launchers.cpp
)
