#!/bin/sh
# without_mpi.sh COMMAND...: runs a command where no MPI of this machine can be found: in a mount namespace of its own, an
# empty file lies over every MPI compiler, launcher and library and an empty folder over their headers.
set -eu
if [ "${WITHOUT_MPI_INSIDE:-}" != 1 ]; then
  if ! unshare --mount true 2>/dev/null; then
    echo "without_mpi: mount namespaces are refused here; building with RANKTREE_MPI=OFF only" >&2
    exec "$@"
  fi
  WITHOUT_MPI_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
empty=$(mktemp -d)
: >"$empty/file"
mkdir "$empty/folder"
for path in /usr/bin/mpi* /usr/bin/orte* /usr/bin/ompi* /usr/bin/hydra* /usr/lib/*/libmpi*.so* /usr/lib/*/libmpich*.so*; do
  [ -f "$path" ] && mount --bind "$empty/file" "$path"
done
for path in /usr/lib/*/openmpi /usr/lib/*/mpich /usr/include/*/mpich; do
  [ -d "$path" ] && mount --bind "$empty/folder" "$path"
done
if command -v mpicc.openmpi >/dev/null || command -v mpicc.mpich >/dev/null; then
  echo "without_mpi: an MPI compiler is still in reach" >&2
  exit 1
fi
"$@"
