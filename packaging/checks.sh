# For scripts that run in a clean root: variables of MPIs, `check` and `refused`, which print one line, and `install`.
cd /opt/ranktree
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

check() { # a title, the text that must be printed, a command
  title=$1
  expected=$2
  shift 2
  if ! timeout "${seconds:-120}" "$@" >output 2>&1 || ! grep -q -e "$expected" output; then
    echo "not ok: $title: expected '$expected' of: $*" >&2
    cat output >&2
    exit 1
  fi
  echo "ok: $title"
}

refused() { # the same, of a command that must fail
  title=$1
  expected=$2
  shift 2
  check "$title: refused" "$expected" sh -c '! "$@"' sh "$@"
}

install() { # a folder, what pip installs there from what was fetched
  "${python:-python3}" -m venv "$1"
  folder=$1
  shift
  "$folder/bin/pip" install -q --disable-pip-version-check --no-index --find-links wheels "$@"
}
