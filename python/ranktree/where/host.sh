#!/bin/sh
# Written by ranktree. One rank of each host prints the host's packages, NUMA nodes, cores and caches as the kernel lists
# them (/sys/devices/system); then this becomes the program given.
case ${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${PMI_LOCAL_RANK:-${SLURM_LOCALID:-0}}}} in
  0)
    here=$(uname -n)
    of_cpus() { cat /sys/devices/system/cpu/cpu[0-9]*/topology/"$1" 2>/dev/null | sort -u | tr '\n' ' '; }
    packages=$(of_cpus package_cpus_list)
    [ -n "$packages" ] || packages=$(of_cpus core_siblings_list)
    cores=$(of_cpus core_cpus_list)
    [ -n "$cores" ] || cores=$(of_cpus thread_siblings_list)
    numa=
    for node in /sys/devices/system/node/node[0-9]*; do
      pus=$(cat "$node/cpulist" 2>/dev/null) || continue
      [ -z "$pus" ] || numa="$numa${node##*/node}=$pus "
    done
    caches=$(
      for cache in /sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*; do
        read -r type <"$cache/type" && read -r level <"$cache/level" && read -r pus <"$cache/shared_cpu_list" &&
          [ "$type" != Instruction ] && printf '%s\n' "$level=$pus"
      done 2>/dev/null | sort -u | tr '\n' ' '
    )
    printf '%s\n' "ranktree-host $here packages $packages" "ranktree-host $here cores $cores" \
      "ranktree-host $here numa $numa" "ranktree-host $here caches $caches"
    ;;
esac
exec "$@"
