"""`ranktree report`: what was found, as one page, as text or as JSON."""

from pathlib import Path
from typing import Annotated

from ranktree.allocation import HostFile, Hosts
from ranktree.cli.options import Argument, BadParameter, Option, echo

EXAMPLE = "ranktree report app.npz --plan plan.json --machine cluster.json -o report.html"


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    pattern: Annotated[str, Argument(help="a pattern file, as `ranktree map` takes it")],
    plan: Annotated[str | None, Option("--plan", "-p", help="written by `ranktree map`")] = None,
    machine: Annotated[str | None, Option(help="as for `ranktree map`; without --plan, places on it")] = None,
    network: Annotated[str | None, Option(help="as `ranktree map` takes it")] = None,
    hosts: Hosts = None,
    hostfile: HostFile = None,
    runs: Annotated[str | None, Option(help="measured times, from `ranktree optimize` or `compare`")] = None,
    log: Annotated[str | None, Option(help="from `ranktree run --collectives-log`")] = None,
    collectives: Annotated[str, Option(help="model (of the traced MPI), openmpi, mpich, flat, none")] = "model",
    metric: Annotated[str | None, Option(help="place by size (bytes), msg (messages) or avg, not by time")] = None,
    unit: Annotated[str, Option(help="one rank a core or a pu")] = "core",
    cost: Annotated[str, Option(help="hops, latency or bandwidth")] = "hops",
    worthwhile: Annotated[float, Option(min=0, max=100, help="PERCENT: a smaller gain is no gain")] = 2.0,
    output: Annotated[Path | None, Option("-o", "--output", decides="written", help="write the page here")] = None,
    text: Annotated[bool, Option("--text", help="print text [the default without -o]")] = False,
    json: Annotated[bool, Option("--json", help="print JSON (docs/reference/formats/report.md)")] = False,
) -> None:
    """Show who talks to whom, where, and what a better placement saves: one offline page, text, or JSON."""
    # #lizard forgives the number of parameters: every option is one
    from ranktree import _core  # noqa: PLC0415  the extension and numpy, for this verb only
    from ranktree.cli.output import require_writable  # noqa: PLC0415
    from ranktree.measures import COSTS, METRICS  # noqa: PLC0415
    from ranktree.report.document import as_json, build  # noqa: PLC0415
    from ranktree.report.html import as_html  # noqa: PLC0415
    from ranktree.report.inputs import Request  # noqa: PLC0415
    from ranktree.report.text import as_text, printable  # noqa: PLC0415

    require_one_of(collectives, ("model", "openmpi", "mpich", "flat", "none"), "--collectives")
    require_one_of(unit, ("core", "pu"), "--unit")
    require_one_of(metric or "size", tuple(METRICS), "--metric")
    require_one_of(cost, COSTS, "--cost")
    if not any((plan, machine, network, hosts, hostfile)):
        given = {"--unit": unit != "core", "--cost": cost != "hops"}
        if option := next((name for name, value in given.items() if value), None):
            raise BadParameter("needs a machine or a plan", param_hint=option)
    if output is not None:
        require_writable(output)
    request = Request(
        pattern,
        plan,
        machine,
        network,
        hosts,
        str(hostfile) if hostfile is not None else None,
        runs,
        log,
        collectives,
        metric,
        unit,
        cost,
        output=str(output) if output else None,
        worthwhile=worthwhile / 100,
    )
    document = build(request)
    if output is not None:
        _core.write_file(str(output), as_html(document))
    if json:
        echo(as_json(document))
    elif text or output is None:
        echo(as_text(document))
    else:
        echo(printable(document["verdict"]["sentence"]))


def require_one_of(value: str, allowed: tuple[str, ...], option: str) -> None:
    """A usage error that lists what is allowed."""
    if value not in allowed:
        raise BadParameter(f"expected {', '.join(allowed)}; found '{value}'", param_hint=option)
