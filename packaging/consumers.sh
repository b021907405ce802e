# For scripts that run in a clean root, after checks.sh: users of the installed C library, from tests/install, with
# Debian's MPIs. CMAKE_PREFIX_PATH and PKG_CONFIG_PATH name the prefix where it is not /usr.

built() { # a title, the folders of sources and build, CMake's options
  title=$1
  from=$2
  into=$3
  shift 3
  { cmake -S "$from" -B "$into" "$@" && cmake --build "$into"; } >log 2>&1 ||
    { echo "not ok: $title: $from cannot be built" >&2; tail -n 40 log >&2; exit 1; }
}

consumers() { # a copy of tests/install
  for mpi in openmpi mpich; do
    package=ranktree_mpi_$mpi
    # shellcheck disable=SC2046  # several words
    cc "$1/user_mpi.c" -o "user-$mpi" $(pkg-config --cflags --libs "$package")
    check "$mpi: C by pkg-config" '^1 of 0.1' \
      env LD_LIBRARY_PATH="$(pkg-config --variable=libdir "$package")" "mpiexec.$mpi" -n 1 "./user-$mpi"
    built "$mpi: Fortran" "$1/find_package_fortran" "fortran-$mpi" "-DMPI=$mpi" "-DCMAKE_Fortran_COMPILER=mpifort.$mpi"
    check "$mpi: Fortran by find_package" '^2 of 2' "mpiexec.$mpi" -n 2 "fortran-$mpi/user"
  done
  built C "$1/find_package" c
  check 'C by find_package' '6 leaves' c/user 'node:2 core:3'
  built C++ "$1/find_package_cxx" c++ '-DMPIS=openmpi;mpich'
  check 'C++ by find_package' '600 -> 300' c++/user_cxx 'node:2 core:2'
  for mpi in openmpi mpich; do
    check "$mpi: C by find_package" '^1 of 0.1' "mpiexec.$mpi" -n 1 "c++/user_$mpi"
  done
}
