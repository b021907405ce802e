"""The document that all renderings show; its fields are specified in docs/reference/formats/report.md."""

import itertools
import json
from pathlib import Path
from typing import Any

from ranktree.report import decisions, places, traffic
from ranktree.report.cells import heat_map
from ranktree.report.inputs import WORTHWHILE, Inputs, Request, gather
from ranktree.report.launch import Launch, shell_text
from ranktree.report.limits import limit_rows, limits
from ranktree.report.verdict import verdict
from ranktree.usable_machine import is_oversubscribed

FORMAT, VERSION = "ranktree-report", 1
BY_NAME = ("treematch", "greedy", "round-robin", "random", "identity")  # algorithms that a user may have named
DEFAULTS = {"collectives": "model", "unit": "core", "cost": "hops", "seed": 1}


def build(request: Request) -> dict[str, Any]:
    """The whole document. Same inputs, same document."""
    return assemble(gather(request))


def assemble(inputs: Inputs) -> dict[str, Any]:
    """The document of inputs that are already loaded."""
    pairs = traffic.Pairs(inputs.traffic)
    sums = traffic.totals(inputs, pairs)
    by_time = limit_rows(inputs, "time")
    bottleneck = inputs.plan is not None and inputs.plan.algorithm == "bottleneck"
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": Path(inputs.request.pattern).name,
        "verdict": verdict(inputs, sums, limit_rows(inputs, "bottleneck") if bottleneck else by_time),
        "notes": inputs.notes,
        "program": program(inputs),
        "traffic": sums,
        "heat_map": heat_map(inputs, pairs),
        "levels": places.levels(inputs),
        "machine": places.machine(inputs, pairs),
        "crossing": places.crossing(inputs, pairs),
        "links": places.links(inputs, pairs),
        "limits": limits(inputs, by_time),
        "node_traffic": places.node_traffic(inputs, pairs),
        "top_pairs": traffic.top_pairs(inputs, pairs),
        "message_sizes": traffic.message_sizes(inputs, pairs),
        "sends": traffic.sends(inputs),
        "calls": traffic.calls(inputs),
        "communicators": traffic.communicators(inputs),
        "not_attributed": traffic.not_attributed(inputs),
        "tracing": traffic.tracing(inputs),
        "collective_decisions": decisions.read_log(inputs.log),
        "runs": inputs.runs,
        "commands": commands(inputs),
    }
    document["absent"] = absent(document)
    return document


def program(inputs: Inputs) -> dict[str, Any]:
    """What ran, and whether every rank of it was recorded."""
    metadata = inputs.recorded.metadata
    return {
        "ranks": inputs.recorded.ranks,
        "command": metadata["program"],
        "launch": list(metadata["launch"]),
        "mpi": metadata["mpi"],
        "source": metadata["source"],
        "hosts": sorted(set(filter(None, metadata["hosts"]))),
        "complete": metadata["complete"],
        "missing": list(metadata["missing"]),
    }


def commands(inputs: Inputs) -> list[dict[str, str]]:
    """What reproduces the report, in order."""
    request = inputs.request
    launch = Launch.of(inputs.recorded)
    steps = []
    if "trace" in inputs.recorded.metadata["source"]:
        steps.append(("record the pattern", launch.traced(request.pattern)))
    plan = request.plan
    ours = itertools.takewhile(lambda word: word != "--", request.run)
    reorders = "--reorder" in ours  # it places among the slots of the launch, not on the machine
    if request.source is not None and not reorders:
        plan = plan or "plan.json"
        words = ["ranktree", "map", request.pattern, *machine_words(request), *placing_words(inputs), "-o", plan]
        steps.append(("compute the plan", shell_text(words)))
    if request.run:
        steps.append(("run by the plan", shell_text(request.run)))
    elif plan is not None:
        steps.append(("run by the plan", launch.by_plan(plan, request.source)))
    steps.append(("make this report", shell_text(report_words(request))))
    return [{"what": what, "command": command} for what, command in steps]


def machine_words(request: Request) -> list[str]:
    """--machine and what goes with it."""
    names = ("machine", "network", "hosts", "hostfile", "unit", "cost")
    named = {name: getattr(request, name) for name in names}
    return [
        word
        for name, value in named.items()
        if value is not None and value != DEFAULTS.get(name)
        for word in (f"--{name}", value)
    ]


def placing_words(inputs: Inputs) -> list[str]:
    """The options of `map` that decide the plan."""
    plan = inputs.plan
    if plan is not None and plan.algorithm in {"time", "bottleneck"}:
        words = ["--objective", plan.algorithm]
    else:
        words = ["--metric", (plan.metric if plan is not None else inputs.request.metric) or "size"]
    if inputs.request.collectives != DEFAULTS["collectives"]:
        words += ["--collectives", inputs.request.collectives]
    if inputs.threads > 1:
        words += ["--threads-per-rank", str(inputs.threads)]
    if inputs.tree is not None and is_oversubscribed(inputs.tree, inputs.recorded.ranks):
        words.append("--oversubscribe")
    seed = inputs.request.seed
    if plan is not None and inputs.request.plan is not None:
        seed = plan.seed
        words += ["--algorithm", plan.algorithm] if plan.algorithm in BY_NAME else []
    return words + (["--seed", str(seed)] if seed != DEFAULTS["seed"] else [])


def report_words(request: Request) -> list[str]:
    """This report's own command."""
    words = ["ranktree", "report", request.pattern]
    for name, value in (("--plan", request.plan), ("--runs", request.runs), ("--log", request.log)):
        words += [name, value] if value is not None else []
    words += machine_words(request)
    if request.metric is not None:
        words += ["--metric", request.metric]
    if request.collectives != DEFAULTS["collectives"]:
        words += ["--collectives", request.collectives]
    if request.worthwhile != WORTHWHILE:
        words += ["--worthwhile", f"{100 * request.worthwhile:g}"]
    return [*words, "-o", request.output or "report.html"]


def absent(document: dict[str, Any]) -> list[str]:
    """What the inputs do not hold, a line each, in place of empty charts."""
    lines = []
    if document["levels"] is None:
        lines.append("Placements, traffic by level and links: name a machine (--machine) or a plan (--plan).")
    elif document["machine"] is None or document["machine"]["source"] is None:
        lines.append("Levels inside the nodes, links and the placement before the plan: name the machine (--machine).")
    if document["levels"] is not None and "Network" in " ".join(document["levels"]["kinds"]):
        lines.append("Links inside the network: it is no tree, so only what leaves and enters the nodes is shown.")
    if document["traffic"]["messages"] and not document["traffic"]["bytes"]:
        lines.append("Bytes: the pattern holds numbers of messages only.")
    elif not document["traffic"]["messages"]:
        lines.append("Messages, their sizes: the pattern holds bytes only.")
    elif not document["sends"]["calls"]:
        lines.append("Sizes of single messages: the pattern holds messages and bytes of each pair.")
    if not document["calls"]:
        lines.append("Collective calls, communicators: the pattern holds pairs of ranks only.")
    if document["tracing"] is None:
        lines.append("Overhead of tracing: `ranktree trace` did not record this pattern.")
    if not document["collective_decisions"]:
        lines.append("Choices of collectives: name a log of `ranktree run --collectives auto` (--log).")
    if document["runs"] is None:
        lines.append("Measured times: name the runs of `ranktree optimize` or `ranktree compare` (--runs).")
    return lines


def as_json(document: dict[str, Any]) -> str:
    """The document as the file that `--json` prints."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
