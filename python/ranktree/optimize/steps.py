"""The steps of `ranktree optimize`, from the launch to the report."""

import os
import shlex
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from ranktree import _core, verify
from ranktree.allocation import Allocation
from ranktree.cli.run import placing, with_libraries
from ranktree.launcher import LaunchCommand, take_apart
from ranktree.optimize.candidates import Candidate, candidates, reorderings, worth_measuring
from ranktree.pattern import expand, natural_model
from ranktree.placed_run import found_slots, slots_for
from ranktree.report.document import build
from ranktree.report.html import as_html
from ranktree.report.inputs import Request
from ranktree.report.verdict import percent
from ranktree.rewrite import without_placement
from ranktree.runs.document import Series, document, save
from ranktree.runs.interleave import Measurement, compiled, measure
from ranktree.runs.process import run_once, tail
from ranktree.shim import choose, read_command
from ranktree.traced_hosts import fit_hosts
from ranktree.usable_machine import is_oversubscribed, nodes_of, usable_machine
from ranktree.world import OBJECTIVE_KEY, Reorder, require_as_many_ranks

FORMAT, VERSION = "ranktree-optimize", 1
BEFORE = "before"
Notify = Callable[[str], None]
# The same command again, wherever this Python found it: it may run isolated from PYTHONPATH.
OURSELVES = (
    sys.executable,
    "-P",
    "-c",
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from ranktree.cli.main import main; main()",
    str(Path(__file__).absolute().parents[2]),
)


@dataclass
class Wishes:
    """What the user wants."""

    words: list[str]
    folder: Path
    pattern: Path | None = None
    machine: str | None = None
    network: str | None = None
    hosts: Allocation | None = None
    threads: int | None = None  # a rank; None: as many as it has cores for itself
    runs: int = 5
    metric_regex: str | None = None
    unit: str = "s"
    limit: float | None = None
    check: str = "pus"  # pus, hosts, nothing
    worthwhile: float = 0.02
    seed: int = 1
    mpi: str | None = None


@dataclass(frozen=True)
class Reporter:
    """Where the user sees what happens: a line of progress, and lines that stay."""

    progress: Notify
    note: Notify


@dataclass
class Result:
    """What came out; `runs` is complete only where every round was."""

    result: str = ""
    sentence: str = ""
    command: list[str] = field(default_factory=list)
    emitted: str = ""
    dropped: list[str] = field(default_factory=list)
    gains: dict[str, float] = field(default_factory=dict)
    runs: dict[str, Any] | None = None
    files: list[Path] = field(default_factory=list)

    @property
    def gained(self) -> bool:
        """Whether a plan is recommended."""
        return bool(self.command)


def optimize(wishes: Wishes, result: Result, reporter: Reporter) -> None:
    """Fills the result step by step, so that what is there when something fails can be kept."""
    command = take_apart(wishes.words)
    if wishes.pattern is not None:
        require_as_many_ranks(wishes.pattern, read_command(wishes.words))
    pattern = wishes.pattern or traced(wishes, reporter.progress)
    tree, machine = machine_for(wishes, command, reporter)
    reporter.progress("placing")
    found = all_candidates(wishes, tree, pattern, reporter.note)
    for each in found:
        _core.save_plan(str(each.path), each.plan)
        result.files.append(each.path)
    result.gains = {each.name: each.gain for each in found}
    chosen = worth_measuring(found, wishes.worthwhile)
    words, result.dropped = without_placement(command)
    best = max(found, key=lambda each: each.gain, default=None)
    if chosen:
        best = measured(wishes, result, words, chosen, reporter.progress)
    if best is None or best.reorders:
        result.dropped = []
    conclude(wishes, result, words, best, measured_any=bool(chosen))
    write_report(wishes, result, words, pattern, machine, best)


def all_candidates(wishes: Wishes, tree: "_core.Tree", pattern: Path, note: Notify) -> list[Candidate]:
    """Plans, and other orders where the ranks can have one; none for a program whose ranks exchange nothing."""
    recorded, warnings = _core.load_pattern(str(pattern))
    for warning in warnings:
        note(f"{pattern}: {warning}")
    traffic = expand(recorded, natural_model(recorded))
    fit_hosts(traffic, tree, note, is_oversubscribed(tree, traffic.ranks))
    found = candidates(tree, traffic, wishes.folder, wishes.seed)
    if found and can_reorder(wishes):
        found += reorderings(tree, traffic, wishes.folder, wishes.seed)
    return found


def can_reorder(wishes: Wishes) -> bool:
    """Whether there is a library that gives this command's ranks another order."""
    try:
        choose(read_command(wishes.words), wishes.mpi).preloads({"RANKTREE_REORDER": ""})
    except ValueError:
        return False
    return True


def pattern_path(wishes: Wishes) -> Path:
    """The recorded pattern, where it stays."""
    return wishes.pattern or wishes.folder / "pattern.npz"


def traced(wishes: Wishes, notify: Notify) -> Path:
    """The pattern of one run with tracing on, by `ranktree trace`."""
    notify("tracing one run")
    path = pattern_path(wishes)
    options = ["--mpi", wishes.mpi] if wishes.mpi else []
    words = [*OURSELVES, "trace", "-q", "-o", str(path), *options, "--", *wishes.words]
    outcome = run_once(words, os.environ, wishes.folder / "trace.output", wishes.limit)
    if outcome.late:
        raise RuntimeError(f"the traced run did not end in {wishes.limit:g} s")
    if outcome.code != 0 or not path.exists():
        raise RuntimeError(f"the traced run failed with exit code {outcome.code}: {tail(outcome.output)}")
    return path


def machine_for(wishes: Wishes, command: LaunchCommand, reporter: Reporter) -> tuple["_core.Tree", str]:
    """The slots of the machine that the user names, else of the hosts on which the launch puts its ranks; its file."""
    path = wishes.folder / "machine.json"
    if wishes.machine is None and wishes.network is None and wishes.hosts is None:
        reporter.progress("looking at the hosts of the launch")
        return found_slots(command, path, wishes.threads, reporter.note), str(path)
    tree, described = usable_machine(wishes.machine, wishes.network, wishes.hosts, reporter.note)
    if described:
        if len(nodes_of(tree)) > 1:
            raise ValueError(f"--machine '{wishes.machine}' has no real hosts: give --hosts")
        here = Allocation((socket.gethostname(),), "this node", named=True)
        tree, _ = usable_machine(wishes.machine, None, here, reporter.note)
    _core.save_machine(str(path), tree)
    return slots_for(tree, wishes.threads or 1), str(path)


def measured(
    wishes: Wishes, result: Result, words: list[str], chosen: Sequence[Candidate], notify: Notify
) -> Candidate:
    """Verifies the candidates, runs them in turn with the command as it is; returns the one with the best median."""
    series = [Series(BEFORE, list(wishes.words))]
    what = Measurement(series, wishes.runs, compiled(wishes.metric_regex), wishes.limit)
    for each in chosen:
        if each.reorders:
            keys = (f"{OBJECTIVE_KEY}time",) if each.goal == "time" else ()
            order = Reorder(pattern_path(wishes), each.plan.metric, keys)
            series.append(Series(each.name, with_libraries(wishes.words, wishes.mpi, order.variables())))
            continue
        place = wishes.folder.absolute() / f"launch.{each.goal}"
        launch = placing(words, each.path, place, ours=True)
        if wishes.check != "nothing":
            notify(f"verifying the {each.name}")
            folder = wishes.folder.absolute()
            verify.require(launch.slots, launch.command, launch.prepare, folder, wishes.check == "pus")
        arguments, what.variables[each.name] = launch.own()
        series.append(Series(each.name, arguments))
    try:
        measure(what, lambda number, one: notify(f"round {number + 1} of {wishes.runs}: {one.name}"))
    finally:
        result.runs = runs_of(wishes, series)
        if result.runs is not None:
            path = wishes.folder / "runs.json"
            save(path, result.runs)
            result.files.append(path)
    if result.runs is None:
        raise RuntimeError("no complete round was measured")
    return next(each for each in chosen if each.name == result.runs["comparison"]["candidate"])


def runs_of(wishes: Wishes, series: Sequence[Series]) -> dict[str, Any] | None:
    """The runs so far, the fastest plan last; None without a complete round."""
    if not series[0].values:
        return None
    plans = sorted(series[1:], key=lambda one: -median(one.values))
    label = "wall time" if wishes.metric_regex is None else f"what '{wishes.metric_regex}' finds"
    unit = wishes.unit if wishes.metric_regex else "s"
    return document([series[0], *plans], unit, label, paired=True, seed=wishes.seed)


def conclude(wishes: Wishes, result: Result, words: list[str], best: Candidate | None, measured_any: bool) -> None:
    """The closing sentence, and the recommended plan where there is one."""
    if best is None:
        result.result, result.sentence = "no gain", "Nothing to gain: the ranks exchange nothing."
        return
    if not measured_any:
        result.result = "no gain" if best.gain <= 0 else "not worthwhile"
        result.sentence = unmeasured(best, wishes.worthwhile)
        return
    comparison = (result.runs or {})["comparison"]
    result.result = comparison["result"]
    if result.result == "faster" and comparison["ratio"] - 1 < wishes.worthwhile:
        result.result = "not worthwhile"
    interval = f"(95 % interval {comparison['low']:.2f} to {comparison['high']:.2f})"
    if result.result == "faster":
        recommend(wishes, result, words, best)
        result.sentence = f"{comparison['ratio']:.2f}x faster {interval}: run it with: {shlex.join(result.command)}"
    elif result.result == "not worthwhile":
        result.sentence = f"Nothing worth changing: {comparison['ratio']:.2f}x faster {interval}."
    elif result.result == "slower":
        result.sentence = (
            f"Nothing to gain: by the {best.name} it is slower, {comparison['ratio']:.2f}x as fast {interval}."
        )
    else:
        result.sentence = comparison["sentence"]


def unmeasured(best: Candidate, worthwhile: float) -> str:
    """Why nothing was measured."""
    if best.gain <= 0:
        return "Nothing to gain: no placement found costs less than the present one by the model."
    return (
        f"Nothing worth changing: the best plan saves {percent(best.gain)} by the model; "
        f"below {percent(worthwhile)} a rerun is unlikely to show it."
    )


def recommend(wishes: Wishes, result: Result, words: list[str], best: Candidate) -> None:
    """plan.json, the launcher's own files, and the command that uses the plan; for another order the command alone."""
    plan = wishes.folder / "plan.json"
    result.command = run_words(wishes, words, best, plan)
    if best.reorders:
        return
    _core.save_plan(str(plan), best.plan)
    folder = (wishes.folder / "launcher").absolute()
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier run
    arguments, variables = placing(words, plan, folder, ours=True).own()
    removed = [word for name in os.environ if name not in variables for word in ("-u", name)]
    own = [f"{name}={shlex.quote(value)}" for name, value in variables.items() if os.environ.get(name) != value]
    own = [*(["env", *removed] if removed else []), *own]
    result.files += [plan, *sorted(folder.iterdir())]
    result.emitted = " ".join([*own, shlex.join(arguments)])


def run_words(wishes: Wishes, words: list[str], best: Candidate, plan: Path) -> list[str]:
    """The command that runs the program by a candidate. `words`: the launcher's without its own placement."""
    if not best.reorders:
        return ["ranktree", "run", "--plan", str(plan), "--", *words]
    goal = {"time": ["--objective", "time"], "size": [], "msg": ["--metric", "msg"]}[best.goal]
    mpi = ["--mpi", wishes.mpi] if wishes.mpi else []
    return ["ranktree", "run", "--reorder", str(pattern_path(wishes)), *goal, *mpi, "--", *wishes.words]


def write_report(
    wishes: Wishes, result: Result, words: list[str], pattern: Path, machine: str, best: Candidate | None
) -> None:
    """report.html."""
    runs = wishes.folder / "runs.json"
    page = wishes.folder / "report.html"
    plan: dict[str, Any] = {}
    if best is not None:
        run = result.command or run_words(wishes, words, best, best.path)
        plan = {"plan": str(best.path), "machine": machine, "run": run}
    request = Request(
        str(pattern),
        runs=str(runs) if result.runs is not None else None,
        output=str(page),
        worthwhile=wishes.worthwhile,
        **plan,
    )
    _core.write_file(str(page), as_html(build(request)))
    result.files.append(page)


def as_document(result: Result, folder: Path) -> dict[str, Any]:
    """For `--json`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "result": result.result,
        "sentence": result.sentence,
        "command": result.command or None,
        "launcher_command": result.emitted or None,
        "replaced_options": result.dropped,
        "model_gains": result.gains,
        "runs": result.runs,
        "folder": str(folder),
        "files": [str(path) for path in result.files],
    }
