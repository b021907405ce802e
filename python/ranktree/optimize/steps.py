"""The steps of `ranktree optimize`, from the launch to the report."""

import json
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
from ranktree.report.document import build
from ranktree.report.html import as_html
from ranktree.report.inputs import Request
from ranktree.report.verdict import percent
from ranktree.rewrite import without_placement
from ranktree.runs.document import Series, document, save
from ranktree.runs.interleave import Measurement, compiled, measure
from ranktree.runs.process import run_once, tail
from ranktree.shim import choose, read_command
from ranktree.usable_machine import nodes_of, usable_machine
from ranktree.where import launch as where
from ranktree.where.machine import machine_of
from ranktree.world import Reorder, require_as_many_ranks

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
    runs: int = 5
    metric_regex: str | None = None
    unit: str = "s"
    limit: float | None = None
    check: str = "pus"  # pus, hosts, nothing
    worthwhile: float = 0.02
    seed: int = 1
    mpi: str | None = None


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


def optimize(wishes: Wishes, result: Result, notify: Notify) -> None:
    """Fills the result step by step, so that what is there when something fails can be kept."""
    command = take_apart(wishes.words)
    if wishes.pattern is not None:
        require_as_many_ranks(wishes.pattern, read_command(wishes.words))
    pattern = wishes.pattern or traced(wishes, notify)
    tree, machine = machine_for(wishes, command, notify)
    recorded, _ = _core.load_pattern(str(pattern))
    notify("placing")
    found = candidates(tree, recorded, wishes.folder, wishes.seed)
    if can_reorder(wishes):
        found += reorderings(tree, recorded, wishes.folder, wishes.seed)
    for each in found:
        _core.save_plan(str(each.path), each.plan)
        result.files.append(each.path)
    result.gains = {each.name: each.gain for each in found}
    chosen = worth_measuring(found, wishes.worthwhile)
    words, result.dropped = without_placement(command)
    best = max(found, key=lambda each: each.gain)
    if chosen:
        best = measured(wishes, result, words, chosen, notify)
    if best.reorders:
        result.dropped = []
    conclude(wishes, result, words, best, measured_any=bool(chosen))
    write_report(wishes, result, words, pattern, machine, best)


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


def machine_for(wishes: Wishes, command: LaunchCommand, notify: Notify) -> tuple["_core.Tree", str | None]:
    """The machine that the user names, else the hosts on which the launch puts its ranks."""
    path = wishes.folder / "machine.json"
    if wishes.machine is None and wishes.network is None and wishes.hosts is None:
        notify("looking at the hosts of the launch")
        _core.write_file(str(path), json.dumps(machine_of(where.found_by_launch(command).hosts), indent=1))
        return _core.load_machine(str(path)).cut_at("Core"), str(path)
    tree, described = usable_machine(wishes.machine, wishes.network, wishes.hosts, notify)
    if described:
        if len(nodes_of(tree)) > 1:
            raise ValueError(f"--machine '{wishes.machine}' has no real hosts: give --hosts")
        here = Allocation((socket.gethostname(),), "this node", named=True)
        tree, _ = usable_machine(wishes.machine, None, here, notify)
    _core.save_machine(str(path), tree)
    return tree.cut_at("Core"), str(path)


def measured(
    wishes: Wishes, result: Result, words: list[str], chosen: Sequence[Candidate], notify: Notify
) -> Candidate:
    """Verifies the candidates, runs them in turn with the command as it is; returns the one with the best median."""
    series = [Series(BEFORE, list(wishes.words))]
    what = Measurement(series, wishes.runs, compiled(wishes.metric_regex), wishes.limit)
    for each in chosen:
        if each.reorders:
            order = Reorder(pattern_path(wishes), each.plan.metric, ())
            series.append(Series(each.name, with_libraries(wishes.words, wishes.mpi, order.variables())))
            continue
        place = wishes.folder.absolute() / f"launch.{each.plan.metric}"
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
    fastest = min(series[1:], key=lambda one: median(one.values))
    return next(each for each in chosen if each.name == fastest.name)


def runs_of(wishes: Wishes, series: Sequence[Series]) -> dict[str, Any] | None:
    """The runs so far, the fastest plan last; None without a complete round."""
    if not series[0].values:
        return None
    plans = sorted(series[1:], key=lambda one: -median(one.values))
    label = "wall time" if wishes.metric_regex is None else f"what '{wishes.metric_regex}' finds"
    unit = wishes.unit if wishes.metric_regex else "s"
    return document([series[0], *plans], unit, label, paired=True, seed=wishes.seed)


def conclude(wishes: Wishes, result: Result, words: list[str], best: Candidate, measured_any: bool) -> None:
    """The closing sentence, and the recommended plan where there is one."""
    if not measured_any:
        result.result = "no gain" if best.gain <= 0 else "not worthwhile"
        result.sentence = unmeasured(best, wishes.worthwhile)
        return
    comparison = result.runs["comparison"] if result.runs else None
    if comparison is None:
        raise RuntimeError("no complete round was measured")
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
    metric = [] if best.plan.metric == "size" else ["--metric", best.plan.metric]
    mpi = ["--mpi", wishes.mpi] if wishes.mpi else []
    return ["ranktree", "run", "--reorder", str(pattern_path(wishes)), *metric, *mpi, "--", *wishes.words]


def write_report(
    wishes: Wishes, result: Result, words: list[str], pattern: Path, machine: str | None, best: Candidate
) -> None:
    """report.html."""
    runs = wishes.folder / "runs.json"
    page = wishes.folder / "report.html"
    request = Request(
        str(pattern),
        plan=str(best.path),
        machine=machine,
        runs=str(runs) if result.runs is not None else None,
        output=str(page),
        worthwhile=wishes.worthwhile,
        run=result.command or run_words(wishes, words, best, best.path),
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
