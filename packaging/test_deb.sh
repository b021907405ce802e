#!/bin/sh
# test_deb.sh FOLDER: lintian on the Debian packages of FOLDER, which must find no error; then their installation, use and
# removal in a clean Debian root, as root of this machine. The root is made in build, once: it has what the packages depend
# on, the MPIs' headers, a compiler and CMake.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "$1" && pwd)
root=$source/build/clean-root-deb
lintian --allow-root --fail-on error "$folder"/*ranktree*.deb

# The names that the packages depend on, but those of this source; the first of several.
needed=$(for package in "$folder"/*ranktree*.deb; do dpkg-deb --field "$package" Depends; done | tr ',' '\n' |
  sed 's/^ *//; s/[ (:|].*//' | sort -u | grep -v ranktree)
# shellcheck disable=SC2086  # several words
"$source/packaging/make_root.sh" "$root" $needed openmpi-bin mpich libopenmpi-dev libmpich-dev g++ gfortran \
  cmake make pkg-config python3-mpi4py
ranktree=$root/opt/ranktree
rm -rf "$ranktree"
mkdir -p "$ranktree"
cp "$folder"/*ranktree*.deb "$source"/packaging/*.sh "$source/examples/rings.c" "$ranktree/"
cp -r "$source/tests/install" "$ranktree/consumers"
exec "$source/packaging/in_root.sh" "$root" sh /opt/ranktree/test_deb_inside.sh
