#!/bin/sh
# What test_deb.sh runs in the clean root; prints one line a check.
set -eu
. /opt/ranktree/checks.sh
dpkg -i ./*ranktree*.deb >log 2>&1 || { cat log >&2; exit 1; }

check version '^ranktree [0-9]' ranktree --version
check topo '6 places' ranktree topo 'node:2 core:3'
check 'man page' '^.TH' zcat /usr/share/man/man1/ranktree-map.1.gz
check 'completion: bash' optimize cat /usr/share/bash-completion/completions/ranktree
check 'completion: zsh' optimize cat /usr/share/zsh/site-functions/_ranktree
check 'completion: fish' optimize cat /usr/share/fish/vendor_completions.d/ranktree.fish
check licence BSD-3-Clause cat /usr/share/doc/ranktree/copyright
check example MPI_Init cat /usr/share/doc/ranktree-doc/examples/rings.c
built() { # a title, a consumer's folder, CMake's options; into FOLDER/build
  title=$1
  folder=$2
  shift 2
  rm -rf "$folder/build"
  { cmake -S "consumers/$folder" -B "$folder/build" "$@" && cmake --build "$folder/build"; } >log 2>&1 ||
    { echo "not ok: $title: $folder cannot be built" >&2; cat log >&2; exit 1; }
}
for mpi in openmpi mpich; do
  "mpicc.$mpi" -O1 -o "rings-$mpi" rings.c -lm
  check "$mpi: trace" '4 ranks, .* 48 collective calls' \
    ranktree trace -o "$mpi.npz" -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
  check "$mpi: where" '"rank": 1' ranktree where --json -- "mpiexec.$mpi" -bind-to core -n 2 "./rings-$mpi"
  check "$mpi: run --reorder" '^rings: 4 ranks' ranktree run --reorder "$mpi.npz" -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
  check "$mpi: run --collectives" '^rings: 4 ranks' ranktree run --collectives auto -- "mpiexec.$mpi" -n 4 "./rings-$mpi"
  # shellcheck disable=SC2046  # several words
  cc consumers/user_mpi.c -o "user-$mpi" $(pkg-config --cflags --libs "ranktree_mpi_$mpi")
  check "$mpi: C by pkg-config" '1 of 0.1' "mpiexec.$mpi" -n 1 "./user-$mpi"
  built "$mpi: Fortran" find_package_fortran "-DMPI=$mpi" "-DCMAKE_Fortran_COMPILER=mpifort.$mpi"
  check "$mpi: Fortran by find_package" '^2 of 2' "mpiexec.$mpi" -n 2 find_package_fortran/build/user
done
built C find_package
check 'C by find_package' '6 leaves' find_package/build/user 'node:2 core:3'
built C++ find_package_cxx '-DMPIS=openmpi;mpich'
check 'C++ by find_package' '600 -> 300' find_package_cxx/build/user_cxx 'node:2 core:2'
for mpi in openmpi mpich; do
  check "$mpi: C by find_package" '1 of 0.1' "mpiexec.$mpi" -n 1 "find_package_cxx/build/user_$mpi"
done
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
