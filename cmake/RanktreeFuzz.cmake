# ranktree_fuzz(<reader> LIBS <target...>): the libFuzzer target fuzz_<reader> from fuzz/<reader>.cpp, with the libraries
# it reaches instrumented as well. Seeds: fuzz/seeds/<reader>/.
foreach(library IN ITEMS ranktree_core ranktree_io ranktree_network ranktree_hw)
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()
set_property(GLOBAL PROPERTY RANKTREE_FUZZERS "")

function(ranktree_fuzz reader)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "" "LIBS")
  add_executable(fuzz_${reader} ${reader}.cpp)
  target_compile_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${reader} PRIVATE ${T_LIBS} ranktree_options)
  set_property(GLOBAL APPEND PROPERTY RANKTREE_FUZZERS fuzz_${reader})
endfunction()
