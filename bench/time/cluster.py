"""The emulated clusters, programs and placements of `make bench-time`, and the objectives of a placement."""

import csv
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATTERNS = HERE / "patterns"
RANKS = 16
LATENCY = 200  # microseconds of a link, of which a message passes two between nodes, four between switches
TCP = 0.941  # of a link's rate is payload
OBJECTIVES = ("bytes", "messages", "bottleneck", "time")
PEER_LIMIT = 60.0  # seconds
RANDOMS = 9  # random placements
SOURCES = {"kernels": HERE / "kernels.c", "recorded": HERE.parent / "kernels/kernels.c"}  # built by mpicc


@dataclass(frozen=True)
class Cluster:
    """Emulated nodes, on one switch or on switches of as many nodes each that a root switch joins."""

    slots: tuple[int, ...]  # of each node
    rate: int = 100  # Mbit/s of a node's link
    per_switch: int = 0  # nodes; 0: one switch
    uplink_rate: int = 0  # Mbit/s of a switch's link to the root

    @property
    def switched(self) -> bool:
        """Whether there are several switches."""
        return self.per_switch > 0

    def switch_of(self, node: int) -> int:
        """The switch of a node."""
        return node // self.per_switch if self.switched else 0


CLUSTERS = {
    "4x4": Cluster((4,) * 4),
    "5+3+4+4": Cluster((5, 3, 4, 4)),
    "8x2": Cluster((2,) * 8),
    "4x4, 1 Gbit/s": Cluster((4,) * 4, rate=1000),
    "4x4, switches 2:1": Cluster((4,) * 4, per_switch=2, uplink_rate=100),
}


@dataclass(frozen=True)
class Kernel:
    """A program, its arguments, and its iterations."""

    name: str
    words: tuple[str, ...]  # program, arguments; {0} stands for the iterations
    iterations: int

    def command(self, build: Path, folder: Path) -> list[str]:
        """As the launcher starts it."""
        program, *arguments = (word.format(self.iterations) for word in self.words)
        path = folder / program if program in SOURCES else build / "bin" / program
        return [str(path), *arguments]

    def seconds(self, output: str) -> float:
        """Of an iteration, as the program printed it."""
        if output.startswith("seconds,"):
            return float(output.removeprefix("seconds,")) / self.iterations
        return float(json.loads(output)["seconds_per_iteration"])


def own(name: str, size: int, iterations: int) -> Kernel:
    """One of kernels.c."""
    return Kernel(name, ("kernels", name, "--bytes", str(size), "--iterations", "{0}"), iterations)


def recorded(name: str, words: str, iterations: int) -> Kernel:
    """One of bench/kernels, whose messages are those of recorded programs."""
    return Kernel(name, ("recorded", *words.split(), "{0}"), iterations)


def token(name: str, rings: int, size: int, iterations: int) -> Kernel:
    """Rings around which a token travels (examples/rings.c)."""
    options = ("--rings", str(rings), "--bytes", str(size), "--iterations", "{0}", "--json")
    return Kernel(name, ("rings_openmpi", *options), iterations)


KERNELS = (
    token("tokens of 4 rings", 4, 131072, 4),
    token("token of one ring", 1, 131072, 2),
    own("shift", 131072, 8),
    Kernel("stencil", ("bench_reorder_work_openmpi", "stencil", "none", "65536", "{0}"), 6),
    own("rows", 65536, 6),
    own("columns", 65536, 6),
    own("sparse", 131072, 6),
    own("workers", 16384, 3),
    own("coupled", 131072, 4),
    own("multigrid", 131072, 2),
    own("sort", 16384, 3),
    own("transform", 16384, 3),
    recorded("stencil of 3 dimensions", "zeus 16", 3),
    recorded("CG", "cg A", 1),
    recorded("LU", "lu A", 1),
)


def machine(cluster: Cluster) -> dict[str, Any]:
    """The machine file of a cluster."""
    rate = TCP * 1e6 / 8  # bytes/s of 1 Mbit/s
    near = {"latency_s": 2e-6 * LATENCY, "bandwidth_bytes_per_s": rate * cluster.rate}
    hosts = [{"names": f"n{node}", "shape": f"of{count}"} for node, count in enumerate(cluster.slots)]
    network: dict[str, Any] = {"hosts": hosts}
    costs: dict[str, Any] = {"Cluster": near, "Node": {"latency_s": 1e-5, "bandwidth_bytes_per_s": 1e9}}
    if cluster.switched:
        size = cluster.per_switch
        switches = [{"name": f"s{at // size}", "hosts": hosts[at : at + size]} for at in range(0, len(hosts), size)]
        network = {"switches": switches, "uplinks": {"bandwidth_bytes_per_s": rate * cluster.uplink_rate}}
        costs |= {"Cluster": near | {"latency_s": 4e-6 * LATENCY}, "Switch": near}
    return {
        "format": "ranktree-machine",
        "version": 1,
        "shapes": {f"of{count}": f"core:{count}" for count in set(cluster.slots)},
        "network": network,
        "costs": costs,
    }


def load_tree(folder: Path, name: str) -> Any:
    """The tree of a cluster."""
    from ranktree import _core  # noqa: PLC0415  the build tree's, whose path the caller sets

    path = folder / "machine.json"
    path.write_text(json.dumps(machine(CLUSTERS[name])), encoding="utf-8")
    return _core.load_machine(str(path)).cut_at("Core")


def nodes_of(leaves: list[int], cluster: Cluster) -> str:
    """The node of each rank, a digit each. Switches, and nodes of a switch with as many slots, are alike, and numbered
    in the order in which ranks use them.
    """
    owner = [node for node, count in enumerate(cluster.slots) for _ in range(count)]
    free = list(range(len(cluster.slots)))
    switch: dict[int, int] = {}
    number: dict[int, int] = {}
    for leaf in leaves:
        node = owner[leaf]
        if node in number:
            continue
        place = switch.setdefault(cluster.switch_of(node), len(switch))
        alike = (cluster.slots[node], place)
        number[node] = next(other for other in free if (cluster.slots[other], cluster.switch_of(other)) == alike)
        free.remove(number[node])
    return "".join(str(number[owner[leaf]]) for leaf in leaves)


def leaves_of(nodes: str, slots: tuple[int, ...]) -> list[int]:
    """A placement with these nodes."""
    free = [sum(slots[:node]) for node in range(len(slots))]
    leaves = []
    for digit in nodes:
        leaves.append(free[int(digit)])
        free[int(digit)] += 1
    return leaves


def fixed_placements(slots: tuple[int, ...]) -> dict[str, list[int]]:
    """Those that look at no pattern."""
    packed = list(range(RANKS))
    rounds: list[int] = []
    first = [sum(slots[:node]) for node in range(len(slots))]
    for turn in range(max(slots)):
        rounds += [first[node] + turn for node, count in enumerate(slots) if turn < count]
    found = {"packed": packed, "round robin": rounds, "blocks": blocks()}
    for seed in range(1, RANDOMS + 1):
        order = list(packed)
        random.Random(seed).shuffle(order)
        found[f"random {seed}"] = order
    for exchanges in (1, 2, 4):
        found[f"packed, {exchanges} exchanged"] = exchanged(packed, exchanges)
    return found


def exchanged(placement: list[int], times: int) -> list[int]:
    """A placement after so many exchanges of two random ranks; the number is the seed."""
    order = list(placement)
    generator = random.Random(times)
    for _ in range(times):
        a, b = generator.sample(range(len(order)), 2)
        order[a], order[b] = order[b], order[a]
    return order


def blocks() -> list[int]:
    """Blocks of 2 x 2 ranks of a 4 x 4 grid a node."""
    return [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]


def planned(tree: Any, pattern: Any) -> dict[str, list[int]]:
    """Those of the algorithms, the peers that are installed and describe the machine, and the objectives."""
    from ranktree import _core  # noqa: PLC0415
    from ranktree.peers import PEERS, make_problem, run_peer  # noqa: PLC0415

    found = {
        name: [int(leaf) for leaf in _core.compute_placement(tree, pattern, name)] for name in ("treematch", "greedy")
    }
    problem = make_problem(tree, pattern, "size", 1, 1)
    for peer in PEERS:
        leaves = run_peer(peer, problem, PEER_LIMIT).leaf_of
        if leaves is not None and len(set(leaves)) == pattern.ranks:
            found[peer] = [int(leaf) for leaf in leaves]
    return found | {f"plan by {name}": by_objective(tree, pattern, name) for name in OBJECTIVES}


def by_objective(tree: Any, pattern: Any, objective: str) -> list[int]:
    """The leaf of each rank."""
    from ranktree import _core  # noqa: PLC0415

    plan, _ = _core.plan_by_objective(tree, pattern, (objective, None))
    return [int(leaf) for leaf in plan.permutation]


def load_kernel(name: str) -> Any:
    """The recorded pattern, collective calls as pairs."""
    from ranktree.pattern import read  # noqa: PLC0415

    return read(str(PATTERNS / f"{name.replace(' ', '_')}.csv"))[0]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The measured times."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
