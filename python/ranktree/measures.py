"""What `--metric` counts and what `--objective` minimises, by the names of the C++ core (src/core)."""

METRICS = {"size": "bytes", "msg": "messages", "avg": "bytes a message"}
COSTS = ("hops", "latency", "bandwidth")  # of a level
OBJECTIVES = ("bytes", "messages", "bottleneck", "time")
