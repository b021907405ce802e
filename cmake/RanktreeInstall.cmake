# Links of an installation, and folders of libraries.

# A symbolic link at `path` below the prefix that leads to `target`.
function(ranktree_install_link target path)
  cmake_path(GET path PARENT_PATH folder)
  install(
    CODE
      "set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
file(MAKE_DIRECTORY \"\${prefix}/${folder}\")
message(STATUS \"Link: \${prefix}/${path}\")
file(CREATE_LINK ${target} \"\${prefix}/${path}\" SYMBOLIC)"
    COMPONENT python
  )
endfunction()

# What links `target` finds these libraries when it runs, where the loader does not search their folders.
function(ranktree_add_run_path target)
  if(RANKTREE_PORTABLE)
    return()
  endif()
  foreach(library IN LISTS ARGN)
    cmake_path(GET library PARENT_PATH folder)
    if(IS_ABSOLUTE "${folder}" AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:-Wl,-rpath,${folder}>)
    endif()
  endforeach()
endfunction()
