#!/bin/sh
# What test_pip.sh runs in a root without any MPI: what needs none works, the rest gives its reason. Prints one line a check.
set -eu
. /opt/ranktree/checks.sh
install command ranktree
ranktree=/opt/ranktree/command/bin/ranktree
# A ring of four ranks.
printf '%s\n' '%%MatrixMarket matrix coordinate integer general' '4 4 4' '1 3 9' '3 2 9' '2 4 9' '4 1 9' >ring.mtx
check version '^ranktree [0-9]' "$ranktree" --version
check 'topo of this machine' '[0-9] places' "$ranktree" topo
check map 'hop-bytes' "$ranktree" map ring.mtx --machine "node:2 core:2" -o plan.json
check 'report on paper' '^4 ranks exchange' "$ranktree" report ring.mtx
check 'report as a page' '^0$' sh -c '"$@" >&2; echo $?' sh \
  "$ranktree" report ring.mtx --plan plan.json --machine "node:2 core:2" -o report.html
refused 'emit without hosts' 'has no real hosts' "$ranktree" emit plan.json --launcher slurm
check import '^0 1' command/bin/python -c 'import ranktree, numpy; print(0, 1)'
refused trace 'mpiexec: no such launcher' "$ranktree" trace -o app.npz -- mpiexec -n 4 /bin/true
refused where 'no launcher started this process' "$ranktree" where
refused 'run --collectives' 'mpiexec: no such launcher' "$ranktree" run --collectives auto -- mpiexec -n 4 /bin/true
echo "ok: all without an MPI"
