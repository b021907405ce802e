"""`ranktree map`: pattern x machine -> plan, with the cost by level before and after."""

import json as json_format
from pathlib import Path
from typing import Annotated

from ranktree.allocation import HostFile, Hosts, allocation
from ranktree.cli.options import LARGEST, Argument, BadParameter, Option, echo
from ranktree.cli.output import require_writable
from ranktree.measures import COSTS, METRICS, OBJECTIVES
from ranktree.pins import leaf_of, parsed

EXAMPLE = "ranktree map app.npz --machine cluster.json -o plan.json"

ALGORITHMS = ("best", "engine", "treematch", "greedy", "round-robin", "random", "identity")
PRESETS = ("fast", "default", "strong")
UNITS = ("core", "pu")


def choice(value: str, allowed: tuple[str, ...], option: str) -> str:
    """The value, or a usage error that lists what is allowed."""
    if value not in allowed:
        raise BadParameter(f"expected {', '.join(allowed)}; found '{value}'", param_hint=option)
    return value


def read_pins(words: list[str], comparison: bool) -> dict[int, str]:
    """The values of --pin; usage errors where it makes no sense."""
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


def chosen_objective(
    objective: str | None, metric: str | None, parameters: str | None, comparison: bool, other: bool
) -> str | None:
    """What is minimised; None: the cost by --metric. Usage errors of --objective and --parameters. `other`: by an
    algorithm or a cost of distances that knows nothing of time.
    """
    if objective is None and (metric is not None or comparison or other):
        if parameters is not None:
            raise BadParameter("expected an --objective beside it", param_hint="--parameters")
        return None
    if objective is None:
        return "time"
    choice(objective, OBJECTIVES, "--objective")
    if metric is not None:
        raise BadParameter("expected no --metric, which it replaces", param_hint="--objective")
    if comparison:
        raise BadParameter("expected no --compare, whose peers know hop-bytes only", param_hint="--objective")
    return objective


def note(text: str) -> None:
    """A line on standard error."""
    echo(f"ranktree: {text}", err=True)


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    pattern: Annotated[str, Argument(help="a pattern file: .npz, .mtx, .mat, .graph, .grf, .csv, .prof, .npy")],
    machine: Annotated[str, Option(help="as `ranktree topo` takes it")] = "live",
    network: Annotated[str | None, Option(help="as `ranktree topo` takes it: hosts, each such a machine")] = None,
    hosts: Hosts = None,
    hostfile: HostFile = None,
    algorithm: Annotated[str, Option(help=", ".join(ALGORITHMS))] = "best",
    metric: Annotated[
        str | None, Option(help="size (bytes), msg (messages) or avg: minimise these x distance in place of time")
    ] = None,
    objective: Annotated[
        str | None,
        Option(
            help="time (default without --metric, --algorithm, --cost and --compare), bytes, messages or bottleneck"
        ),
    ] = None,
    parameters: Annotated[
        str | None, Option(help="for --objective: FILE of `ranktree calibrate`, ethernet-1g, -10g or infiniband-100g")
    ] = None,
    collectives: Annotated[str, Option(help="model (of the traced MPI), openmpi, mpich, flat, none")] = "model",
    unit: Annotated[str, Option(help="one rank a core or a pu")] = "core",
    cost: Annotated[str, Option(help="hops, latency or bandwidth")] = "hops",
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="of every random choice")] = 1,
    oversubscribe: Annotated[bool, Option("--oversubscribe", help="let ranks share a slot")] = False,
    threads_per_rank: Annotated[int, Option(min=1, max=LARGEST, help="so many neighbouring slots for each rank")] = 1,
    preset: Annotated[str, Option(help="how hard the engine searches: fast, default or strong")] = "default",
    threads: Annotated[int, Option(min=1, max=LARGEST, help="at most so many; the plan does not depend on it")] = 1,
    time_limit: Annotated[float | None, Option(above=0, help="SECONDS, then the best found so far is kept")] = None,
    forbid: Annotated[list[str] | None, Option(help="PUs not to use: 0,2-3 on every host, or HOST:0,2-3")] = None,
    pin: Annotated[list[str] | None, Option(help="RANK=PU or RANK=HOST:PU: the slot that a rank must have")] = None,
    comparison: Annotated[
        bool, Option("--compare", help="run every algorithm and every installed peer: METIS, KaHIP, Scotch")
    ] = False,
    worthwhile: Annotated[
        float, Option(min=0, max=100, help="PERCENT of the cost: a smaller gain is nothing worth changing")
    ] = 2.0,
    output: Annotated[str | None, Option("-o", "--output", decides="written", help="write the plan here")] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
) -> None:
    """Compute the slot of each rank, and the traffic of each level before and after.

    Ctrl-C ends the search and keeps the best placement found so far; a second one ends the program.
    """
    # #lizard forgives the number of parameters: every option is one
    choice(algorithm, ALGORITHMS, "--algorithm")
    choice(metric or "size", tuple(METRICS), "--metric")
    choice(cost, COSTS, "--cost")
    minimised = chosen_objective(objective, metric, parameters, comparison, algorithm != "best" or cost != "hops")
    from rich.console import Console  # noqa: PLC0415  numpy and rich take longer to import than --help may

    from ranktree import _core, mapping  # noqa: PLC0415
    from ranktree.compare import Request, comparison_table  # noqa: PLC0415
    from ranktree.forbid import without  # noqa: PLC0415
    from ranktree.interrupt import Interruption  # noqa: PLC0415
    from ranktree.map_remedies import add_would_help  # noqa: PLC0415
    from ranktree.objective import Model  # noqa: PLC0415
    from ranktree.pattern import COLLECTIVE_MODELS, named_after  # noqa: PLC0415
    from ranktree.traced_hosts import fit_hosts  # noqa: PLC0415
    from ranktree.usable_machine import usable_machine  # noqa: PLC0415

    choice(collectives, COLLECTIVE_MODELS, "--collectives")
    choice(preset, PRESETS, "--preset")
    wanted = read_pins(pin or [], comparison)
    if output is not None:
        require_writable(Path(output))
    tree, described = usable_machine(machine, network, allocation(hosts, hostfile), note)
    tree = tree.with_metric(cost)
    tree = tree.cut_at("Core") if choice(unit, UNITS, "--unit") == "core" else tree
    tree = without(tree, forbid or [])
    tree = tree if threads_per_rank == 1 else tree.bundle_leaves(threads_per_rank)
    pins = [(rank, leaf_of(tree, place, f"--pin {rank}={place}")) for rank, place in wanted.items()]
    metric = Model(objective).loaded_metric(metric or "size")
    whole = metric != "avg" and not comparison and objective is None and parameters is None
    expanded = mapping.load_expanded(pattern, metric, collectives, whole, note)
    model = Model(minimised, parameters)
    fit_hosts(expanded, tree, note, oversubscribe)
    with named_after(pattern), Interruption() as interruption:
        request = Request(
            tree, expanded, metric, seed, threads, oversubscribe, time_limit, lambda: not interruption.requested
        )
        plan, stopped, limits = mapping.search(request, algorithm, preset, interruption, pins, model)
        plan.described = described
        if output is not None:
            _core.save_plan(output, plan)
        results = mapping.compare_all(request) if comparison else []
        add_would_help(limits, request, plan, model, worthwhile / 100, **request.search(preset), pins=pins)
        grid = mapping.grid_for(request, worthwhile / 100)
        usual = mapping.usual_levels(tree, model) if limits else []
    if json:
        found = mapping.as_dictionary(plan, stopped, results, worthwhile / 100, limits, grid, usual)
        echo(json_format.dumps(found, indent=1))
        return
    mapping.print_table(plan, cost)
    for line in mapping.lines_below(plan, limits, worthwhile / 100, grid, usual):
        echo(line)
    if stopped is not None:
        echo(f"Stopped by {stopped}: the plan is the best found so far.")
    if results:
        Console(width=120).print(comparison_table(results, plan.bound or 0))
