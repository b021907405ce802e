# PREFIX/bin/ranktree, the package it runs, its man pages and completions, and the examples.
install(DIRECTORY ranktree/ DESTINATION ${package_dir} COMPONENT python PATTERN __pycache__ EXCLUDE)
ranktree_install_link(../.. ${package_dir}/lib)

file(RELATIVE_PATH RANKTREE_BIN_TO_PRIVATE /${CMAKE_INSTALL_BINDIR} /${RANKTREE_PRIVATE_DIR})
configure_file(ranktree_installed.in ${CMAKE_CURRENT_BINARY_DIR}/installed/ranktree @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/ranktree DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT python)

# Written by the command itself, from the texts of --help.
set(texts ${CMAKE_CURRENT_BINARY_DIR}/texts)
install(
  CODE
    "execute_process(
  COMMAND \"${CMAKE_COMMAND}\" \"-Dcommand=${CMAKE_BINARY_DIR}/bin/ranktree\" \"-Doutput=${texts}\"
    -P \"${CMAKE_CURRENT_SOURCE_DIR}/write_texts.cmake\"
  COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT python
)
install(DIRECTORY ${texts}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT python)
install(
  FILES ${texts}/bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME ranktree
  COMPONENT python
)
install(FILES ${texts}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _ranktree COMPONENT python)
install(
  FILES ${texts}/fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  RENAME ranktree.fish
  COMPONENT python
)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT python)
