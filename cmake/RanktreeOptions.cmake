# -g1 has functions and lines, which backtraces and profilers need; all of -g takes a third of the time to compile.
# CMAKE_BUILD_TYPE=Debug has all of it.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)

# ranktree_options: warnings and sanitizers for our own targets, never for the programs that use the libraries.
add_library(ranktree_options INTERFACE)
target_compile_options(ranktree_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(RANKTREE_SANITIZE)
  target_compile_options(
    ranktree_options
    INTERFACE -fsanitize=${RANKTREE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
  )
  if(RANKTREE_SANITIZE MATCHES "address" AND RANKTREE_SANITIZE MATCHES "undefined")
    # ASan sees such pointers used; to look for them as well takes a quarter of the time to compile.
    target_compile_options(ranktree_options INTERFACE -fno-sanitize=null,object-size)
  endif()
  target_link_options(ranktree_options INTERFACE -fsanitize=${RANKTREE_SANITIZE})
endif()

# What a package for other machines needs (packaging/wheel.sh). hwloc and libyaml come from their archives, and their
# names stay hidden: an MPI brings a hwloc of its own, of another version, and the two must not mix.
if(RANKTREE_PORTABLE)
  add_link_options(-static-libstdc++ -static-libgcc LINKER:--exclude-libs,ALL)
endif()

# ranktree_compile_together(<target>): several sources at a time, which takes less time from nothing.
function(ranktree_compile_together target)
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()
