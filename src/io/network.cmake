# Networks of switches. A library of its own: only programs that read a network need libyaml.
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED yaml-0.1)
add_library(
  ranktree_network
  STATIC
  ${CMAKE_CURRENT_LIST_DIR}/hostlist.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ibnetdiscover.cpp
  ${CMAKE_CURRENT_LIST_DIR}/network.cpp
  ${CMAKE_CURRENT_LIST_DIR}/network_tree.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slurm_topology.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slurm_yaml.cpp
)
target_include_directories(ranktree_network SYSTEM PRIVATE ${YAML_INCLUDE_DIRS})
# As needed: only programs that use the library above get libyaml as a dependency.
target_link_libraries(
  ranktree_network
  PUBLIC ranktree_io ranktree_core
  PRIVATE "-Wl,--push-state,--as-needed,${YAML_LINK_LIBRARIES},--pop-state" $<BUILD_INTERFACE:ranktree_options>
)
ranktree_add_run_path(ranktree_network ${YAML_LINK_LIBRARIES})
