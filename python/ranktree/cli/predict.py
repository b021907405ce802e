"""`ranktree predict`: what each algorithm of a collective will cost by the models, and when groups pay."""

import json as json_module
import re
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table

from ranktree import _core
from ranktree.cli.options import Argument, BadParameter, Option, echo, nearest
from ranktree.line_plot import page, svg
from ranktree.model import runs_of, seconds_text, size_text, sizes_of, text_of

EXAMPLE = "ranktree predict bcast --np 128 --sizes 1K:16M"

NAMES = (
    "bcast",
    "reduce",
    "allreduce",
    "barrier",
    "gather",
    "scatter",
    "allgather",
    "reduce_scatter",
    "alltoall",
)
MODELS = {
    "auto": "",
    "closed": "closed forms, which take the most expensive link for most messages",
    "hockney": "Hockney's model, following every message",
    "loggp": "LogGP, following every message",
}
MOST_EVALUATED = 128  # ranks whose messages are followed one by one
BLOCKS = ("gather", "scatter", "allgather", "reduce_scatter", "alltoall")


def table_of(rows: list[dict[str, Any]], title: str) -> Table:
    """Sizes down, algorithms across; the cheapest of a size in bold."""
    algorithms = list(dict.fromkeys(name for row in rows for name in row["base"]))
    others = [name for name in ("hierarchical", "shared") if any(row[name] for row in rows)]
    table = Table(title=title)
    table.add_column("bytes", justify="right")
    for name in algorithms:
        table.add_column(name, justify="right")
    for name in others:
        table.add_column(name)
    for row in rows:
        entries = {**row["base"], **{name: row[name] for name in others if row[name]}}
        table.add_row(size_text(row["bytes"]), *cells(entries, algorithms, others))
    return table


def cells(entries: dict[str, dict[str, Any]], algorithms: list[str], others: list[str]) -> list[str]:
    """One row."""
    least = min(entry["seconds"] for entry in entries.values())
    texts = []
    for name in (*algorithms, *others):
        entry = entries.get(name)
        text = cell(entry, name in others) if entry else "-"
        texts.append(f"[bold]{text}[/bold]" if entry and entry["seconds"] == least else text)
    return texts


def cell(entry: dict[str, Any], named: bool) -> str:
    """`12.3 us`, and by what."""
    text = seconds_text(entry["seconds"])
    return f"{text}  {text_of(entry['choice'])}" if named else text


def condition_lines(rows: list[dict[str, Any]]) -> list[str]:
    """When groups pay, a line for each run of sizes that are alike."""
    lines = []
    for index, about in enumerate(rows[0]["groups"]):
        each = [row["groups"][index] for row in rows]
        if not any(entry["condition"] for entry in each):
            continue  # the papers have no condition
        for first, last in runs_of([(entry["groups"], entry["holds"], groups_here(entry)) for entry in each]):
            entry = each[first]
            sizes = size_text(rows[first]["bytes"])
            sizes += f" to {size_text(rows[last]['bytes'])}" if last > first else ""
            best = f"G* = {entry['groups']}" if entry["groups"] > 1 else "no groups"
            if entry["continuous"] > 0 and entry["groups"] > 1:
                best += f" (continuous {entry['continuous']:.1f}, best divisor {entry['divisor']})"
            why = f"; {entry['condition']}" if entry["condition"] else ""
            here = groups_here(entry)
            if here:
                best = f"{here}; on equal links {best}"
            lines.append(f"{about['algorithm']} by {about['form']}, {sizes}: {best}{why}")
    return lines


def groups_here(entry: dict[str, Any]) -> str:
    """The best number of groups on the machine, where messages were followed."""
    if not entry["best"]:
        return ""
    groups = re.search(r"groups=(\d+)", entry["best"]["choice"])
    return f"best here {groups[1]} groups" if groups and groups[1] != "1" else "best here no groups"


def write_plot(path: str, title: str, rows: list[dict[str, Any]]) -> None:
    """A picture of seconds over bytes, as SVG or as a page."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        entries = {**row["base"], "hierarchical": row["hierarchical"], "shared": row["shared"]}
        for name, entry in entries.items():
            if entry and entry["seconds"] > 0:
                lines.setdefault(name, []).append((max(row["bytes"], 1), entry["seconds"]))
    picture = svg(title, lines, lambda x: size_text(round(x)), seconds_text)
    _core.write_file(path, page(title, picture) if Path(path).suffix == ".html" else picture)


def checked(collective: str, ranks: int, model: str, plot: str | None) -> str:
    """The core's name of the collective; usage errors."""
    if model not in MODELS:
        raise BadParameter(f"expected {', '.join(MODELS)}, found '{model}'", param_hint="--model")
    if model in {"hockney", "loggp"} and ranks > MOST_EVALUATED:
        text = f"expected auto or closed for more than {MOST_EVALUATED} ranks, whose messages take long to follow"
        raise BadParameter(text, param_hint="--model")
    if plot is not None and Path(plot).suffix not in {".svg", ".html"}:
        raise BadParameter(f"expected a name ending in .svg or .html, found '{plot}'", param_hint="--plot")
    return collective_named(collective)


def collective_named(word: str) -> str:
    """The core's name of a collective; a usage error with the nearest name where there is none."""
    name = "broadcast" if word == "bcast" else word
    try:
        _core.collective_algorithms(name)
    except _core.Error:
        near = nearest(word, (*NAMES, "broadcast")) or f"expected one of {', '.join(NAMES)}"
        raise BadParameter(f"no such collective: '{word}' ({near})", param_hint="COLLECTIVE") from None
    return name


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    collective: Annotated[str, Argument(help="bcast, reduce, allreduce, barrier, gather, scatter, ...")],
    ranks: Annotated[int, Option("--np", min=2, max=1_000_000, help="ranks")],
    machine: Annotated[str, Option(help="as `ranktree topo` takes it")] = "live",
    network: Annotated[str | None, Option(help="as `ranktree topo` takes it")] = None,
    sizes: Annotated[str, Option(help="bytes: 8,1K or 1K:16M (doubling); of one block where there are")] = "1K:16M",
    parameters: Annotated[str | None, Option(help="what `ranktree calibrate` wrote")] = None,
    groups: Annotated[int | None, Option(min=1, help="so many groups instead of the machine's levels")] = None,
    by_node: Annotated[bool, Option("--by-node", help="ranks go to nodes in turn")] = False,
    shared: Annotated[bool, Option("--shared/--no-shared", help="shared memory inside nodes too")] = True,
    model: Annotated[str, Option(help="closed forms; following messages: hockney, loggp (auto: to 32 ranks)")] = "auto",
    plot: Annotated[str | None, Option(decides="written", help="write a picture: .svg or .html")] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
) -> None:
    """Predict what each algorithm costs, which hierarchy is best, how many groups pay and why."""
    # #lizard forgives the number of parameters: every option is one
    name = checked(collective, ranks, model, plot)
    if groups is not None and groups > ranks:
        raise BadParameter(f"expected at most {ranks}, found {groups}", param_hint="--groups")
    tree = _core.load_machine(machine, network).cut_at("Core")
    if ranks > tree.leaf_count:
        raise ValueError(f"--np: the machine has slots for {tree.leaf_count} ranks, found {ranks}")
    launch = _core.model_launch(tree, ranks, parameters, by_node)
    wanted = [0] if name == "barrier" else sizes_of(sizes)
    rows = [launch.predict(name, size, model, shared, groups or 0) for size in wanted]
    title = f"{name}, {ranks} ranks" + (f", {groups} groups" if groups is not None else "")
    if plot is not None:
        write_plot(plot, title, rows)
    if json:
        levels = [{**level, "name": own} for level, own in zip(launch.parameters.levels, launch.names, strict=True)]
        document = {
            "format": "ranktree-predict",
            "version": 1,
            "collective": name,
            "ranks": ranks,
            "model": rows[0]["model"],
            "links": launch.source,
        }
        document |= {"levels": levels, "rows": rows}
        echo(json_module.dumps(document, indent=1))
        return
    blocks = "; bytes of one block" if name in BLOCKS else ""
    Console(width=200).print(table_of(rows, title + blocks))
    echo(f"costs by {MODELS[rows[0]['model']]}")
    echo(f"costs of links: {launch.source}")
    for line in condition_lines(rows):
        echo(line)
