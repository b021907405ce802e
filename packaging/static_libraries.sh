#!/bin/sh
# static_libraries.sh PREFIX: hwloc and libyaml as archives of position-independent code, from Debian's sources. Debian's
# own archives are for programs alone: no shared library can be linked with them.
set -eu
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
echo "deb-src $mirror $VERSION_CODENAME main" >"$work/sources.list"
cd "$work"
apt_get() {
  apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@" >>"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
}
apt_get update
apt_get source --download-only hwloc libyaml
for archive in ./*.orig.tar.*; do
  tar xf "$archive"
done
version() { echo "$1" | sed 's/.*-//'; }

# What describes the machine to the kernel is enough: no devices, no libxml2 (hwloc reads XML by itself), no plugins.
cd "$work"/hwloc-*
options="--enable-static --disable-shared --with-pic --disable-cairo --disable-libxml2 --disable-pci --disable-opencl
  --disable-cuda --disable-nvml --disable-rsmi --disable-levelzero --disable-gl --disable-libudev --disable-plugins
  --disable-doxygen"
# shellcheck disable=SC2086  # a list of words
{ ./configure -q --prefix="$prefix" --libdir="$prefix/lib" $options
  make -s -C include install
  make -s -C hwloc install
  install -D -m 644 hwloc.pc "$prefix/lib/pkgconfig/hwloc.pc"; } >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

cd "$work"/libyaml-*
{ cmake -S . -B build -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF
  cmake --build build --target install; } >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cat >"$prefix/lib/pkgconfig/yaml-0.1.pc" <<PC
Name: yaml
Description: libyaml
Version: $(version "$PWD")
Cflags: -I$prefix/include
Libs: -L$prefix/lib -lyaml
PC
