"""`ranktree map`: pattern x machine -> plan, with the cost by level before and after."""

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ranktree import _core
from ranktree.allocation import HostFile, Hosts, allocation
from ranktree.cli.options import Argument, BadParameter, Option, echo
from ranktree.cli.output import require_writable
from ranktree.compare import Request, Result, compare, comparison_table
from ranktree.forbid import without
from ranktree.interrupt import Interruption
from ranktree.pattern import (
    COLLECTIVE_MODELS,
    expand,
    load,
    load_matrix,
    named_after,
    natural_model,
    require_matrix,
)
from ranktree.pins import leaf_of, parsed
from ranktree.placement import square
from ranktree.progress import LongWork
from ranktree.usable_machine import usable_machine

EXAMPLE = "ranktree map app.npz --machine cluster.json -o plan.json"

ALGORITHMS = ("best", "engine", "treematch", "greedy", "round-robin", "random", "identity")
PRESETS = ("fast", "default", "strong")
METRICS = {"size": "bytes", "msg": "messages", "avg": "average bytes a message"}
UNITS = ("core", "pu")
COSTS = ("hops", "latency", "bandwidth")
MOST = 2**31 - 1
NETWORK_LEVELS = ("Cluster", "Switch", "Network")


def choice(value: str, allowed: tuple[str, ...], option: str) -> str:
    """The value, or a usage error that lists what is allowed."""
    if value not in allowed:
        raise BadParameter(f"expected {', '.join(allowed)}; found '{value}'", param_hint=option)
    return value


def ratio(before: float, after: float) -> str:
    """How many times less; nothing to divide stays unsaid."""
    if after == before:
        return "1.00x"
    return f"{before / after:.2f}x" if after > 0 else "all gone"


def row(plan: _core.Plan, name: str) -> _core.CostRow:
    """One row of the plan's table."""
    return next(each for each in plan.costs if each.placement == name)


def between_nodes(plan: _core.Plan, placement: str) -> float:
    """What crosses the network: the weight that meets above the nodes."""
    weights = zip(plan.levels, row(plan, placement).weight, strict=True)
    return sum(weight for level, weight in weights if level.split()[0] in NETWORK_LEVELS)


def verdict(plan: _core.Plan) -> str:
    """The result in a sentence."""
    if not plan.gain:
        kept = "the order of ranks" if plan.algorithm == "identity" else "the placement that was traced"
        return f"No gain: nothing found is cheaper than {kept}, so the plan keeps it."
    names = [each.placement for each in plan.costs]
    today = "traced" if "traced" in names else "identity"
    before, after = between_nodes(plan, today), between_nodes(plan, "plan")
    than = "today's placement" if today == "traced" else "the order of ranks"
    cost = ratio(row(plan, today).total, row(plan, "plan").total)
    text = f"The plan ({plan.algorithm}) costs {cost} less than {than}"
    if before > 0 and after == 0:
        text += "; nothing crosses the network any more"
    elif before > 0:
        text += f"; between nodes it moves {ratio(before, after)} fewer {METRICS[plan.metric]}"
    return text + "."


def print_table(plan: _core.Plan, cost: str) -> None:
    """Cost by level, one column a placement, each total beside its ratio to identity."""
    unit = "hop-bytes" if (cost, plan.metric) == ("hops", "size") else f"cost ({METRICS[plan.metric]} x {cost})"
    table = Table(title=f"{METRICS[plan.metric]} by the level on which ranks meet")
    table.add_column("level")
    for each in plan.costs:
        table.add_column(each.placement, justify="right")
    for index, level in enumerate(plan.levels):
        label = level if index + 1 < len(plan.levels) else f"same {level}"
        table.add_row(label, *(f"{each.weight[index]:,.0f}" for each in plan.costs))
    identity = row(plan, "identity").total
    table.add_section()
    table.add_row(unit, *(f"{each.total:,.6g}" for each in plan.costs))
    table.add_row("identity / this", *(ratio(identity, each.total) for each in plan.costs))
    Console(width=120).print(table)


def bound_line(plan: _core.Plan) -> str:
    """How far the plan may be from the best."""
    if plan.gap == 0:
        return "No placement costs less."
    if plan.gap is None:
        return "How much less another placement could cost is not known: the bound is 0."
    return (
        f"No placement costs less than {plan.bound:,.6g}: the plan costs at most {plan.gap:.1%} more than the best one."
    )


def as_dictionary(plan: _core.Plan, stopped: str | None, results: list[Result]) -> dict[str, Any]:
    """The plan's table for `--json`."""
    dictionary: dict[str, Any] = {
        "algorithm": plan.algorithm,
        "metric": plan.metric,
        "gain": plan.gain,
        "bound": plan.bound,
        "gap": plan.gap,
        "stopped": stopped,
        "levels": plan.levels,
        "level_costs": plan.level_costs,
        "costs": [{"placement": each.placement, "weight": each.weight, "total": each.total} for each in plan.costs],
        "verdict": verdict(plan),
    }
    if results:
        dictionary["comparison"] = [asdict(each) for each in results]
    return dictionary


def load_expanded(path: str, metric: str, collectives: str, whole: bool) -> "_core.Pattern | np.ndarray":
    """The pattern, collective calls as pairs, or a whole matrix as it is where it may be one.

    The one number of a format that has only one is taken for messages where these are wanted. What a format could not
    tell is said on stderr.
    """
    matrix = load_matrix(path) if whole else None
    if matrix is not None:
        require_matrix(matrix, path)
        return square(matrix)
    traffic, warnings = load(path, metric="msg" if metric == "msg" else None)
    for warning in warnings:
        echo(f"ranktree: {path}: {warning}", err=True)
    return expand(traffic, natural_model(traffic) if collectives == "model" else collectives)


def read_pins(words: list[str], comparison: bool) -> dict[int, str]:
    """What --pin says, usage errors where it makes no sense."""
    if words and comparison:
        raise BadParameter("expected no --compare, whose peers know no pinned ranks", param_hint="--pin")
    pins: dict[int, str] = {}
    for word in words:
        try:
            rank, place = parsed(word)
        except ValueError as error:
            raise BadParameter(str(error), param_hint="--pin") from error
        if rank in pins:
            raise BadParameter(f"expected each rank once, found {rank} again", param_hint="--pin")
        pins[rank] = place
    return pins


def search(
    request: Request, algorithm: str, preset: str, interruption: Interruption, pins: list[tuple[int, int]]
) -> tuple[_core.Plan, str | None]:
    """The plan, and what cut the search short, if anything did."""
    whole = isinstance(request.pattern, np.ndarray)
    ranks = len(request.pattern) if whole else request.pattern.ranks
    with LongWork(f"placing {ranks:,} ranks", request.limit):
        plan = (_core.plan_matrix if whole else _core.make_plan)(
            request.tree,
            request.pattern,
            algorithm,
            request.metric,
            request.seed,
            oversubscribe=request.oversubscribe,
            preset=preset,
            threads=request.threads,
            time_limit=request.limit,
            keep_going=request.keep_going,
            pins=pins,
        )
    if not plan.stopped:
        return plan, None
    return plan, "Ctrl-C" if interruption.requested else "the time limit"


def note(text: str) -> None:
    """A line on standard error."""
    echo(f"ranktree: {text}", err=True)


def compare_all(request: Request) -> list[Result]:
    """What every algorithm and peer makes of it."""
    with LongWork("comparing"):
        return list(compare(request))


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    pattern: Annotated[str, Argument(help="a pattern file: .npz, .mtx, .mat, .graph, .grf, .csv, .prof, .npy")],
    machine: Annotated[str, Option(help="as `ranktree topo` takes it")] = "live",
    network: Annotated[str | None, Option(help="as `ranktree topo` takes it: hosts, each such a machine")] = None,
    hosts: Hosts = None,
    hostfile: HostFile = None,
    algorithm: Annotated[str, Option(help=", ".join(ALGORITHMS))] = "best",
    metric: Annotated[str, Option(help="size (bytes), msg (messages) or avg")] = "size",
    collectives: Annotated[str, Option(help="model (of the traced MPI), openmpi, mpich, flat, none")] = "model",
    unit: Annotated[str, Option(help="one rank a core or a pu")] = "core",
    cost: Annotated[str, Option(help="hops, latency or bandwidth")] = "hops",
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="of every random choice")] = 1,
    oversubscribe: Annotated[bool, Option("--oversubscribe", help="let ranks share a place")] = False,
    threads_per_rank: Annotated[int, Option(min=1, max=MOST, help="so many neighbouring places a rank")] = 1,
    preset: Annotated[str, Option(help="how hard the engine searches: fast, default or strong")] = "default",
    threads: Annotated[int, Option(min=1, max=MOST, help="at most so many; the plan does not depend on it")] = 1,
    time_limit: Annotated[float | None, Option(help="SECONDS, then the best found so far is kept")] = None,
    forbid: Annotated[list[str] | None, Option(help="PUs not to use: 0,2-3 on every host, or HOST:0,2-3")] = None,
    pin: Annotated[list[str] | None, Option(help="RANK=PU or RANK=HOST:PU: where a rank must sit")] = None,
    comparison: Annotated[
        bool, Option("--compare", help="run every algorithm and every installed peer: METIS, KaHIP, Scotch")
    ] = False,
    output: Annotated[str | None, Option("-o", "--output", help="write the plan here")] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
) -> None:
    """Compute where each rank should sit, and what that buys by level.

    Ctrl-C ends the search and keeps the best placement found so far; a second one ends the program.
    """
    # #lizard forgives the number of parameters: every option is one
    choice(algorithm, ALGORITHMS, "--algorithm")
    choice(metric, tuple(METRICS), "--metric")
    choice(collectives, COLLECTIVE_MODELS, "--collectives")
    choice(preset, PRESETS, "--preset")
    wanted = read_pins(pin or [], comparison)
    if time_limit is not None and not time_limit > 0:
        raise BadParameter(f"expected a number above 0, found {time_limit:g}", param_hint="--time-limit")
    if output is not None:
        require_writable(Path(output))
    choice(cost, COSTS, "--cost")
    tree, described = usable_machine(machine, network, allocation(hosts, hostfile), note)
    tree = tree.with_metric(cost)
    if choice(unit, UNITS, "--unit") == "core":
        tree = tree.cut_at("Core")
    tree = without(tree, forbid or []).bundle_leaves(threads_per_rank)
    pins = [(rank, leaf_of(tree, place, f"--pin {rank}={place}")) for rank, place in wanted.items()]
    expanded = load_expanded(pattern, metric, collectives, whole=metric != "avg" and not comparison)
    with named_after(pattern), Interruption() as interruption:
        request = Request(
            tree, expanded, metric, seed, threads, oversubscribe, time_limit, lambda: not interruption.requested
        )
        plan, stopped = search(request, algorithm, preset, interruption, pins)
        plan.described = described
        if output is not None:
            _core.save_plan(output, plan)
        results = compare_all(request) if comparison else []
    if json:
        echo(json_format.dumps(as_dictionary(plan, stopped, results), indent=1))
        return
    print_table(plan, cost)
    echo(verdict(plan))
    echo(bound_line(plan))
    if stopped is not None:
        echo(f"Stopped by {stopped}: the plan is the best found so far.")
    if results:
        Console(width=120).print(comparison_table(results, plan.bound or 0))
