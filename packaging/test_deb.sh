#!/bin/sh
# test_deb.sh FOLDER [ROOT]: lintian on the Debian packages of FOLDER, which must find no error; then their installation,
# use and removal in a clean Debian root, as root of this machine. ROOT is made by debootstrap unless it is there: it has
# what the packages depend on, the MPIs' headers, a compiler and CMake.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "$1" && pwd)
root=${2:-$source/build/clean-root-deb}
lintian --allow-root --fail-on error "$folder"/*ranktree*.deb

# The names that the packages depend on, but those of this source; the first of several.
needed=$(for package in "$folder"/*ranktree*.deb; do dpkg-deb --field "$package" Depends; done | tr ',' '\n' |
  sed 's/^ *//; s/[ (:|].*//' | sort -u | grep -v ranktree | paste -sd ,)
[ -x "$root/usr/bin/cmake" ] || debootstrap --variant=minbase \
  --include="$needed,openmpi-bin,mpich,libopenmpi-dev,libmpich-dev,g++,cmake,make,pkg-config" bookworm "$root" \
  >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
ranktree=$root/opt/ranktree
rm -rf "$ranktree"
mkdir -p "$ranktree"
cp "$folder"/*ranktree*.deb "$source/packaging/test_deb_inside.sh" "$source/packaging/checks.sh" "$source/examples/rings.c" \
  "$ranktree/"
cp -r "$source/tests/install" "$ranktree/consumers"
exec "$source/packaging/in_root.sh" "$root" test_deb_inside.sh
