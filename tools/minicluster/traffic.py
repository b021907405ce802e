"""The byte counters of the switch: read from the file that it keeps mapped."""

import json
import struct
from pathlib import Path

from cluster import HEAD, Cluster

PAIR = struct.Struct("=QQ")  # bytes, frames


def read_pairs(path: Path) -> list[tuple[int, int]]:
    """Every (bytes, frames), row by row."""
    return list(PAIR.iter_unpack(path.read_bytes()))


def since_reset(cluster: Cluster) -> list[tuple[int, int]]:
    """The counters minus their values at the last reset."""
    pairs = read_pairs(cluster.state / "counters")
    baseline = cluster.state / "baseline"
    earlier = read_pairs(baseline) if baseline.exists() else [(0, 0)] * len(pairs)
    return [(now[0] - then[0], now[1] - then[1]) for now, then in zip(pairs, earlier, strict=True)]


def report(cluster: Cluster) -> dict:
    """Bytes and frames between nodes: `bytes[i][j]` from names[i] to names[j]; the head's (launchers) are the last."""
    names = [*cluster.describe()["names"], HEAD]
    pairs = since_reset(cluster)
    rows = [pairs[i * len(names) : (i + 1) * len(names)] for i in range(len(names))]
    nodes = rows[:-1]
    return {
        "names": names,
        "inter_node_bytes": sum(pair[0] for row in nodes for pair in row[:-1]),
        "inter_node_frames": sum(pair[1] for row in nodes for pair in row[:-1]),
        "bytes": [[pair[0] for pair in row] for row in rows],
        "frames": [[pair[1] for pair in row] for row in rows],
    }


def reset(cluster: Cluster) -> None:
    """Resets the counters."""
    (cluster.state / "baseline").write_bytes((cluster.state / "counters").read_bytes())


def table(counters: dict) -> str:
    """The bytes as text, one row for each sender."""
    width = max(12, *(len(str(value)) + 2 for row in counters["bytes"] for value in row))
    lines = ["from \\ to".ljust(10) + "".join(name.rjust(width) for name in counters["names"])]
    for name, row in zip(counters["names"], counters["bytes"], strict=True):
        lines.append(name.ljust(10) + "".join(str(value).rjust(width) for value in row))
    lines.append(f"between nodes: {counters['inter_node_bytes']} bytes in {counters['inter_node_frames']} frames")
    return "\n".join(lines)


def as_text(counters: dict, as_json: bool) -> str:
    """The output of `minicluster bytes`."""
    return json.dumps(counters) if as_json else table(counters)
