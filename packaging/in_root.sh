#!/bin/sh
# in_root.sh ROOT SCRIPT: runs a script of ROOT/opt/ranktree in that root, in a mount namespace of its own, so that nothing
# stays mounted.
exec unshare --mount sh -euc '
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount -t sysfs sysfs "$1/sys"
  exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 chroot "$1" sh "/opt/ranktree/$2"
' sh "$@"
