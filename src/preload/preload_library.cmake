# What every library for LD_PRELOAD has in common.
set(RANKTREE_PRELOAD_FOLDER ${CMAKE_CURRENT_LIST_DIR})
# Where src/preload/CMakeLists.txt, which includes this, puts preload_has.h and preload_exports.h of each MPI.
set(RANKTREE_PRELOAD_DECLARED ${CMAKE_CURRENT_BINARY_DIR})

# ranktree_preload_library(<target> <mpi>) for a shared library made before, whose exports.map lies beside the caller:
# the common sources, options of compiling and linking, and where it is installed.
function(ranktree_preload_library target mpi)
  # All but the generated wrappers: a call that is passed through takes 12 instructions more where they are with others.
  ranktree_compile_together(${target})
  get_target_property(wrappers ${target} SOURCES)
  list(FILTER wrappers INCLUDE REGEX "generated/")
  set_source_files_properties(${wrappers} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${RANKTREE_PRELOAD_FOLDER}/calls_library.cpp ${RANKTREE_PRELOAD_FOLDER}/next.cpp)
  target_compile_definitions(
    ${target}
    PRIVATE RANKTREE_CALLS_LIBRARY="$<TARGET_SONAME_FILE_NAME:ranktree_mpi_c_${mpi}>"
  )
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${RANKTREE_PRELOAD_DECLARED}/${mpi})
  target_compile_options(${target} PRIVATE -fno-semantic-interposition -fno-plt)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ranktree_mpi_${mpi}> $<BUILD_INTERFACE:ranktree_options>)
  # Nothing of ours but the MPI calls may be seen by the program, nor its C++ library be replaced by ours.
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  target_link_options(
    ${target}
    PRIVATE -static-libstdc++ -static-libgcc -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL -Wl,-z,defs
  )
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exports})
  install(TARGETS ${target} LIBRARY DESTINATION ${RANKTREE_PRIVATE_DIR} COMPONENT python)
endfunction()
