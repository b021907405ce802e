#!/bin/sh
# deb.sh [OUTPUT]: Debian packages, source and binary, into OUTPUT (dist), of the files of this checkout that git tracks.
# Debian 12 has no nanobind: it comes from PyPI, as a tarball of its own in the source package.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
output=${1:-$root/dist}
python=${PYTHON:-python3}
work=$root/build/debian
version=$(sed -n 's/^project(ranktree VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
source=$work/ranktree-$version
rm -rf "$work"
mkdir -p "$output" "$source"
output=$(cd "$output" && pwd)

cd "$root"
git ls-files -z | tar -c --null -T - | tar -x -C "$source"
tar -czf "$work/ranktree_$version.orig.tar.gz" -C "$work" "ranktree-$version"
requirement=$(sed -n 's/^requires = .*"\(nanobind[^"]*\)".*/\1/p' pyproject.toml)
"$python" -m pip install -q --disable-pip-version-check --no-deps --target "$work/pip" "$requirement"
rm -rf "$work/pip/nanobind/__pycache__"
tar -czf "$work/ranktree_$version.orig-nanobind.tar.gz" -C "$work/pip" nanobind
cp -r "$work/pip/nanobind" "$source/"
cp -r packaging/debian "$source/"

# debhelper sets HOME, where ccache looks for its cache.
! command -v ccache >/dev/null || { CCACHE_DIR=$(ccache -k cache_dir) && export CCACHE_DIR; }
cd "$source"
dpkg-buildpackage --no-sign >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
cp "$work"/*.deb "$work"/*.dsc "$work"/*.tar.* "$output/"
