"""`ranktree tune`: measures what the models propose beside the native calls, and keeps what was faster as rules."""

import itertools
import json as json_format
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ranktree import _core
from ranktree.cli.bench import NATIVE, choose, run
from ranktree.cli.calibrate import printed, program_beside
from ranktree.cli.options import Argument, Option, echo
from ranktree.cli.output import require_writable
from ranktree.cli.predict import BLOCKS, NAMES, collective_named
from ranktree.cli.run import Cache, NoCache, folder_for
from ranktree.model import seconds_text, size_text, sizes_of

EXAMPLE = "ranktree tune -o rules.json -- mpirun -n 16"

FORMAT, VERSION = "ranktree-tune", 1
COLLECTIVES = ",".join(NAMES)
DOUBLE = 8  # bytes; the least that is measured
NODE = "Node"
CALIBRATION = "3"  # seconds, where no parameters are given
ODDS = 20  # that a variant is faster, where it is not: a chance of 1 in so many


@dataclass(frozen=True)
class Launch:
    """Ranks as they were started, and what is known of their links."""

    words: list[str]  # that start the measuring program
    places: dict[str, Any]
    hierarchy: _core.Hierarchy
    parameters: _core.Parameters

    @property
    def ranks(self) -> int:
        """How many."""
        return len(self.places["nodes"])

    @property
    def nodes(self) -> int:
        """How many."""
        return len(set(self.places["nodes"]))


def launched(words: Sequence[str], bench: Path, parameters: str | None) -> Launch:
    """Finds where the ranks are, and what their links cost unless a file has it."""
    calibrate = [*words, str(program_beside(bench))]
    places = printed([*calibrate, "--places"], "ranktree-places")
    colours = places["colours"]
    ranks = len(places["nodes"])
    hierarchy = _core.Hierarchy.from_colours(colours) if colours else _core.Hierarchy.flat(ranks)
    across = 0
    if len(set(places["nodes"])) > 1:
        across = places["levels"].index(NODE) + 1 if NODE in places["levels"] else 1
    with tempfile.TemporaryDirectory() as folder:
        if parameters is None:
            parameters = str(Path(folder) / "parameters.json")
            found = printed([*calibrate, "--seconds", CALIBRATION], "ranktree-parameters")
            _core.save_parameters(parameters, json_format.dumps(found))
        known = _core.load_parameters(parameters).parameters.matched(hierarchy.given_levels, across)
    return Launch([*words, str(bench)], places, hierarchy, known)


def proposals(launch: Launch, collective: str, size: int, most: int, base: bool) -> list[str]:
    """What is worth measuring: the models' favourites, and base algorithms where Open MPI's rules are wanted."""
    block = size // launch.ranks if collective in BLOCKS else size
    arguments = (collective, block, launch.hierarchy, launch.parameters, launch.ranks > launch.nodes)
    found = [choice for choice, _ in _core.predict_candidates(*arguments, most)]
    if base:
        everything = [choice for choice, _ in _core.predict_candidates(*arguments, 100)]
        found += [choice for choice in everything if _core.open_mpi_has(collective, choice)][:2]
    return list(dict.fromkeys(found))


def measured(
    launch: Launch, collective: str, size: int, choices: Sequence[str], seconds: float
) -> list[dict[str, Any]]:
    """The lines of the measuring program: native first."""
    chosen = [word for text in (NATIVE, *choices) for word in ("--variant", text)]
    words = [*launch.words, collective, "--sizes", str(size), "--seconds", str(seconds), *chosen]
    count = itertools.count()
    return list(run(words, lambda _: next(count) == len(choices)))


def measured_if_any(  # noqa: PLR0913, PLR0917  what measured() takes
    launch: Launch, collective: str, size: int, choices: Sequence[str], seconds: float, failures: list[str]
) -> list[dict[str, Any]]:
    """The same; none where the launch fails, which is added to `failures`: what was measured before is not lost."""
    try:
        return measured(launch, collective, size, choices, seconds)
    except (RuntimeError, ValueError, OSError) as error:
        failures.append(f"{collective} of {size} bytes: {error}")
        return []


def whole_doubles(size: int) -> int:
    """What the measuring program makes of a size."""
    return max(size // DOUBLE, 1) * DOUBLE


def is_measured(lines: Sequence[dict[str, Any]]) -> bool:
    """Whether the native call's time is known: without it there is no decision, and an earlier one stays."""
    return bool(lines) and lines[0]["variant"] == NATIVE and "wrong" not in lines[0]


def seem_faster(lines: Sequence[dict[str, Any]], margin: float) -> list[dict[str, Any]]:
    """Those that beat native in turn-by-turn medians and in the least time, by chance perhaps."""
    native, *others = lines
    return [
        line for line in others if "wrong" not in line and line["ratio"] >= 1 + margin and line["min"] < native["min"]
    ]


def is_open(lines: Sequence[dict[str, Any]], margin: float) -> bool:
    """Whether a variant seems faster than native, but none beyond doubt: then nothing is known."""
    return is_measured(lines) and winner(lines, margin) is None and bool(seem_faster(lines, margin))


def winner(
    lines: Sequence[dict[str, Any]], margin: float, allowed: Callable[[str], bool] = lambda _: True
) -> dict[str, Any] | None:
    """The fastest of those that beat native round by round, beyond doubt, and in the least time; None: native."""
    if not is_measured(lines):
        return None
    better = (line for line in seem_faster(lines, margin) if line["evidence"] >= ODDS and allowed(line["variant"]))
    return max(better, key=lambda line: line["ratio"], default=None)


def rules_of(
    launch: Launch, collective: str, found: Sequence[tuple[int, int, dict[str, Any] | None]]
) -> Iterator[dict[str, Any]]:
    """A rule for each run of sizes with one winner: from the size measured up to the next one that was.

    `found`: the size, the one after the last that it stands for, and the winner.
    """
    divisor = launch.ranks if collective in BLOCKS else 1
    rules: list[dict[str, Any]] = []
    for size, end, best in found:
        if best is None:
            continue
        first, last = -(-size // divisor), -(-end // divisor) - 1
        if rules and rules[-1]["choice"] == best["variant"] and rules[-1]["bytes"][1] == first - 1:
            rules[-1]["bytes"] = (rules[-1]["bytes"][0], last)
            continue
        rules.append(
            {
                "collective": collective,
                "ranks": (launch.ranks, launch.ranks),
                "nodes": (launch.nodes, launch.nodes),
                "bytes": (first, last),
                "choice": best["variant"],
            }
        )
    if collective == "barrier":
        rules = [{key: value for key, value in rule.items() if key != "bytes"} for rule in rules]
    yield from rules


def decisions_of(collective: str, found: Sequence[tuple[int, int, dict[str, Any] | None]]) -> Iterator[str]:
    """What `auto` begins with: one for each power of two that a measured size stands for. `found` as for rules_of."""
    for size, end, best in found:
        variant = choice_of(best)
        sizes = [size]
        while collective != "barrier" and 2 * sizes[-1] < end:
            sizes.append(2 * sizes[-1])
        yield from (f"{collective},{each},{variant}" for each in sizes)


def keep(launch: Launch, decisions: Sequence[str], folder: Path) -> str | None:
    """Writes decisions to where `auto` keeps its own, in the launch that they are for. Why not, where that fails."""
    variables = (f"RANKTREE_COLL_CACHE={folder}", "RANKTREE_COLL_LOG=stderr")
    words = [word for text in decisions for word in ("--keep", text)]
    try:
        for _ in run([*launch.words[:-1], "env", *variables, launch.words[-1], *words]):
            pass
    except (RuntimeError, OSError) as error:
        return f"decisions are not kept: {error}"
    return None


def summary(collective: str, size: int, lines: Sequence[dict[str, Any]], best: dict[str, Any] | None) -> str:
    """One line for the reader."""
    times = ", ".join(
        f"{line['variant']} {line['wrong'] if 'wrong' in line else seconds_text(line['median'])}" for line in lines
    )
    kept = f"{best['variant']} ({best['ratio']:.2f}x)" if best else NATIVE
    return f"{collective} {size_text(size)}: {kept}    [{times}]"


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    launcher: Annotated[
        list[str] | None,
        Argument(metavar="[-- MPIRUN...]", help="the launcher's command without a program; else one is found"),
    ] = None,
    output: Annotated[str, Option("-o", "--output", decides="written", help="write the rules here")] = "rules.json",
    open_mpi: Annotated[
        str | None,
        Option(decides="written", help="and rules of base algorithms for Open MPI's coll/tuned; .json: for Open MPI 6"),
    ] = None,
    ranks: Annotated[int | None, Option("--np", min=2, help="ranks; the launcher's own number if not given")] = None,
    collectives: Annotated[str, Option(help="separated by commas")] = COLLECTIVES,
    sizes: Annotated[str, Option(help="bytes: 8,1K or 1K:16M (doubling); of all blocks together")] = (
        "8,64,512,4K,16K,64K,256K,1M,4M"
    ),
    parameters: Annotated[str | None, Option(help="what `ranktree calibrate` wrote; else measured first")] = None,
    most: Annotated[int, Option(min=1, max=20, help="variants measured beside native for each size")] = 3,
    seconds: Annotated[float, Option(min=0.01, max=600, help="for each size, all variants together")] = 0.5,
    margin: Annotated[float, Option(min=0, max=1000, help="so much faster than native a rule must be")] = 0.05,
    mpi: Annotated[str | None, Option("--mpi", envvar="RANKTREE_MPI", help="which MPI's program to start")] = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    as_json: Annotated[bool, Option("--json", help="print JSON at the end, in place of the lines")] = False,
) -> None:
    """Find which collectives have a faster variant than the native call, and write them down as rules.

    Variants take turns with the native call in one process. A rule is written only for what was faster there. Use the
    file with RANKTREE_COLL=FILE or `ranktree run --collectives FILE`. `ranktree run --collectives auto` begins with the
    same decisions where a program is launched alike.
    """
    # #lizard forgives the number of parameters: every option is one
    folder = folder_for(cache, no_cache)
    names = [collective_named(word) for word in collectives.split(",")]
    wanted = sorted({whole_doubles(size) for size in sizes_of(sizes)})
    for path in filter(None, (output, open_mpi)):
        require_writable(Path(path))
    program, words = choose(launcher or [], mpi)
    if ranks is not None:
        words = [*words, "-n", str(ranks)]
    launch = launched(words, program, parameters)
    rules: list[dict[str, Any]] = []
    base_rules: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    show = (lambda _: None) if as_json else echo
    decisions: list[str] = []
    failures: list[str] = []
    for name in names:
        found, base_found, decided = [], [], []
        cases = [DOUBLE] if name == "barrier" else wanted
        if name in BLOCKS:
            cases = sorted({whole_doubles(size // launch.ranks) * launch.ranks for size in cases})
        for size, end in zip(cases, [*cases[1:], 2 * cases[-1]], strict=True):
            choices = proposals(launch, name, size, most, open_mpi is not None)
            lines = measured_if_any(launch, name, size, choices, seconds, failures)
            best = winner(lines, margin)
            found.append((size, end, best))
            open_case = is_open(lines, margin)
            decided += found[-1:] if is_measured(lines) and not open_case else []
            base_found.append((size, end, winner(lines, margin, partial(_core.open_mpi_has, name))))
            results.append({"collective": name, "bytes": size, "choice": choice_of(best), "variants": lines})
            doubt = "    too few rounds to decide (--seconds)" if open_case else ""
            show(summary(name, size, lines, best) + doubt if lines else failures[-1])
        rules += rules_of(launch, name, found)
        decisions += decisions_of(name, decided)
        base_rules += rules_of(launch, name, base_found)
    if len(failures) == len(results):
        raise RuntimeError(f"nothing was measured: {failures[0]}")
    _core.save_rules(output, launch.places["mpi"], launch.places["machine"], rules)
    show(f"{output}: {len(rules)} rule(s)")
    if open_mpi is not None:
        _core.write_file(open_mpi, _core.open_mpi_rules(base_rules, Path(open_mpi).suffix == ".json"))
        show(f"{open_mpi}: {len(base_rules)} rule(s) for Open MPI")
    lost = keep(launch, decisions, folder) if folder is not None else None
    if folder is not None:
        show(lost or f"{folder}: {len(decisions)} decision(s) that --collectives auto begins with")
    folder = None if lost else folder
    if as_json:
        files = {"rules": output, "open_mpi": open_mpi, "decisions": str(folder) if folder is not None else None}
        echo(json_format.dumps(as_document(launch, results, rules, files), indent=1))
    if failures:
        raise RuntimeError(f"{len(failures)} of {len(results)} cases failed and stay native: {'; '.join(failures)}")
    if lost is not None:
        raise RuntimeError(lost)


def choice_of(best: dict[str, Any] | None) -> str:
    """The winner's variant, else the native call."""
    return str(best["variant"]) if best else NATIVE


def as_document(
    launch: Launch, results: list[dict[str, Any]], rules: list[dict[str, Any]], files: dict[str, str | None]
) -> dict[str, Any]:
    """For `--json`: the measured variants of each collective and size, seconds as `ranktree bench` has them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "mpi": launch.places["mpi"],
        "ranks": launch.ranks,
        "nodes": launch.nodes,
        "results": results,
        "rules": rules,
        "files": files,
    }
