target_sources(ranktree_io PRIVATE file.cpp)
