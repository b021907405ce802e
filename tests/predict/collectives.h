// The collectives that tests of models go through.
#pragma once

#include "core/schedule/makers.h"

namespace ranktree::test {

using core::schedule::Collective;
inline constexpr Collective kAll[] = {Collective::kBroadcast, Collective::kReduce,        Collective::kAllreduce,
                                      Collective::kBarrier,   Collective::kGather,        Collective::kScatter,
                                      Collective::kAllgather, Collective::kReduceScatter, Collective::kAlltoall};

}  // namespace ranktree::test
