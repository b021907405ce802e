# Links of an installation.

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
