# What a program needs of an MPI in order to use ranktree/mpi.h: for the installed CMake package and for pkg-config.

# ranktree_mpi_usage(<mpi> <variable>): CMake code that gives the imported target ranktree::mpi_<mpi> the include folders,
# definitions and libraries of its MPI.
function(ranktree_mpi_usage mpi variable)
  set(code "")
  foreach(property IN ITEMS INTERFACE_COMPILE_DEFINITIONS INTERFACE_LINK_DIRECTORIES INTERFACE_LINK_OPTIONS)
    get_target_property(values ranktree_mpi_${mpi} ${property})
    if(values)
      string(APPEND code "set_property(TARGET ranktree::mpi_${mpi} APPEND PROPERTY ${property} \"${values}\")\n")
    endif()
  endforeach()
  get_target_property(folders ranktree_mpi_${mpi} INTERFACE_INCLUDE_DIRECTORIES)
  if(folders)
    string(APPEND code "target_include_directories(ranktree::mpi_${mpi} SYSTEM INTERFACE \"${folders}\")\n")
  endif()
  get_target_property(libraries ranktree_mpi_${mpi} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    string(APPEND code "target_link_libraries(ranktree::mpi_${mpi} INTERFACE \"${libraries}\")\n")
  endif()
  set(${variable} "${code}" PARENT_SCOPE)
endfunction()

# ranktree_mpi_flags(<mpi> <cflags> <libs>): the same as words for a compiler.
function(ranktree_mpi_flags mpi cflags libs)
  get_target_property(folders ranktree_mpi_${mpi} INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(definitions ranktree_mpi_${mpi} INTERFACE_COMPILE_DEFINITIONS)
  get_target_property(link_folders ranktree_mpi_${mpi} INTERFACE_LINK_DIRECTORIES)
  get_target_property(link_options ranktree_mpi_${mpi} INTERFACE_LINK_OPTIONS)
  get_target_property(libraries ranktree_mpi_${mpi} INTERFACE_LINK_LIBRARIES)
  foreach(
    list
    IN
    ITEMS folders definitions link_folders link_options libraries
  )
    if(NOT ${list})
      set(${list} "")
    endif()
  endforeach()
  list(TRANSFORM folders PREPEND -I)
  list(TRANSFORM definitions PREPEND -D)
  list(TRANSFORM link_folders PREPEND -L)
  list(TRANSFORM link_options REPLACE "^LINKER:" "-Wl,")
  list(TRANSFORM libraries PREPEND -l)
  list(JOIN folders " " folders)
  list(JOIN definitions " " definitions)
  string(JOIN " " words ${link_folders} ${link_options} ${libraries})
  set(${cflags} "${folders} ${definitions}" PARENT_SCOPE)
  set(${libs} "${words}" PARENT_SCOPE)
endfunction()
