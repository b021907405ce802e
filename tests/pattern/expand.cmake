# Collective calls expanded to pairs: by hand, and against the messages of Open MPI in recorded runs.
find_package(ZLIB REQUIRED)
ranktree_test(expand SOURCES expand_test.cpp LIBS ranktree_core)
ranktree_test(
  expand_real
  SOURCES expand_real_test.cpp recorded_case.cpp
  LIBS ranktree_core ZLIB::ZLIB
  TIMEOUT 300
)
# The messages of single calls by a model, for test_expand.py, which makes the same calls with the MPI itself.
add_executable(expand_print expand_print.cpp)
target_link_libraries(expand_print PRIVATE ranktree_core ranktree_options)
