#!/bin/sh
# setup.sh PYTHON VENV: installs missing Debian packages for the build, the tests and the demo, then the Python tools.
set -eu
python=$1
venv=$2

packages="cmake ninja-build g++ gfortran clang libclang-rt-14-dev pkg-config git
  python3-dev python3-venv zlib1g-dev nlohmann-json3-dev libgtest-dev libhwloc-dev hwloc libyaml-dev libopenblas-serial-dev
  openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2 util-linux libmetis5 libscotch-7.0 valgrind chromium
  chromium-driver simgrid libsimgrid-dev abigail-tools slurmctld slurmd slurm-client munge eztrace"

missing=
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  as_root=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: these packages are missing and need root:$missing" >&2; exit 1; }
    as_root=sudo
  fi
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  # shellcheck disable=SC2086  # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# The requirements are those of pyproject.toml: build system, run time and the dev extra.
"$venv/bin/python" - <<'PYTHON' >"$venv/requirements.txt"
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
print(*project["build-system"]["requires"], *project["project"]["dependencies"], sep="\n")
print(*project["project"]["optional-dependencies"]["dev"], sep="\n")
PYTHON
"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$venv/requirements.txt"
