#!/bin/sh
# test_sources_inside.sh SDIST: what test_pip.sh runs in the root with a compiler, besides pip: `cmake --install` of the
# sources into a prefix, its users in C, C++, Fortran and Python; then the sources below another project. Prints one line
# a check.
set -eu
. /opt/ranktree/checks.sh
. /opt/ranktree/consumers.sh
sources=$PWD/$(basename "$1" .tar.gz)
prefix=$PWD/prefix
tar xf "$1"
install python nanobind numpy rich mpi4py
# Build folders lie as deep below the sources as pip's, so that a compiler cache serves all.
export PATH="$PWD/python/bin:$PATH" CMAKE_GENERATOR=Ninja CCACHE_BASEDIR="$sources"

seconds=3600 check 'cmake --install' "$prefix/bin/ranktree" sh -euc '
  cmake -S "$1" -B "$2" -DRANKTREE_PYTHON=ON -DRANKTREE_TESTS=OFF -DPython_EXECUTABLE="$(command -v python)"
  cmake --build "$2"
  cmake --install "$2" --prefix "$3"' sh "$sources" "$sources/build/cmake" "$prefix"
rm -r "$sources/build/cmake" # the prefix needs it no more
check 'prefix: topo' '6 places' "$prefix/bin/ranktree" topo 'node:2 core:3'
export CMAKE_PREFIX_PATH="$prefix" PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
consumers "$sources/tests/install"
for mpi in openmpi mpich; do
  check "$mpi: prefix: trace" '4 ranks, .* 48 collective calls' \
    "$prefix/bin/ranktree" trace -o "prefix-$mpi.npz" -- "mpiexec.$mpi" -n 4 "bin/rings-$mpi"
  check "$mpi: Python by PYTHONPATH" '^3 of 3, True, True' \
    env PYTHONPATH="$prefix/lib/ranktree/python" MPI4PY_MPIABI="$mpi" LD_LIBRARY_PATH="$PWD/mpi4py_mpich" \
    "mpiexec.$mpi" -n 3 python user_mpi.py
done

below=$sources/build/below
built add_subdirectory "$sources/tests/install/subdirectory" "$below" '-DMPIS=openmpi;mpich'
check 'C by add_subdirectory' '6 leaves' "$below/user" 'node:2 core:3'
for mpi in openmpi mpich; do
  check "$mpi: C by add_subdirectory" '^1 of 0.1' "mpiexec.$mpi" -n 1 "$below/user_$mpi"
done
