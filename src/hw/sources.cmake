target_sources(ranktree_hw PRIVATE machine.cpp)
