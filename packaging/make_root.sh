#!/bin/sh
# make_root.sh ROOT PACKAGE...: a Debian root with these packages and what they depend on, nothing that they recommend;
# unless it is there, made with the same. apt installs them, since debootstrap knows no virtual packages.
set -eu
root=$1
shift
[ "$(cat "$root.made" 2>/dev/null)" != "$*" ] || exit 0
rm -rf "$root" "$root.made"
mkdir -p "$(dirname "$root")"
{ debootstrap --variant=minbase bookworm "$root" &&
    "$(dirname "$0")/in_root.sh" "$root" apt-get update &&
    "$(dirname "$0")/in_root.sh" "$root" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "$@"; } >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
echo "$*" >"$root.made"
