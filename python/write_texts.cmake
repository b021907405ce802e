# Man pages and completions of `command`, into the folder `output`.
file(REMOVE_RECURSE ${output})
file(MAKE_DIRECTORY ${output})
execute_process(COMMAND ${command} manual -o ${output}/man1 OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(shell IN ITEMS bash zsh fish)
  execute_process(COMMAND ${command} completion ${shell} OUTPUT_FILE ${output}/${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
