"""`ranktree simulate`: a program, or a recorded pattern, on any machine, at any number of ranks."""

import json as json_module
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from ranktree import _core
from ranktree.child import become
from ranktree.cli.options import Argument, BadParameter, Exit, Option, echo
from ranktree.pattern import COLLECTIVE_MODELS, named_after
from ranktree.runs.process import temporary_folder
from ranktree.simulate.machine import SimulatedMachine, leaves_in_order, leaves_of_plan, simulated_machine
from ranktree.simulate.replay import ROUNDS, load_expanded, replay, rounds_of
from ranktree.simulate.report import level_table, lines
from ranktree.simulate.run import ALGORITHM, EAGER, SELECTORS, SHARED_FAILS, USUAL_OVERHEAD, Result, Settings, simulate
from ranktree.simulate.served import wrong_setting
from ranktree.simulate.tools import compiler

INTERSPERSED = False
EXAMPLE = "ranktree simulate --machine machines/fat-tree-128x64.json --np 4096 -- ./app.sim"


def compile_program(words: list[str]) -> None:
    """Becomes SimGrid's compiler wrapper: `cc -O2 app.c -o app`."""
    if not words:
        raise BadParameter("expected -- cc|c++|f90 and the compiler's arguments", param_hint="--compile")
    become([compiler(words[0]), *words[1:]])


def leaves(machine: SimulatedMachine, ranks: int | None, plan: str | None, order: str) -> list[int]:
    """The leaf of each rank, from the plan or in order."""
    if plan is None:
        if ranks is None:
            raise BadParameter("expected a number of ranks, or --plan", param_hint="--np")
        return leaves_in_order(machine, ranks, order)
    found = leaves_of_plan(machine, _core.load_plan(plan), plan)
    if ranks is not None and ranks != len(found):
        raise BadParameter(f"expected {len(found)}, the ranks of the plan, found {ranks}", param_hint="--np")
    return found


@dataclass(frozen=True)
class Ranks:
    """Where ranks are: by a plan, or so many in order."""

    count: int | None
    plan: str | None
    order: str

    def on(self, machine: SimulatedMachine) -> list[int]:
        """The leaf of each."""
        return leaves(machine, self.count, self.plan, self.order)


def replayed(
    file: str, collectives: str, rounds: int, machine: SimulatedMachine, ranks: Ranks, settings: Settings, folder: Path
) -> Result:
    """A pattern in place of a program."""
    pattern, warnings = load_expanded(file, collectives)
    for warning in warnings:
        echo(f"ranktree: {file}: {warning}", err=True)
    if ranks.count not in {None, pattern.ranks}:
        raise BadParameter(f"expected {pattern.ranks}, the pattern's ranks, found {ranks.count}", param_hint="--np")
    placed = replace(ranks, count=pattern.ranks).on(machine)
    with named_after(file):
        sent = rounds_of(pattern, rounds)
    return replay(machine, placed, sent, settings, folder)


def wrong_collectives(text: str | None, replays: bool) -> str | None:
    """What is wrong with --collectives; None where nothing is."""
    if text is None:
        return None
    if replays:
        return None if text in COLLECTIVE_MODELS else f"of a pattern: expected {', '.join(COLLECTIVE_MODELS)}"
    if text in SELECTORS:
        return f"expected what `ranktree run --collectives` takes; --selector {text} is for SMPI's own algorithms"
    return wrong_setting(text)


def print_text(report: dict[str, Any], share_buffers: bool) -> None:
    """The table and the lines below it."""
    Console(width=100).print(level_table(report))
    for line in lines(report):
        echo(line)
    if share_buffers:
        echo("Buffers were shared (--share-buffers): the program's results were not checked.")


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    words: Annotated[
        list[str] | None, Argument(metavar="[--] PROGRAM...", help="compiled by `ranktree simulate --compile`")
    ] = None,
    compile_: Annotated[
        bool, Option("--compile", help="compile instead: -- cc|c++|f90 and the compiler's arguments")
    ] = False,
    replay_file: Annotated[
        str | None, Option("--replay", metavar="APP.npz", help="send the messages of a pattern instead")
    ] = None,
    machine: Annotated[str, Option("--machine", help="as `ranktree topo` takes it")] = "live",
    network: Annotated[str | None, Option(help="as `ranktree topo` takes it")] = None,
    ranks: Annotated[int | None, Option("--np", min=1, help="ranks")] = None,
    plan: Annotated[str | None, Option(help="where each rank is: what `ranktree map` wrote")] = None,
    order: Annotated[str, Option(help="without a plan: packed or round-robin (over the nodes)")] = "packed",
    unit: Annotated[str, Option(help="one rank a core or a pu")] = "core",
    overhead: Annotated[float, Option(min=0, help="seconds of a rank for each send and receive")] = USUAL_OVERHEAD,
    eager: Annotated[
        int, Option(min=0, max=2**31 - 1, metavar="BYTES", help="sends from so many bytes on wait for their receive")
    ] = EAGER,
    collectives: Annotated[
        str | None,
        Option(help="of a program: served as by `ranktree run`, by messages; of a pattern: as `ranktree map` has it"),
    ] = None,
    rounds: Annotated[int, Option(min=1, help="of a replay: at most so many messages a pair")] = ROUNDS,
    selector: Annotated[str, Option(help=f"collectives as in {', '.join(SELECTORS)}")] = "ompi",
    algorithm: Annotated[
        list[str] | None,
        Option(
            "--algorithm", metavar="COLLECTIVE:NAME", help="SMPI's algorithm of a collective, before the selector's"
        ),
    ] = None,
    measure: Annotated[bool, Option("--measure", help="computing takes as long as here, else no time")] = False,
    share_buffers: Annotated[
        bool,
        Option("--share-buffers", help="large buffers share memory: results are wrong, programs that check them fail"),
    ] = False,
    share_globals: Annotated[
        bool, Option("--share-globals", help="ranks share global variables: for programs that write none")
    ] = False,
    memory_per_rank: Annotated[int, Option(min=0, help="bytes each rank allocates, for the estimate")] = 0,
    time_limit: Annotated[
        float | None, Option(above=0, help="SECONDS of this machine, then the simulation ends")
    ] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
    progress: Annotated[
        bool | None, Option("--progress/--quiet", help="lines about ranks that have finished [on a terminal]")
    ] = None,
) -> None:
    """Run a program with any number of ranks on a simulated machine: time, bytes by level, the most loaded link."""
    # #lizard forgives the number of parameters: every option is one
    if compile_:
        compile_program(words or [])
    if bool(words) == (replay_file is not None):
        raise BadParameter("expected -- and a program, compiled by `ranktree simulate --compile`; or --replay")
    if wrong := wrong_collectives(collectives, replay_file is not None):
        raise BadParameter(wrong, param_hint="--collectives")
    if selector not in SELECTORS:
        raise BadParameter(f"expected {', '.join(SELECTORS)}, found '{selector}'", param_hint="--selector")
    if wrong := next((each for each in algorithm or [] if not ALGORITHM.fullmatch(each)), None):
        raise BadParameter(f"expected COLLECTIVE:NAME, found '{wrong}'", param_hint="--algorithm")
    settings = Settings(
        overhead=overhead,
        eager=eager,
        collectives=collectives if replay_file is None else None,
        algorithms=tuple(algorithm or []),
        selector=selector,
        measure=measure,
        share_buffers=share_buffers,
        share_globals=share_globals,
        memory_of_rank=memory_per_rank,
        progress=sys.stderr.isatty() if progress is None else progress,
        time_limit=time_limit,
    )
    with temporary_folder("ranktree-machine-") as folder:
        simulated = simulated_machine(machine, network, unit, folder)
        where = Ranks(ranks, plan, order)
        if replay_file is not None:
            found = replayed(replay_file, collectives or "model", rounds, simulated, where, settings, folder)
        else:
            found = simulate(simulated, where.on(simulated), words or [], settings)
    found.report.pop("links", None)
    if json:
        echo(json_module.dumps(found.report, indent=1))
    else:
        print_text(found.report, share_buffers)
    if found.code:
        if share_buffers:
            echo(f"ranktree: {words[0] if words else replay_file}: exit code {found.code}; {SHARED_FAILS}", err=True)
        raise Exit(found.code)
