# Finds every MPI to build for and makes one interface target a MPI: ranktree_mpi_<name>.
#
# FindMPI knows one MPI a build tree and mixes up mpiexec between two installed side by side, so the compiler wrappers
# are queried directly. After this file:
#   RANKTREE_MPI_NAMES                     e.g. "openmpi;mpich;openmpi5;mpich5;mpiabi1;intelmpi2021"
#   ranktree_mpi_<name>                    include folders and libraries
#   RANKTREE_MPICC_<name>
#   RANKTREE_MPIEXEC_<name>                its launcher; empty where none lies beside the wrapper or on PATH
#   RANKTREE_MPIFORT_<name>                empty where gfortran can have no mpi_f08: the wheels carry no module of it
#   RANKTREE_MPIF77_<name>                 where mpif.h and `use mpi` work
#   RANKTREE_MPI_FAMILY_<name>             openmpi | mpich | intel
#   RANKTREE_MPI_VERSION_<name>            e.g. 5.0.11; of the standard ABI its own, e.g. 1.0
#   RANKTREE_MPI_ABI_<name>                ON for the standard ABI of MPI 5 (mpicc_abi), whose launcher is MPICH's
# and <build>/mpis.json has the same for the tests that start programs; <build>/lib/mpis.json has the MPIs and
# what was looked for, for the command line.
include(RanktreeMpiProbe)
include(RanktreeMpiSearch)
set(RANKTREE_MPI_NAMES "")
set(RANKTREE_MPI_TABLE "")
set(RANKTREE_MPI_HEADERS "") # of the MPIs so far, with their ABIs

# Intel's wrappers and launcher want I_MPI_ROOT, and its wheel's Fortran wrapper looks for gfortran's modules in a folder
# that is not there: scripts stand in for the three, so that nothing else has to know.
function(ranktree_wrap_intel name mpicc root)
  get_filename_component(wrapper "${mpicc}" NAME)
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
  file(CONFIGURE OUTPUT ${folder}/mpicc CONTENT "${setting}/${wrapper}' \"$@\"\n" @ONLY)
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

# Whether the loader finds the libraries of a folder by itself: it is one of the system's, or its MPI libraries are links to
# there. Distributions have folders of their own for MPIs, which the loader does not search (/usr/lib64/openmpi/lib).
function(ranktree_is_searched folder variable)
  set(searched FALSE)
  if(folder MATCHES "^/usr/lib")
    set(searched TRUE)
  endif()
  file(GLOB libraries ${folder}/libmpi*.so*)
  foreach(library IN LISTS libraries)
    file(REAL_PATH ${library} library)
    cmake_path(GET library PARENT_PATH found)
    if(NOT found IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      set(searched FALSE)
    endif()
  endforeach()
  set(${variable} ${searched} PARENT_SCOPE)
endfunction()

# Reads the wrapper's own link line into definitions, include folders, library folders and libraries. A library folder the
# loader does not know by itself becomes part of the run path.
function(ranktree_read_link_line name line)
  string(REPLACE ",-l" " -l" line "${line}") # Cray's: -Wl,--as-needed,-lmpi_gnu
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(ranktree_mpi_${name} INTERFACE)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(ranktree_mpi_${name} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-D(.+)")
      target_compile_definitions(ranktree_mpi_${name} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      set(folder ${CMAKE_MATCH_1})
      ranktree_is_searched(${folder} searched)
      target_link_directories(ranktree_mpi_${name} INTERFACE ${folder})
      if(RANKTREE_PORTABLE)
        # The program's own MPI library, loaded before, serves by its name.
        target_link_options(ranktree_mpi_${name} INTERFACE LINKER:-rpath-link,${folder})
      elseif(NOT searched)
        target_link_options(ranktree_mpi_${name} INTERFACE LINKER:-rpath,${folder})
      endif()
    elseif(word MATCHES "^-l(.+)" AND NOT word STREQUAL "-lmpifort")
      target_link_libraries(ranktree_mpi_${name} INTERFACE ${CMAKE_MATCH_1})
    endif()
  endforeach()
  # The C++ bindings are gone from the standard; their headers pull in a second library.
  target_compile_definitions(ranktree_mpi_${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# The launcher: beside the wrapper, or the site's own where a wrapper has none beside it (Cray).
function(ranktree_find_launcher mpicc variable)
  cmake_path(GET mpicc PARENT_PATH folder)
  cmake_path(GET mpicc FILENAME wrapper)
  string(REGEX REPLACE "^(mpicc|mpiicx|mpiicc)(_abi)?" "" suffix "${wrapper}")
  set(${variable} "" PARENT_SCOPE)
  foreach(launcher IN ITEMS ${folder}/mpiexec${suffix} ${folder}/mpirun${suffix})
    if(EXISTS ${launcher})
      set(${variable} ${launcher} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  find_program(RANKTREE_SITE_LAUNCHER NAMES srun aprun)
  if(RANKTREE_SITE_LAUNCHER)
    set(${variable} ${RANKTREE_SITE_LAUNCHER} PARENT_SCOPE)
  endif()
endfunction()

# ranktree_add_mpi(<name> <mpicc>): one MPI, probed before, by its compiler wrapper.
function(ranktree_add_mpi name mpicc)
  set(abi OFF)
  if(probe_abi STREQUAL "standard")
    set(abi ON)
  endif()
  ranktree_intel_root(${mpicc} root)
  if(root)
    ranktree_wrap_intel(${name} ${mpicc} ${root})
    set(mpicc ${CMAKE_BINARY_DIR}/mpi/${name}/mpicc)
  endif()
  string(REGEX REPLACE "mpicc(_abi)?([^/]*)$" "mpifort\\2" mpifort "${mpicc}")
  string(REGEX REPLACE "/cc$" "/ftn" mpifort "${mpifort}")
  if(NOT EXISTS ${mpifort} OR mpifort STREQUAL mpicc OR abi)
    set(mpifort "")
  endif()
  set(RANKTREE_MPIF77_${name} "${mpifort}" PARENT_SCOPE)
  if(probe_family STREQUAL "intel")
    set(mpifort "")
  endif()
  ranktree_find_launcher(${mpicc} mpiexec)
  ranktree_read_link_line(${name} "${probe_options}")
  list(APPEND RANKTREE_MPI_NAMES ${name})
  set(RANKTREE_MPI_NAMES ${RANKTREE_MPI_NAMES} PARENT_SCOPE)
  list(APPEND RANKTREE_MPI_HEADERS "${probe_header} ${probe_abi}")
  set(RANKTREE_MPI_HEADERS "${RANKTREE_MPI_HEADERS}" PARENT_SCOPE)
  set(RANKTREE_MPICC_${name} ${mpicc} PARENT_SCOPE)
  set(RANKTREE_MPIFORT_${name} "${mpifort}" PARENT_SCOPE)
  set(RANKTREE_MPIEXEC_${name} "${mpiexec}" PARENT_SCOPE)
  set(RANKTREE_MPI_FAMILY_${name} ${probe_family} PARENT_SCOPE)
  set(RANKTREE_MPI_VERSION_${name} ${probe_version} PARENT_SCOPE)
  set(RANKTREE_MPI_ABI_${name} ${abi} PARENT_SCOPE)
  set(
    entry
    "{\"name\": \"${name}\", \"family\": \"${probe_family}\", \"version\": \"${probe_version}\", \"abi\": \"${probe_abi}\","
    " \"mpicc\": \"${mpicc}\", \"mpifort\": \"${mpifort}\", \"mpiexec\": \"${mpiexec}\"}"
  )
  string(JOIN "" entry ${entry})
  string(APPEND RANKTREE_MPI_TABLE "${entry}\n")
  set(RANKTREE_MPI_TABLE "${RANKTREE_MPI_TABLE}" PARENT_SCOPE)
  message(STATUS "MPI ${name}: ${probe_product} ${probe_version}, ${probe_abi} ABI: ${mpicc}")
endfunction()

# Every "name=path/of/mpicc" of a list variable.
macro(ranktree_add_listed_mpis variable)
  foreach(entry IN LISTS ${variable})
    if(NOT entry MATCHES "^([a-z0-9_]+)=(.+)$")
      message(FATAL_ERROR "${variable}: expected name=path/of/mpicc, found '${entry}'")
    endif()
    set(name ${CMAKE_MATCH_1})
    set(wrapper ${CMAKE_MATCH_2})
    ranktree_probe_mpi(${wrapper})
    if(probe_error)
      message(FATAL_ERROR "${variable}: ${wrapper}: ${probe_error}")
    endif()
    ranktree_add_mpi(${name} ${wrapper})
  endforeach()
endmacro()

# Debian's MPIs are called openmpi and mpich, others by product and major version (openmpi5), by the whole version where
# that name is taken (openmpi5_0_11), by a number where that is taken too.
function(ranktree_name_mpi wrapper variable)
  string(REGEX REPLACE "\\..*" "" major ${probe_version})
  string(REPLACE "." "_" whole ${probe_version})
  set(names ${probe_product}${major} ${probe_product}${whole})
  cmake_path(GET wrapper FILENAME file)
  if(file STREQUAL "mpicc.${probe_product}")
    list(PREPEND names ${probe_product})
  endif()
  foreach(number RANGE 2 9)
    list(APPEND names ${probe_product}${whole}_${number})
  endforeach()
  list(REMOVE_ITEM names ${RANKTREE_MPI_NAMES})
  list(GET names 0 name)
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# Every MPI of this machine that the lists do not name. What an earlier run of CMake found stays as long as its wrapper is
# there, since a build may start CMake again where other modules are loaded.
macro(ranktree_add_found_mpis)
  ranktree_search_mpis()
  set(found "")
  list(TRANSFORM RANKTREE_MPIS_FOUND REPLACE "^[^=]*=" "" OUTPUT_VARIABLE known)
  list(APPEND known ${search_wrappers})
  list(REMOVE_DUPLICATES known)
  foreach(wrapper IN LISTS known)
    if(NOT EXISTS ${wrapper})
      continue()
    endif()
    ranktree_probe_mpi(${wrapper})
    if(probe_error)
      message(STATUS "not used: ${wrapper}: ${probe_error}")
    elseif(NOT "${probe_header} ${probe_abi}" IN_LIST RANKTREE_MPI_HEADERS)
      ranktree_name_mpi(${wrapper} name)
      ranktree_add_mpi(${name} ${wrapper})
      list(APPEND found ${name}=${wrapper})
    endif()
  endforeach()
  set(RANKTREE_MPIS_FOUND "${found}" CACHE STRING "MPIs found so far; empty: forget them" FORCE)
  mark_as_advanced(RANKTREE_MPIS_FOUND)
endmacro()

set(search_names "")
set(search_folders "")
if(RANKTREE_MPI)
  ranktree_add_listed_mpis(RANKTREE_MPIS)
  ranktree_add_listed_mpis(RANKTREE_MPIS_EXTRA)
  if(NOT RANKTREE_MPIS)
    ranktree_add_found_mpis()
  endif()
  if(NOT RANKTREE_MPI_NAMES)
    list(JOIN search_names ", " names)
    list(JOIN search_folders "\n  " folders)
    message(
      WARNING
      "No MPI found: building without it. Nothing will trace, reorder or serve collectives of MPI programs, and "
      "ranktree/mpi.h will have no library.\nLooked for ${names} in\n  ${folders}\n"
      "Put an MPI's compiler wrapper on PATH (module load), or name it: -DRANKTREE_MPIS=name=/path/of/mpicc"
    )
  endif()
endif()
string(REGEX REPLACE "\n(.)" ",\n\\1" RANKTREE_MPI_TABLE "${RANKTREE_MPI_TABLE}")
file(WRITE ${CMAKE_BINARY_DIR}/mpis.json "[\n${RANKTREE_MPI_TABLE}]\n")

# For the command line (python/ranktree/helpers.py).
list(JOIN search_names "\", \"" names)
list(JOIN search_folders "\", \"" folders)
if(RANKTREE_PORTABLE)
  string(REGEX REPLACE ", \"mpicc\": [^}]*" "" RANKTREE_MPI_TABLE "${RANKTREE_MPI_TABLE}")
endif()
set(search "{\n\"mpis\": [\n${RANKTREE_MPI_TABLE}],\n\"names\": [\"${names}\"],\n\"folders\": [\"${folders}\"]\n}\n")
string(REPLACE "[\"\"]" "[]" search "${search}")
file(WRITE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/mpis.json "${search}")
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/mpis.json DESTINATION ${RANKTREE_PRIVATE_DIR} COMPONENT python)
