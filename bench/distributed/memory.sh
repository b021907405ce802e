#!/bin/sh
# What one rank holds at most, on simulated ranks: memory.sh BUILD X Y Z COARSE [CORES_PER_NODE [check]]
#
# Needs SimGrid (Debian: libsimgrid-dev, simgrid) and a build of ranktree_core. Privatization is off: ranks share the
# library's variables, of which it must have none.
set -eu
build=$1 x=$2 y=$3 z=$4 coarse=$5 cores=${6:-128} check=${7:-}
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$build/bench-distributed
mkdir -p "$work"
cd "$source"
for file in src/mpi/reorder/distributed.cpp bench/distributed/exchange_smpi.cpp src/mpi/agree.cpp src/mpi/check.cpp \
  bench/distributed/memory.cpp; do
  object=$work/$(basename "$file" .cpp).o
  [ "$object" -nt "$file" ] || smpicxx -std=c++20 -O2 -g -fPIC -Isrc -Iinclude -c "$file" -o "$object"
done
g++ -std=c++20 -O2 -g -fPIC -c bench/distributed/accounts.cpp -o "$work/accounts.o"
core=$(find "$build" -name libranktree_core.a | head -n 1)
smpicxx "$work"/distributed.o "$work"/exchange_smpi.o "$work"/agree.o "$work"/check.o "$work"/memory.o "$work"/accounts.o "$core" \
  -Wl,-Bsymbolic -o "$work/distributed-memory"
cat >"$work/platform.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-255" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
XML
ranks=$((x * y * z))
awk -v ranks="$ranks" 'BEGIN { for (i = 0; i < ranks; ++i) print "n" int(i * 256 / ranks) }' >"$work/hosts"
smpirun -np "$ranks" -platform "$work/platform.xml" -hostfile "$work/hosts" \
  --cfg=smpi/barrier:ompi_tree --cfg=smpi/allreduce:redbcast \
  --cfg=smpi/reduce:binomial --cfg=smpi/bcast:binomial_tree \
  --cfg=smpi/privatization:no --cfg=smpi/simulate-computation:no --cfg=contexts/stack-size:256 --log=root.thres:warning \
  "$work/distributed-memory" "$x" "$y" "$z" "$coarse" "$cores" $check
