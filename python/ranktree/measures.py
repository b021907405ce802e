"""What `--metric` counts and what `--objective` minimises, by the names of the C++ core (src/core)."""

METRICS = {"size": "bytes", "msg": "messages", "avg": "bytes a message"}
OBJECTIVES = ("bytes", "messages", "bottleneck", "time")
