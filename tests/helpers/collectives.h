// The collectives that tests go through.
#pragma once

#include "core/schedule/makers.h"

namespace ranktree::test {

using core::schedule::Collective;
inline constexpr Collective kEveryCollective[] = {
    Collective::kBroadcast, Collective::kReduce,        Collective::kAllreduce,
    Collective::kBarrier,   Collective::kGather,        Collective::kScatter,
    Collective::kAllgather, Collective::kReduceScatter, Collective::kAlltoall};

}  // namespace ranktree::test
