"""The machine of a simulation, and the leaf of each rank on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ranktree import _core

UNITS = {"core": "Core", "pu": "PU"}
ORDERS = ("packed", "round-robin")


@dataclass(frozen=True)
class SimulatedMachine:
    """A machine file, and the tree whose leaves take ranks."""

    file: Path
    unit: str  # of UNITS
    tree: _core.Tree


def simulated_machine(machine: str, network: str | None, unit: str, folder: Path) -> SimulatedMachine:
    """A JSON machine file as it is; anything else `ranktree topo` takes is written as one to `folder`."""
    if unit not in UNITS:
        raise ValueError(f"--unit: expected {', '.join(UNITS)}, found '{unit}'")
    whole = _core.load_machine(machine, network)
    file = Path(machine)
    if network is not None or file.suffix != ".json":
        file = folder / "machine.json"
        _core.save_machine(str(file), whole)
    return SimulatedMachine(file.resolve(), unit, whole.cut_at(UNITS[unit]))


def leaves_in_order(machine: SimulatedMachine, ranks: int, order: str) -> list[int]:
    """Leaves for ranks without a plan: one after the other, or one of each node in turn."""
    if order not in ORDERS:
        raise ValueError(f"--order: expected {', '.join(ORDERS)}, found '{order}'")
    tree = machine.tree
    usable = [leaf for leaf in range(tree.leaf_count) if tree.allowed(leaf)]
    if ranks > len(usable):
        raise ValueError(f"--np: the machine has {len(usable)} {machine.unit}s for ranks, found {ranks}")
    return usable[:ranks] if order == "packed" else list(in_turn(tree, usable))[:ranks]


def in_turn(tree: _core.Tree, leaves: Sequence[int]) -> Iterator[int]:
    """The first leaf of every node, then the second, ..."""
    nodes: dict[str, list[int]] = {}
    for leaf in leaves:
        nodes.setdefault(tree.host(leaf), []).append(leaf)
    for turn in range(max(map(len, nodes.values()))):
        yield from (node[turn] for node in nodes.values() if turn < len(node))


def leaves_of_plan(machine: SimulatedMachine, plan: _core.Plan, name: str) -> list[int]:
    """The leaf that owns the first PU of each rank's slot."""
    tree = machine.tree
    owner = {(tree.host(leaf), pu): leaf for leaf in range(tree.leaf_count) for pu in tree.pus(leaf)}
    leaves = []
    for rank, slot in enumerate(plan.slots):
        leaf = owner.get((slot.host, slot.pus[0]))
        if leaf is None:
            raise ValueError(f"{name}: rank {rank} is on PU {slot.pus[0]} of '{slot.host}', which the machine has not")
        leaves.append(leaf)
    return leaves
