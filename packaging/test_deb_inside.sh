#!/bin/sh
# What test_deb.sh runs in the clean root; prints one line a check.
set -eu
. /opt/ranktree/checks.sh
. /opt/ranktree/consumers.sh
dpkg -i ./*ranktree*.deb >log 2>&1 || { cat log >&2; exit 1; }

check version '^ranktree [0-9]' ranktree --version
check topo '6 places' ranktree topo 'node:2 core:3'
check 'man page' '^.TH' zcat /usr/share/man/man1/ranktree-map.1.gz
check 'completion: bash' optimize cat /usr/share/bash-completion/completions/ranktree
check 'completion: zsh' optimize cat /usr/share/zsh/site-functions/_ranktree
check 'completion: fish' optimize cat /usr/share/fish/vendor_completions.d/ranktree.fish
check licence BSD-3-Clause cat /usr/share/doc/ranktree/copyright
check example MPI_Init cat /usr/share/doc/ranktree-doc/examples/rings.c
for mpi in openmpi mpich; do
  "mpicc.$mpi" -O1 -o "rings-$mpi" rings.c -lm
  check "$mpi: trace" '4 ranks, .* 48 collective calls' \
    ranktree trace -o "$mpi.npz" -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
  check "$mpi: where" '"rank": 1' ranktree where --json -- "mpiexec.$mpi" -bind-to core -n 2 "./rings-$mpi"
  check "$mpi: run --reorder" '^rings: 4 ranks' ranktree run --reorder "$mpi.npz" -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
  check "$mpi: run --collectives" '^rings: 4 ranks' ranktree run --collectives auto -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
done
consumers consumers
# Debian's mpi4py is of Open MPI.
check 'openmpi: Python' '^3 of 3, True, True' mpiexec.openmpi -n 3 python3 consumers/user_mpi.py

names=$(dpkg-query -W -f '${Package}\n' '*ranktree*')
# shellcheck disable=SC2086  # several words
dpkg --purge $names >log 2>&1 || { cat log >&2; exit 1; }
if find /usr /etc /var/lib/dpkg/info -name '*ranktree*' | grep .; then
  echo "not ok: purge leaves files behind" >&2
  exit 1
fi
echo "ok: all"
