# What a simulation found.
target_sources(ranktree_io PRIVATE ${CMAKE_CURRENT_LIST_DIR}/simulation_report.cpp)
