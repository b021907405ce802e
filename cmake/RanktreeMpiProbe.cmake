# What a compiler wrapper compiles for, by its mpi.h and by the options that it adds.

# One line a kind of MPI: its name and the macros of mpi.h that carry its version. The first one whose macros are defined is
# the answer: MPIs made from MPICH define MPICH's as well, and the header of MPI 5's standard ABI names no implementation.
set(
  RANKTREE_MPI_PRODUCTS
  "mpiabi MPI_ABI_VERSION MPI_ABI_SUBVERSION"
  "openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION"
  "intelmpi I_MPI_VERSION"
  "craympich CRAY_MPICH_VERSION"
  "mvapich MVAPICH2_VERSION"
  "mvapich MVAPICH_VERSION"
  "mpich MPICH_VERSION"
)

# Intel's wrappers are scripts that need I_MPI_ROOT: sets <variable> to the folder, or to nothing for another wrapper.
function(ranktree_intel_root mpicc variable)
  file(STRINGS ${mpicc} of_intel LIMIT_COUNT 1 REGEX "I_MPI_CC")
  set(root "")
  if(of_intel)
    file(REAL_PATH "${mpicc}" wrapper) # one reached by a link is part of the tree that it leads to
    cmake_path(GET wrapper PARENT_PATH root)
    cmake_path(GET root PARENT_PATH root)
  endif()
  set(${variable} "${root}" PARENT_SCOPE)
endfunction()

# Product and version from the macros that one preprocessor run has expanded.
function(ranktree_read_mpi_macros text)
  foreach(line IN LISTS RANKTREE_MPI_PRODUCTS)
    string(REGEX MATCH "^[a-z]+" product "${line}")
    string(REGEX MATCHALL "[A-Z_0-9]+" macros "${line}")
    list(GET macros 0 first)
    if(text MATCHES "ranktree_${first} \"?([0-9]+[0-9. ]*)")
      string(STRIP "${CMAKE_MATCH_1}" version)
      string(REPLACE " " "." version "${version}")
      set(probe_product ${product} PARENT_SCOPE)
      set(probe_version ${version} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(probe_error "its mpi.h is of no MPI that is known here" PARENT_SCOPE)
endfunction()

# The options that a wrapper adds: --showme of Open MPI, -show of MPICH and its kin, --cray-print-opts of Cray's cc.
function(ranktree_read_mpi_options)
  set(style openmpi)
  foreach(option IN ITEMS --showme -show --cray-print-opts=all)
    execute_process(COMMAND ${ARGN} ${option} OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 60)
    if(NOT failed)
      string(STRIP "${line}" line)
      set(probe_options "${line}" PARENT_SCOPE)
      set(probe_style ${style} PARENT_SCOPE)
      return()
    endif()
    set(style mpich)
  endforeach()
  set(probe_error "it understands none of --showme, -show and --cray-print-opts" PARENT_SCOPE)
endfunction()

# Whether the wrapper links a program, and with a library that calls can be wrapped in.
function(ranktree_link_with_mpi)
  set(program ${CMAKE_BINARY_DIR}/mpi/linked)
  file(CONFIGURE OUTPUT ${program}.c CONTENT "#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n" @ONLY)
  execute_process(
    COMMAND ${ARGN} ${program}.c -o ${program}
    OUTPUT_QUIET
    ERROR_VARIABLE reason
    RESULT_VARIABLE failed
    TIMEOUT 60
  )
  if(failed)
    string(REGEX MATCH "[^\n]*(error|not found|cannot)[^\n]*" reason "${reason}\nexit code ${failed}: error")
    set(probe_error "it cannot link a program: ${reason}" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_NM} -D --undefined-only ${program} OUTPUT_VARIABLE names ERROR_QUIET)
  if(NOT names MATCHES "MPI_Finalize")
    set(probe_error "it links MPI statically, so that no library can be preloaded" PARENT_SCOPE)
  endif()
endfunction()

# ranktree_probe_mpi(<mpicc>) sets in the caller's scope
#   probe_error     why the wrapper is not used; the others mean nothing then
#   probe_product   openmpi | mpich | intelmpi | mvapich | craympich | mpiabi
#   probe_version   e.g. 5.0.11; for mpiabi the version of the ABI
#   probe_family    openmpi | mpich | intel: how its launcher and its handles are; of mpiabi the launcher's
#   probe_abi       openmpi | mpich | standard: the binary interface
#   probe_header    its mpi.h, links followed: two wrappers of one header and one ABI are the same MPI
#   probe_options   its compile and link options
function(ranktree_probe_mpi mpicc)
  set(command ${mpicc})
  ranktree_intel_root(${mpicc} root)
  if(root)
    set(
      command
      ${CMAKE_COMMAND}
      -E
      env
      I_MPI_ROOT=${root}
      ${mpicc}
    )
  endif()
  set(probe_error "")
  set(lines "#include <mpi.h>\n")
  foreach(line IN LISTS RANKTREE_MPI_PRODUCTS)
    string(REGEX REPLACE "^[a-z]+ ([A-Z_0-9]+)(.*)" "ranktree_\\1 \\1\\2\n" line "${line}")
    string(APPEND lines "${line}")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/mpi/probe.c)
  file(CONFIGURE OUTPUT ${source} CONTENT "${lines}" @ONLY)
  execute_process(
    COMMAND ${command} -E ${source}
    OUTPUT_VARIABLE text
    ERROR_VARIABLE reason
    RESULT_VARIABLE failed
    TIMEOUT 60
  )
  if(failed)
    string(REGEX MATCH "[^\n]*(error|not found|No such)[^\n]*" reason "${reason}\nexit code ${failed}: error")
    set(probe_error "it cannot preprocess mpi.h: ${reason}")
  else()
    string(REGEX MATCH "\"([^\"\n]*/mpi\\.h)\"" header "${text}")
    file(REAL_PATH "${CMAKE_MATCH_1}" probe_header)
    # The preprocessor marks the lines of what it expands.
    string(REGEX REPLACE "\n#[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    ranktree_read_mpi_macros("${text}")
  endif()
  if(NOT probe_error)
    ranktree_read_mpi_options(${command})
  endif()
  if(NOT probe_error)
    ranktree_link_with_mpi(${command})
  endif()
  set(probe_abi mpich)
  set(probe_family mpich)
  if(probe_product STREQUAL "mpiabi")
    set(probe_abi standard)
    set(probe_family "${probe_style}")
  elseif(probe_product STREQUAL "openmpi")
    set(probe_abi openmpi)
    set(probe_family openmpi)
  elseif(probe_product STREQUAL "intelmpi")
    set(probe_family intel)
  endif()
  foreach(
    field
    IN
    ITEMS error product version family abi header options
  )
    set(probe_${field} "${probe_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()
