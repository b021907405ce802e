"""What a report is made of, loaded and put together: pattern, machine, plan, runs and the log of the collectives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ranktree import _core
from ranktree.allocation import allocation
from ranktree.measures import METRICS
from ranktree.objective import Model, planned
from ranktree.pattern import expand, named_after, natural_model, read
from ranktree.report.shape import Shape, of_slots, of_tree
from ranktree.runs import document as runs
from ranktree.traced_hosts import fit_hosts
from ranktree.usable_machine import Notify, is_oversubscribed, usable_machine

WORTHWHILE = 0.02  # a smaller gain is within what a second run would differ by
SAME = 1e-9  # relative: sums of doubles in another order


@dataclass(frozen=True)
class Request:
    """What the user names, as words that a shell can repeat."""

    pattern: str
    plan: str | None = None
    machine: str | None = None
    network: str | None = None
    hosts: str | None = None
    hostfile: str | None = None
    runs: str | None = None
    log: str | None = None
    collectives: str = "model"
    metric: str | None = None
    unit: str = "core"
    cost: str = "hops"
    seed: int = 1
    output: str | None = None
    worthwhile: float = WORTHWHILE
    run: Sequence[str] = ()  # the command that runs the program by the plan, where it is known

    @property
    def source(self) -> str | None:
        """What names the machine; None where nothing does."""
        return self.machine or self.network or ("live" if self.hosts or self.hostfile else None)


@dataclass(frozen=True)
class Placed:
    """A placement: the slot of each rank, and what readers call it."""

    name: str  # as in the plan's table
    label: str
    slot_of: np.ndarray


@dataclass
class Inputs:
    """Everything that the document is computed from."""

    request: Request
    recorded: _core.Pattern
    traffic: _core.Pattern  # collective calls as pairs
    model: str  # of the collectives
    tree: _core.Tree | None = None
    threads: int = 1  # leaves of the machine that are one slot
    shape: Shape | None = None
    plan: _core.Plan | None = None
    before: Placed | None = None
    after: Placed | None = None
    runs: dict[str, Any] | None = None
    log: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def placements(self) -> list[Placed]:
        """The known placements: before, then by the plan."""
        return [each for each in (self.before, self.after) if each is not None]


def gather(request: Request) -> Inputs:
    """Reads every file and places the ranks where a machine but no plan is given. ValueError names what is wrong."""
    plan = _core.load_plan(request.plan) if request.plan is not None else None
    metric = request.metric or (plan.metric if plan is not None else None)
    recorded, warnings = read(request.pattern, metric="msg" if metric == "msg" else None)
    notes = list(warnings)
    tree = load_tree(request, notes.append)
    inputs = combine(request, recorded, plan, tree)
    inputs.notes[:0] = notes
    if request.runs is not None:
        inputs.runs = runs.load(request.runs)
    if request.log is not None:
        inputs.log = Path(request.log).read_text(encoding="utf-8", errors="replace").splitlines()
    return inputs


def combine(
    request: Request, recorded: "_core.Pattern", plan: "_core.Plan | None", tree: "_core.Tree | None"
) -> Inputs:
    """The same of what is already loaded; the request's names only appear in messages and commands."""
    threads = 1
    if tree is not None and plan is not None and (threads := threads_of(plan, tree)) > 1:
        tree = tree.bundle_leaves(threads)
    model = natural_model(recorded) if request.collectives == "model" else request.collectives
    inputs = Inputs(request, recorded, expand(recorded, model), model, tree, threads, plan=plan)
    if tree is not None:
        fit_hosts(inputs.traffic, tree, inputs.notes.append, is_oversubscribed(tree, recorded.ranks))
    if plan is not None:
        require_fitting(plan, recorded, request)
    elif tree is not None:
        inputs.plan = make_plan(tree, inputs)
    add_placements(inputs, tree)
    if inputs.plan is not None:
        check_traffic(inputs, inputs.plan)
    return inputs


def load_tree(request: Request, notify: Notify) -> "_core.Tree | None":
    """The machine as `map` takes it; None where none is named. A plan from elsewhere is shown on the whole machine."""
    if request.source is None:
        return None
    named = request.hosts is not None or request.hostfile is not None
    hostfile = Path(request.hostfile) if request.hostfile is not None else None
    allowed = allocation(request.hosts, hostfile) if named or request.plan is None else None
    tree, _ = usable_machine(request.machine, request.network, allowed, notify)
    tree = tree.with_metric(request.cost)
    return tree.cut_at("Core") if request.unit == "core" else tree


def make_plan(tree: "_core.Tree", inputs: Inputs) -> "_core.Plan":
    """The plan that `ranktree map` would write."""
    request = inputs.request
    by_time = request.metric is None and request.cost == "hops"
    with named_after(request.pattern):
        model = Model("time" if by_time else None)
        metric = request.metric or "size"
        return planned(tree, inputs.traffic, metric, model, algorithm="best", seed=request.seed)[0]


def require_fitting(plan: "_core.Plan", recorded: "_core.Pattern", request: Request) -> None:
    """A plan of as many ranks as the pattern has."""
    if len(plan.slots) != recorded.ranks:
        raise ValueError(f"{request.plan}: a plan of {len(plan.slots)} ranks; {request.pattern} has {recorded.ranks}")
    if request.metric is not None and request.metric != plan.metric:
        raise ValueError(f"{request.plan}: made with --metric {plan.metric}; expected --metric {request.metric}")
    rows = [row.placement for row in plan.costs]
    if rows and not ("plan" in rows and {"traced", "identity"}.intersection(rows)):
        raise ValueError(f"{request.plan}: costs: expected rows 'plan' and 'identity' or 'traced', found {rows}")


def add_placements(inputs: Inputs, tree: "_core.Tree | None") -> None:
    """The slots of the ranks before and by the plan, as far as machine, plan and traced hosts show them."""
    plan = inputs.plan
    if plan is None:
        add_traced_only(inputs)
        return
    from_plan = _core.plan_slots(plan)
    if tree is None:
        inputs.shape, slots = of_slots(from_plan, plan.hosts)
        inputs.after = Placed("plan", "plan", slots)
        return
    inputs.shape = of_tree(tree)
    inputs.after = Placed("plan", "plan", slot_numbers(inputs.shape, from_plan, inputs.request))
    names = [row.placement for row in plan.costs]
    if "traced" in names:
        found = traced_slots(tree, inputs.shape, list(inputs.traffic.metadata["hosts"]))
        if found is None:
            inputs.notes.append(
                "the plan's traced hosts are not in this pattern and machine: their ranks are not shown"
            )
        else:
            inputs.before = Placed("traced", "traced placement", found)
    elif "identity" in names:
        shared = is_oversubscribed(tree, inputs.traffic.ranks)
        slots = _core.compute_placement(tree, inputs.traffic, "identity", plan.metric, oversubscribe=shared)
        inputs.before = Placed("identity", "current rank order", slots.astype(np.int64))
    if inputs.before is not None and not is_row_of(inputs.before, tree, inputs.traffic, plan):
        inputs.notes.append(
            f"the plan's {inputs.before.label} is not shown: it had other slots than all of this machine's, by options "
            "such as --pin and --forbid"
        )
        inputs.before = None


def is_row_of(placed: Placed, tree: "_core.Tree", traffic: "_core.Pattern", plan: "_core.Plan") -> bool:
    """Whether a placement has the costs of its row in the plan, where both count the same traffic by the same costs."""
    row = next(row for row in plan.costs if row.placement == placed.name)
    if not has_costs_of(tree, plan) or tree.network is not None or len(row.weight) != len(tree.costs):
        return True
    leaf_of = np.ascontiguousarray(placed.slot_of, dtype=np.int32)
    weight, _ = _core.evaluate(tree, traffic, leaf_of, plan.metric)
    other_traffic = abs(sum(weight) - sum(row.weight)) > SAME * max(sum(weight), sum(row.weight))
    return other_traffic or np.allclose(weight, row.weight, rtol=SAME, atol=SAME * sum(row.weight))


def threads_of(plan: "_core.Plan", tree: "_core.Tree") -> int:
    """How many leaves of the machine each rank of the plan has, as by `ranktree map --threads-per-rank`; 1 where the
    ranks differ, or have other leaves than such a plan for this machine.
    """
    leaf_of = {(tree.host(leaf), pu): leaf for leaf in range(tree.leaf_count) for pu in tree.pus(leaf)}
    slots = _core.plan_slots(plan)
    counts = {len({leaf_of[host, pu] for pu in pus if (host, pu) in leaf_of}) for host, pus in slots}
    count = counts.pop() if len(counts) == 1 else 1
    if count < 2:  # noqa: PLR2004
        return 1
    bundled = tree.bundle_leaves(count)
    places = {(bundled.host(leaf), *bundled.pus(leaf)) for leaf in range(bundled.leaf_count)}
    return count if all((host, *pus) in places for host, pus in slots) else 1


def add_traced_only(inputs: Inputs) -> None:
    """Without a machine or a plan the traced hosts show on which node each rank was."""
    hosts = list(inputs.recorded.metadata["hosts"])
    if not hosts:
        return
    if "" in hosts:
        inputs.notes.append("the hosts of some ranks were not recorded: the traced placement is not shown")
        return
    seen: dict[str, int] = {}
    traced = []
    for host in hosts:
        traced.append((host, [seen.get(host, 0)]))
        seen[host] = seen.get(host, 0) + 1
    inputs.shape, slots = of_slots(traced, list(seen))
    inputs.before = Placed("traced", "traced placement", slots)


def traced_slots(tree: "_core.Tree", shape: Shape, hosts: Sequence[str]) -> np.ndarray | None:
    """Each rank on the next free slot of its host, as the plan's row "traced" has it (core/place/plan.cpp); None where
    the pattern has no hosts, or the machine too few slots on them.

    Where there are more ranks than slots, each slot takes as many as there are too many for one.
    """
    free: dict[str, list[int]] = {}
    nodes = shape.nodes
    allowed = [slot for slot in range(shape.node_of_slot.size) if tree.allowed(slot)]
    capacity = -(-len(hosts) // len(allowed))
    for slot in allowed:
        free.setdefault(nodes[shape.node_of_slot[slot]], []).extend([slot] * capacity)
    turn = {host: iter(slots) for host, slots in free.items()}
    found = [next(turn.get(host, iter(())), None) for host in hosts]
    return np.array(found, dtype=np.int64) if found and None not in found else None


def slot_numbers(shape: Shape, slots: Sequence[tuple[str, list[int]]], request: Request) -> np.ndarray:
    """The number of the machine's slot that owns each rank's first PU. ValueError where the machine has no such PU."""
    nodes = shape.nodes
    owner = {}
    for slot, (pus, node) in enumerate(zip(shape.pus, shape.node_of_slot.tolist(), strict=True)):
        owner.update({(nodes[node], pu): slot for pu in pus})
    found = []
    for rank, (host, pus) in enumerate(slots):
        if (host, pus[0]) not in owner:
            where = f"{host or 'this machine'} PU {pus[0]}"
            raise ValueError(f"{request.plan}: rank {rank} is on {where}, which {request.source} does not have")
        found.append(owner[host, pus[0]])
    return np.array(found, dtype=np.int64)


def has_costs_of(tree: "_core.Tree", plan: "_core.Plan") -> bool:
    """Whether the plan's costs are those of the machine. A network's depend on the placements, and are not compared."""
    return tree.network is not None or list(plan.level_costs) == list(tree.costs)


def check_traffic(inputs: Inputs, plan: "_core.Plan") -> None:
    """Notes what a reader would otherwise take for granted: traced hosts that do not fit, a plan of other traffic."""
    names = [row.placement for row in plan.costs]
    noted = any("current rank order" in note for note in inputs.notes)
    if inputs.recorded.metadata["hosts"] and "traced" not in names and not noted:
        inputs.notes.append(
            "the hosts of the trace are not hosts of the plan: the comparison is with the current rank order"
        )
    if inputs.tree is not None and not has_costs_of(inputs.tree, plan):
        inputs.notes.append(
            f"the plan's costs are not those of --unit {inputs.request.unit} --cost {inputs.request.cost}: it was made "
            "with others"
        )
    _, _, weights = _core.graph(inputs.traffic, plan.metric)
    expected, found = float(weights.sum()) / 2, float(sum(plan.costs[0].weight)) if plan.costs else 0.0
    if plan.costs and abs(expected - found) > SAME * max(expected, found):
        inputs.notes.append(
            f"the plan was made for {found:,.0f} {METRICS[plan.metric]} between ranks, this pattern has "
            f"{expected:,.0f}: another pattern, or another --collectives"
        )
