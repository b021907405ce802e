# Finds every MPI to build for and makes one interface target a MPI: ranktree_mpi_<name>.
#
# FindMPI knows one MPI a build tree and mixes up mpiexec between two installed side by side, so the compiler wrappers
# are asked directly. After this file:
#   RANKTREE_MPI_NAMES                     e.g. "openmpi;mpich;openmpi5;mpich5;mpichabi;intelmpi"
#   RANKTREE_PRELOAD_MPI_NAMES             those of them that the preload library is built for: without RANKTREE_MPIS_LIGHT
#   ranktree_mpi_<name>                    include folders and libraries
#   RANKTREE_MPICC_<name>, RANKTREE_MPIEXEC_<name>
#   RANKTREE_MPIFORT_<name>                empty where gfortran can have no mpi_f08: the wheels carry no module of it
#   RANKTREE_MPIF77_<name>                 where mpif.h and `use mpi` work
#   RANKTREE_MPI_FAMILY_<name>             openmpi | mpich | intel
#   RANKTREE_MPI_VERSION_<name>            Open MPI's, e.g. 5.0.11; empty for the others
#   RANKTREE_MPI_ABI_<name>                ON for the standard ABI of MPI 5 (mpicc_abi), whose launcher is MPICH's
# and <build>/mpis.json says the same to the tests that start programs.
set(RANKTREE_MPI_NAMES "")
set(RANKTREE_PRELOAD_MPI_NAMES "")
set(RANKTREE_MPI_TABLE "")

# Intel's wrappers and launcher want I_MPI_ROOT, and its wheel's Fortran wrapper looks for gfortran's modules in a folder
# that is not there: scripts stand in for the three, so that nothing else has to know.
function(ranktree_wrap_intel name mpicc)
  get_filename_component(root "${mpicc}/../.." ABSOLUTE)
  set(folder ${CMAKE_BINARY_DIR}/mpi/${name})
  set(modules "")
  find_program(RANKTREE_GFORTRAN gfortran)
  if(RANKTREE_GFORTRAN)
    execute_process(COMMAND ${RANKTREE_GFORTRAN} -dumpversion OUTPUT_VARIABLE major OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(GLOB modules ${root}/include/mpi/gfortran/${major}.*)
  endif()
  set(setting "#!/bin/sh\nI_MPI_ROOT='${root}' FI_PROVIDER_PATH='${root}/lib' exec '${root}/bin")
  set(
    permissions
    FILE_PERMISSIONS
    OWNER_READ
    OWNER_WRITE
    OWNER_EXECUTE
    GROUP_READ
    GROUP_EXECUTE
  )
  file(CONFIGURE OUTPUT ${folder}/mpicc CONTENT "${setting}/mpicc' \"$@\"\n" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/mpiexec CONTENT "${setting}/mpiexec' \"$@\"\n" @ONLY)
  set(scripts ${folder}/mpicc ${folder}/mpiexec)
  if(modules)
    set(libraries "-Wl,--no-as-needed -L'${root}/lib' -Wl,-rpath,'${root}/lib' -lmpifort -lmpi -lrt -lpthread -ldl")
    set(compile "'${RANKTREE_GFORTRAN}' -I'${modules}' -I'${root}/include' \"$@\" ${libraries}")
    file(CONFIGURE OUTPUT ${folder}/mpifort CONTENT "#!/bin/sh\nexec ${compile}\n" @ONLY)
    list(APPEND scripts ${folder}/mpifort)
  endif()
  file(CHMOD ${scripts} ${permissions})
endfunction()

# Reads the wrapper's own link line (Open MPI: --showme, MPICH: -show) into definitions, include folders, library
# folders and libraries. A library folder the loader does not know by itself becomes part of the run path.
function(ranktree_read_link_line name line)
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(ranktree_mpi_${name} INTERFACE)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(ranktree_mpi_${name} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-D(.+)")
      target_compile_definitions(ranktree_mpi_${name} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      set(folder ${CMAKE_MATCH_1})
      target_link_directories(ranktree_mpi_${name} INTERFACE ${folder})
      if(NOT folder MATCHES "^/usr/lib")
        target_link_options(ranktree_mpi_${name} INTERFACE LINKER:-rpath,${folder})
      endif()
    elseif(word MATCHES "^-l(.+)" AND NOT word STREQUAL "-lmpifort")
      target_link_libraries(ranktree_mpi_${name} INTERFACE ${CMAKE_MATCH_1})
    endif()
  endforeach()
  # The C++ bindings are gone from the standard; their headers pull in a second library.
  target_compile_definitions(ranktree_mpi_${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# One MPI by its compiler wrapper: path of mpicc, mpicc.<mpi>, mpicc_abi or Intel's mpiicc.
function(ranktree_add_mpi name mpicc)
  set(version "")
  set(abi OFF)
  execute_process(COMMAND ${mpicc} --showme OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed)
  set(family openmpi)
  if(failed)
    execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed)
    set(family mpich)
  else()
    execute_process(COMMAND ${mpicc} --showme:version OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${said}")
  endif()
  if(failed)
    message(FATAL_ERROR "${mpicc}: neither --showme nor -show is understood: not an MPI compiler wrapper")
  endif()
  file(STRINGS ${mpicc} of_intel LIMIT_COUNT 1 REGEX "I_MPI_CC")
  if(of_intel)
    set(family intel)
    ranktree_wrap_intel(${name} ${mpicc})
    set(mpicc ${CMAKE_BINARY_DIR}/mpi/${name}/mpicc)
    execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE line)
  elseif(line MATCHES "-DMPI_ABI")
    set(abi ON)
  endif()
  string(REGEX REPLACE "mpicc(_abi)?([^/]*)$" "mpifort\\2" mpifort "${mpicc}")
  string(REGEX REPLACE "mpicc(_abi)?([^/]*)$" "mpiexec\\2" mpiexec "${mpicc}")
  if(NOT EXISTS ${mpifort} OR abi)
    set(mpifort "")
  endif()
  set(RANKTREE_MPIF77_${name} "${mpifort}" PARENT_SCOPE)
  if(family STREQUAL "intel")
    set(mpifort "")
  endif()
  if(NOT EXISTS ${mpiexec})
    message(FATAL_ERROR "${mpicc}: its launcher ${mpiexec} is missing")
  endif()
  ranktree_read_link_line(${name} "${line}")
  list(APPEND RANKTREE_MPI_NAMES ${name})
  set(RANKTREE_MPI_NAMES ${RANKTREE_MPI_NAMES} PARENT_SCOPE)
  set(RANKTREE_MPICC_${name} ${mpicc} PARENT_SCOPE)
  set(RANKTREE_MPIFORT_${name} "${mpifort}" PARENT_SCOPE)
  set(RANKTREE_MPIEXEC_${name} ${mpiexec} PARENT_SCOPE)
  set(RANKTREE_MPI_FAMILY_${name} ${family} PARENT_SCOPE)
  set(RANKTREE_MPI_VERSION_${name} "${version}" PARENT_SCOPE)
  set(RANKTREE_MPI_ABI_${name} ${abi} PARENT_SCOPE)
  set(
    entry
    "{\"name\": \"${name}\", \"family\": \"${family}\", \"version\": \"${version}\", \"mpicc\": \"${mpicc}\","
    " \"mpifort\": \"${mpifort}\", \"mpiexec\": \"${mpiexec}\"}"
  )
  string(JOIN "" entry ${entry})
  string(APPEND RANKTREE_MPI_TABLE "${entry}\n")
  set(RANKTREE_MPI_TABLE "${RANKTREE_MPI_TABLE}" PARENT_SCOPE)
  message(STATUS "MPI ${name} (${family}): ${mpicc}")
endfunction()

# Every "name=path/of/mpicc" of a list variable.
macro(ranktree_add_listed_mpis variable)
  foreach(entry IN LISTS ${variable})
    if(NOT entry MATCHES "^([a-z0-9_]+)=(.+)$")
      message(FATAL_ERROR "${variable}: expected name=path/of/mpicc, found '${entry}'")
    endif()
    ranktree_add_mpi(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
endmacro()

if(RANKTREE_MPI)
  if(RANKTREE_MPIS)
    ranktree_add_listed_mpis(RANKTREE_MPIS)
  else()
    foreach(name IN ITEMS openmpi mpich)
      find_program(RANKTREE_FOUND_${name} NAMES mpicc.${name})
      if(RANKTREE_FOUND_${name})
        ranktree_add_mpi(${name} ${RANKTREE_FOUND_${name}})
      endif()
    endforeach()
  endif()
  set(RANKTREE_PRELOAD_MPI_NAMES ${RANKTREE_MPI_NAMES})
  ranktree_add_listed_mpis(RANKTREE_MPIS_LIGHT)
  if(NOT RANKTREE_MPI_NAMES)
    message(STATUS "no MPI found: building core, io, hw and the command line only")
  endif()
endif()
string(REGEX REPLACE "\n(.)" ",\n\\1" RANKTREE_MPI_TABLE "${RANKTREE_MPI_TABLE}")
file(WRITE ${CMAKE_BINARY_DIR}/mpis.json "[\n${RANKTREE_MPI_TABLE}]\n")
