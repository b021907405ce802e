#!/bin/sh
# in_root.sh ROOT COMMAND...: runs a command in that root, in a mount namespace of its own, so that nothing stays mounted. A
# root that has ccache shares the cache of this machine.
exec unshare --mount sh -euc '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t sysfs sysfs "$root/sys"
  if [ -x "$root/usr/bin/ccache" ]; then
    mkdir -p "$root/root/.cache/ccache"
    mount --bind "$(ccache -k cache_dir)" "$root/root/.cache/ccache"
  fi
  exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 chroot "$root" "$@"
' sh "$@"
