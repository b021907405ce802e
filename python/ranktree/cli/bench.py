"""`ranktree bench`: an MPI's own collectives beside ours, by size, with their spread."""

import json as json_module
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from ranktree.cli.options import Argument, Option
from ranktree.helpers import HOW_TO_BUILD, LIBRARY_FOLDER, built, library_text, not_built, serves
from ranktree.launcher import identify, version_numbers
from ranktree.shim import FAMILIES, NAMES

EXAMPLE = "ranktree bench bcast --np 64"

PREFIX = "ranktree-bench-"
NATIVE = "native"
OWN_OPTIONS = {"openmpi": ["--oversubscribe"]}  # more ranks than cores are wanted here
KILO = 1024


def command(
    collectives: Annotated[str, Argument(metavar="COLLECTIVE[,...]", help="bcast, reduce, allreduce, ...")],
    launcher: Annotated[
        list[str] | None,
        Argument(metavar="[-- MPIRUN...]", help="The launcher's command without a program; else one is found."),
    ] = None,
    ranks: Annotated[
        int | None, Option("--np", min=1, help="Ranks; the launcher's own number where not given.")
    ] = None,
    sizes: Annotated[str, Option(help="Bytes: 8,1K or 1K:16M (doubling).")] = "8:1M",
    variants: Annotated[
        list[str] | None, Option("--variant", help="Beside native: auto (default), or a choice; repeatable.")
    ] = None,
    seconds: Annotated[float, Option(min=0.01, max=3600, help="For each size, all variants together.")] = 1.0,
    mpi: Annotated[str | None, Option("--mpi", envvar="RANKTREE_MPI", help="Which MPI's program to start.")] = None,
    json: Annotated[bool, Option("--json", help="The lines of the program as they are.")] = False,
) -> None:
    """Start ranks that call a collective by several variants, taking turns in one process: native beside hierarchical.

    Microseconds of one call, from the moment all ranks are ready until the slowest is done: median (least - 90th
    percentile). `x` is native's time over a variant's, turn by turn; `cpu` the same for the processor time of all
    ranks.
    """
    from ranktree.cli.predict import collective_named  # noqa: PLC0415  the extension, for this verb only

    for word in collectives.split(","):
        collective_named(word)
    program, words = choose(launcher or [], mpi)
    if ranks is not None:
        words = [*words, "-n", str(ranks)]
    chosen = [word for text in (NATIVE, *(variants or ["auto"])) for word in ("--variant", text)]
    options = ["--sizes", sizes, "--seconds", str(seconds), *chosen]
    lines = run([*words, str(program), collectives, *options])
    if json:
        for line in lines:
            print(json_module.dumps(FORMAT | line), flush=True)
        return
    for text in table(lines):
        print(text, flush=True)


FORMAT = {"format": "ranktree-bench", "version": 1}  # of each line


def programs() -> dict[str, Path]:
    """The programs by the name of their MPI."""
    return {path.name.removeprefix(PREFIX): path for path in sorted(LIBRARY_FOLDER.glob(PREFIX + "*"))}


def choose(launcher: Sequence[str], mpi: str | None) -> tuple[Path, list[str]]:
    """The program to start, and the launcher's words in front of it."""
    known = programs()
    if not known:
        raise RuntimeError(f"bench: {not_built()}")
    if mpi is not None and mpi not in known:
        raise ValueError(f"--mpi {mpi}: expected one of {', '.join(known)}")
    if launcher:
        return known[mpi or of_launcher(launcher[0], known)], list(launcher)
    for starter in [f"mpiexec.{mpi}", "mpiexec"] if mpi else ["mpiexec", *(f"mpiexec.{name}" for name in known)]:
        if shutil.which(starter) is None:
            continue
        family, version = identify(starter)
        names = fitting(family, version, [mpi] if mpi else known)
        if names:
            return known[names[0]], [starter, *OWN_OPTIONS.get(family, [])]
    raise RuntimeError("bench: no launcher found for the programs built; give its command after --")


def fitting(family: str, version: tuple[int, ...], known: Collection[str]) -> list[str]:
    """The MPIs whose library, as the loader finds it here, is of a launcher's family. The launcher's release is first,
    then the one with the family's own name.
    """
    texts = {name: library_text(helper) for name, helper in built().items() if name in known}
    found = [name for name, text in texts.items() if serves(name, text, family)]
    return sorted(found, key=lambda name: (version_numbers(texts[name]) != version, name != family))


def of_launcher(starter: str, known: dict[str, Path]) -> str:
    """The MPI of a launcher."""
    family, version = identify(starter)
    if family not in FAMILIES:
        raise ValueError(f"{starter} starts any MPI: name it with --mpi")
    names = fitting(family, version, known)
    if not names:
        raise ValueError(
            f"none of the programs built ({', '.join(known)}) loads {NAMES[family]}: the folder of its library must be "
            f"known to the loader, as by LD_LIBRARY_PATH; {HOW_TO_BUILD}"
        )
    return names[0]


def run(words: Sequence[str], is_last: Callable[[dict[str, Any]], bool] = lambda _: False) -> Iterator[dict[str, Any]]:
    """The lines that rank 0 prints, as they come. RuntimeError when the launch fails.

    After the line that is the last, the launch has a few seconds to end, and is ended then: PRRTE 3 hangs after its
    last rank once in 50 launches. A signal to terminate this process terminates the launch, too.
    """
    from ranktree.runs.process import GRACE_SECONDS, end, ends_cleanly  # noqa: PLC0415  where something is started

    with ends_cleanly():
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, process_group=0)
        except OSError as error:
            raise OSError(f"{words[0]}: {error.strerror}") from None
        done = False
        try:
            for line in process.stdout or ():
                if line.startswith(b'{"'):
                    found = json_module.loads(line)
                    yield found
                    if done := is_last(found):
                        break
            code = process.wait(GRACE_SECONDS if done else None)
        except subprocess.TimeoutExpired:
            code = 0
        finally:
            if process.poll() is None:
                end(process)
    if code != 0:
        raise RuntimeError(f"{words[0]}: exit code {code}")


def table(lines: Iterator[dict[str, Any]]) -> Iterator[str]:
    """A block for each collective, a line for each size and variant."""
    titled, native = None, None
    for line in lines:
        if line["collective"] != titled:
            titled = line["collective"]
            nodes = f"{line['nodes']} node{'s' if line['nodes'] > 1 else ''}"
            yield f"{titled}, {line['ranks']} ranks on {nodes}"
            yield f"{'bytes':>8}  {'variant':<28}{'median':>10}  {'least - high, us':<24}{'x':>6}{'cpu':>7}"
        if line["variant"] == NATIVE:
            native = line
        yield row(line, native)


def row(line: dict[str, Any], native: dict[str, Any] | None) -> str:
    """One variant of one size."""
    own = line["variant"] == NATIVE
    start = f"{size_text(line['bytes']) if own else '':>8}  {line['variant']:<28}"
    if "wrong" in line:
        return start + f"{line['wrong']:>10}"
    spread = f"{1e6 * line['min']:.1f} - {1e6 * line['high']:.1f}"
    text = start + f"{1e6 * line['median']:>10.1f}  {spread:<24}"
    if own or native is None or "wrong" in native or line["cpu"] <= 0:
        return text.rstrip()
    return text + f"{line['ratio']:>6.2f}{native['cpu'] / line['cpu']:>7.2f}"


def size_text(size: int) -> str:
    """1K, 16M where it is even."""
    for unit in ("", "K", "M"):
        if size < KILO or size % KILO:
            return f"{size}{unit}"
        size //= KILO
    return f"{size}G"
