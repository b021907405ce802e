"""`ranktree map`: pattern x machine -> plan, with the cost by level before and after."""

import json as json_format
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ranktree import _core
from ranktree.pattern import expand, load, natural_model

ALGORITHMS = ("best", "engine", "treematch", "greedy", "round-robin", "random", "identity")
METRICS = {"size": "bytes", "msg": "messages", "avg": "average bytes a message"}
MODELS = ("model", "openmpi", "mpich", "flat", "none")
UNITS = ("core", "pu")
COSTS = ("hops", "latency", "bandwidth")
NETWORK_LEVELS = ("Cluster", "Switch")


def choice(value: str, allowed: tuple[str, ...], option: str) -> str:
    """The value, or a usage error that lists what is allowed."""
    if value not in allowed:
        raise typer.BadParameter(f"expected {', '.join(allowed)}; found '{value}'", param_hint=option)
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
    return sum(weight for level, weight in weights if level in NETWORK_LEVELS)


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


def as_dictionary(plan: _core.Plan) -> dict[str, Any]:
    """The plan's table for `--json`."""
    return {
        "algorithm": plan.algorithm,
        "metric": plan.metric,
        "gain": plan.gain,
        "levels": plan.levels,
        "level_costs": plan.level_costs,
        "costs": [{"placement": each.placement, "weight": each.weight, "total": each.total} for each in plan.costs],
        "verdict": verdict(plan),
    }


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    pattern: Annotated[str, typer.Argument(help="a pattern file: .npz, .mtx, .mat, .graph, .grf, .csv, .prof")],
    machine: Annotated[str, typer.Option(help="as `ranktree topo` takes it")] = "live",
    network: Annotated[str | None, typer.Option(help="as `ranktree topo` takes it: hosts, each such a machine")] = None,
    algorithm: Annotated[str, typer.Option(help=", ".join(ALGORITHMS))] = "best",
    metric: Annotated[str, typer.Option(help="size (bytes), msg (messages) or avg")] = "size",
    collectives: Annotated[str, typer.Option(help="model (of the traced MPI), openmpi, mpich, flat, none")] = "model",
    unit: Annotated[str, typer.Option(help="one rank a core or a pu")] = "core",
    cost: Annotated[str, typer.Option(help="hops, latency or bandwidth")] = "hops",
    seed: Annotated[int, typer.Option(min=0, help="of every random choice")] = 1,
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="let ranks share a place")] = False,
    output: Annotated[str | None, typer.Option("-o", "--output", help="write the plan here")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Compute where each rank should sit, and what that buys by level."""
    choice(algorithm, ALGORITHMS, "--algorithm")
    choice(metric, tuple(METRICS), "--metric")
    choice(collectives, MODELS, "--collectives")
    tree = _core.load_machine(machine, network).with_metric(choice(cost, COSTS, "--cost"))
    if choice(unit, UNITS, "--unit") == "core":
        tree = tree.cut_at("Core")
    traffic, warnings = load(pattern)
    for warning in warnings:
        typer.echo(f"ranktree: {pattern}: {warning}", err=True)
    expanded = expand(traffic, natural_model(traffic) if collectives == "model" else collectives)
    plan = _core.make_plan(tree, expanded, algorithm, metric, seed, oversubscribe)
    if output is not None:
        _core.save_plan(output, plan)
    if json:
        typer.echo(json_format.dumps(as_dictionary(plan), indent=1))
        return
    print_table(plan, cost)
    typer.echo(verdict(plan))
