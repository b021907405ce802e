"""`ranktree run`: a launcher's command, made to follow a plan, its ranks reordered, its hardware splits answered, its
collectives served."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Annotated

from ranktree import _core, collectives, verify, world
from ranktree.allocation import HostFile, Hosts, other_hosts
from ranktree.child import become, become_result, run_through
from ranktree.cli.options import LARGEST, Argument, BadParameter, Option, echo
from ranktree.launch_files import claim, write_files
from ranktree.launcher import LaunchCommand, slurm_binds, take_apart
from ranktree.placed_run import Placing, make_plan
from ranktree.rewrite import environment, kept_options, launcher_for, rewrite, visible, without_placement
from ranktree.shim import Command, choose, handed_on, read_command, with_shim
from ranktree.usable_machine import launchable

INTERSPERSED = False
EXAMPLE = "ranktree run --plan plan.json -- mpirun -n 64 ./app"
STARTS_NOTHING = "ranktree: mpirun starts no rank; where it prints no reason, a node lacks a PU of the plan"
PARAMETERS_NEED = "needs --pattern APP.npz by bottleneck or time, or --reorder APP.npz and such an --objective"
ONLINE = Path("/sys/devices/system/cpu/online")
Collectives = Annotated[
    str | None,
    Option(
        "--collectives",
        metavar="auto|native|RULES",
        help="Serve the program's collectives where that is faster: chosen at run time, or by rules.",
    ),
]
CollectivesLog = Annotated[
    Path | None,
    Option(
        "--collectives-log",
        decides="written",
        metavar="FILE",
        help="What --collectives chose, and why; 'stderr' or a file.",
    ),
]
Cache = Annotated[
    Path | None,
    Option(
        "--collectives-cache",
        decides="written",
        metavar="DIR",
        help="Where --collectives auto keeps decisions for later runs [the user's cache folder].",
    ),
]
ThreadsPerRank = Annotated[
    int | None,
    Option(
        "--threads-per-rank",
        min=1,
        max=LARGEST,
        metavar="N",
        help="So many neighbouring cores a rank [as in the launch; 1 where machine or hosts are named].",
    ),
]
NoCache = Annotated[bool, Option("--no-collectives-cache", help="Neither use nor keep decisions.")]


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    words: Annotated[list[str], Argument(metavar="-- MPIRUN...", help="The launcher's command, as it is today.")],
    plan: Annotated[Path | None, Option("--plan", "-p", help="Plan written by 'ranktree map'.")] = None,
    pattern: Annotated[
        Path | None,
        Option("--pattern", metavar="APP.npz", help="Place its ranks on the hosts of this launch, and run."),
    ] = None,
    machine: Annotated[
        str | None, Option(help="The machine for --pattern, as `ranktree map` takes it [the hosts of the launch].")
    ] = None,
    network: Annotated[str | None, Option(help="The network for --pattern, as `ranktree map` takes it.")] = None,
    hosts: Hosts = None,
    hostfile: HostFile = None,
    threads_per_rank: ThreadsPerRank = None,
    split: Annotated[
        bool,
        Option("--split", help="Answer the program's hardware splits (MPI_COMM_TYPE_HW_...) by ranktree's hsplit."),
    ] = False,
    reorder: Annotated[
        Path | None,
        Option("--reorder", metavar="APP.npz", help="Reorder the ranks of MPI_COMM_WORLD for a recorded pattern."),
    ] = None,
    metric: Annotated[
        str | None,
        Option(
            "--metric", help="What counts for --reorder [size] and, in place of time, for --pattern: size, msg, avg."
        ),
    ] = None,
    objective: Annotated[
        str | None,
        Option(
            "--objective",
            help="What --reorder, --cart and --graph [bytes] and --pattern [time] minimise: bytes, messages, "
            "bottleneck, time.",
        ),
    ] = None,
    parameters: Annotated[
        str | None,
        Option(
            help="What links cost, for --reorder and --pattern by bottleneck or time: FILE of `ranktree calibrate`, "
            "ethernet-1g, -10g or infiniband-100g."
        ),
    ] = None,
    reorder_info: Annotated[
        list[str] | None,
        Option("--reorder-info", metavar="KEY=VALUE", help="An info key of ranktree_Comm_reorder."),
    ] = None,
    cart: Annotated[
        bool, Option("--cart", help="Reorder in the program's own MPI_Cart_create, where it permits that (reorder=1).")
    ] = False,
    cart_all: Annotated[bool, Option("--cart-all", help="As --cart, even where the program passes reorder=0.")] = False,
    graph: Annotated[
        bool,
        Option(
            "--graph",
            help="Reorder in the program's own MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent and "
            "MPI_Graph_create, where it permits that (reorder=1).",
        ),
    ] = False,
    wanted: Collectives = None,
    log: CollectivesLog = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Only print what --reorder would change: launches a helper program instead."),
    ] = False,
    mpi: Annotated[
        str | None,
        Option("--mpi", envvar="RANKTREE_MPI", help="The library to use where program and launcher do not show it."),
    ] = None,
    verify_first: Annotated[
        bool, Option("--verify", help="First check host and PUs of every rank; run only if all are as planned.")
    ] = False,
    verify_hosts: Annotated[
        bool, Option("--verify-hosts", help="As --verify, hosts only (where the PUs are emulated).")
    ] = False,
    folder: Annotated[
        Path | None,
        Option(
            "--folder", decides="written", help="Where the launcher's files go, seen by all nodes [a new one here]."
        ),
    ] = None,
    show: Annotated[bool, Option("--show", help="Print the command to stderr before it runs.")] = False,
) -> None:
    """Run a launcher's command with every rank where the plan has it; exit code and signals pass through."""
    # #lizard forgives: every option is one parameter
    check = Check.PUS if verify_first else Check.HOSTS if verify_hosts else Check.NOTHING
    topologies = {"CART": "all" if cart_all else "1" if cart else "", "GRAPH": "1" if graph else ""}
    made = {name: value for name, value in topologies.items() if value}
    if reorder is None:
        refuse_without_pattern(dry_run, reorder_info)
        if objective and not made and pattern is None:
            raise BadParameter("--objective needs --reorder APP.npz, --pattern APP.npz, --cart or --graph")
    minimised = objective or (None if metric else "time")  # by --pattern
    metric, keys = by_objective(objective, metric, reorder_info or [])
    seconds = minimised if minimised in world.SECONDS_COUNT else None
    if parameters is not None:
        if seconds is None or (reorder is None and pattern is None) or (reorder is not None and objective is None):
            raise BadParameter(f"--parameters {PARAMETERS_NEED}")
        keys += [world.parameters_key(parameters)] if reorder is not None else []
    source = Source(
        plan, Placing(pattern, metric, seconds, parameters, machine, network, hosts, hostfile, threads_per_rank)
    )
    source.check()
    if not source:
        refuse_without_plan(any((split, made, reorder, wanted)), check, folder is not None and not dry_run)
    if wrong := world.wrong_setting(keys):
        raise BadParameter(wrong)
    order = world.wanted(reorder, metric, keys, read_command(words)) if reorder is not None else None
    if order is not None and dry_run:
        show_changes(order, words, source, folder)
        if made:
            echo(world.NOT_FORETOLD)
        return
    served = for_collectives(wanted, log, folder_for(cache, no_cache))
    words = with_libraries(words, mpi, variables_for(split, order, made, objective) | served)
    begin = partial(prepare_start, show, log)
    if source:
        become_result(run_placed(words, source, check, folder, begin))
    begin(words)
    become(words)


@dataclass(frozen=True)
class Source:
    """Where the plan comes from: a file, or a pattern that is placed on the hosts of the launch. False without both."""

    plan: Path | None
    placing: Placing

    def __bool__(self) -> bool:
        """Whether there is a plan to follow."""
        return self.plan is not None or self.placing.pattern is not None

    def check(self) -> None:
        """Options that only --pattern reads."""
        if self.placing.pattern is None and (self.placing.machine or self.placing.network or self.placing.threads):
            raise BadParameter("--machine, --network and --threads-per-rank need --pattern APP.npz")

    def file(self, words: Sequence[str], folder: Path) -> Path:
        """The plan's file: as given where it is for the hosts of this launch; else made anew, or refused.

        A signal to terminate raises Interrupted while a plan is made.
        """
        if self.plan is not None:
            reason = other_hosts(self.plan, words, self.placing.hosts, self.placing.hostfile)
            if reason is None:
                return self.plan
            if self.placing.pattern is None:
                raise ValueError(f"{reason}: --pattern APP.npz beside --plan places the ranks anew")
            echo(f"ranktree: {reason}: placing the ranks anew", err=True)
        from ranktree.runs.process import ends_cleanly  # noqa: PLC0415  only where a plan is made

        with ends_cleanly():
            return make_plan(self.placing, words, folder, lambda text: echo(f"ranktree: {text}", err=True))


class Check(Enum):
    """What is verified before a placed run."""

    NOTHING = auto()
    HOSTS = auto()
    PUS = auto()


def refuse_without_pattern(dry_run: bool, reorder_info: list[str] | None) -> None:
    """Options that belong to --reorder."""
    given = {"--dry-run": dry_run, "--reorder-info": reorder_info}
    if option := next((name for name, value in given.items() if value), None):
        raise BadParameter(f"{option} needs --reorder APP.npz")


def by_objective(objective: str | None, metric: str | None, reorder_info: list[str]) -> tuple[str, list[str]]:
    """Metric and info keys of --reorder."""
    try:
        return world.by_objective(objective, metric, reorder_info)
    except ValueError as error:
        raise BadParameter(str(error)) from error


def refuse_without_plan(served: bool, check: Check, has_folder: bool) -> None:
    """Options that belong to --plan; and a command that nothing would be done to."""
    if not served or check is not Check.NOTHING or has_folder:
        raise BadParameter(
            "needs --plan PLAN or --pattern APP.npz"
            + ("" if served else ", --reorder APP.npz, --cart, --graph, --split or --collectives auto")
        )


def folder_for(cache: Path | None, no_cache: bool) -> Path | None:
    """Where decisions are kept."""
    if cache is not None and no_cache:
        raise BadParameter("--collectives-cache or --no-collectives-cache, not both")
    return cache or (None if no_cache else collectives.cache_folder(os.environ))


def for_collectives(wanted: str | None, log: Path | None, cache: Path | None) -> dict[str, str]:
    """--collectives, its log and its cache."""
    if wanted is None:
        if log is not None:
            raise BadParameter("--collectives-log needs --collectives")
        return {}
    if wrong := collectives.wrong_setting(wanted):
        raise BadParameter(wrong)
    return collectives.variables(wanted, log, cache)


def variables_for(
    split: bool, order: world.Reorder | None, made: dict[str, str], objective: str | None
) -> dict[str, str]:
    """The variables that the preloaded libraries read; `made`: which of the program's topologies are Ranktree's."""
    variables = {"RANKTREE_SPLIT": "1"} if split else {}
    if order is not None:
        variables |= order.variables()
    for name, value in made.items():
        variables[f"RANKTREE_{name}"] = value
        variables |= {f"RANKTREE_{name}_OBJECTIVE": objective} if objective else {}
    return variables


def with_libraries(words: list[str], mpi: str | None, variables: dict[str, str]) -> list[str]:
    """The command whose ranks have the preloaded libraries that the variables are for."""
    if not variables:
        return words
    started = read_command(words)
    return with_shim(started, choose(started, mpi), {**handed_on(), **variables})


def show_changes(order: world.Reorder, words: Sequence[str], source: Source, folder: Path | None) -> None:
    """--dry-run."""
    started = read_command(words)
    with files_folder(folder) as place:
        prepare: world.Prepare = partial(in_current_order, started)
        if source:
            prepare = placing(words, source.file(words, place), place).prepare
        echo("\n".join(world.dry_run(order, started, prepare, place)))


def in_current_order(started: Command, program: list[str]) -> tuple[list[str], dict[str, str]]:
    """The command with another program, each rank where it is."""
    return world.in_place_of_program(started, program), dict(os.environ)


def prepare_start(show: bool, log: Path | None, words: Sequence[str]) -> None:
    """Right before a command starts: --show, and an empty --collectives-log."""
    collectives.begin_log(log)
    if show:
        echo(shlex.join(words), err=True)


@dataclass(frozen=True)
class PlacedLaunch:
    """A launcher's command and the slots of its ranks. `prepare` gives it a helper there, `own` its own program."""

    command: LaunchCommand
    slots: verify.Slots
    prepare: world.Prepare
    own: Callable[[], tuple[list[str], dict[str, str]]]


def placing(words: Sequence[str], plan: Path, place: Path, ours: bool = False) -> PlacedLaunch:
    """The command by the plan of a file. `ours`: what is in the folder may be replaced."""
    placed = launchable(_core.load_plan(str(plan)), str(plan))
    slots = _core.plan_slots(placed)
    require_pus_here(slots, plan)
    launched = take_apart(words)
    kept, shown = kept_options(launched, slots), kept_options(visible(launched), slots)
    launcher = launcher_for(launched, slots)
    binds = launched.family != "slurm" or slurm_binds()

    def written(options: list[str], program: list[str], folder: Path) -> tuple[list[str], dict[str, str]]:
        launch = _core.make_launch(placed, launcher, str(folder), program, binds)
        if not ours:
            claim(folder, {name: content for name, content, _ in launch["files"]})
        write_files(folder, launch["files"], force=True)
        return rewrite(launched, launch, options, program), environment(os.environ, launch)

    def prepare(program: list[str], folder: Path = place) -> tuple[list[str], dict[str, str]]:
        return written(shown, program, folder)

    if launcher == "mpich" and not _core.make_launch(placed, launcher, str(place), launched.program)["wrapper"]:
        failure = verify.trial_failure(slots, place, prepare)
        if failure is not None:
            binds = False
            echo(f"ranktree: the wrapper binds the ranks, {launched.starter} does not by itself: {failure}", err=True)
    return PlacedLaunch(launched, slots, prepare, lambda: written(kept, launched.program, place))


def require_pus_here(slots: verify.Slots, plan: Path) -> None:
    """Refuses PUs of this node that it does not have. Launchers report them in many lines, or not at all."""
    if not ONLINE.is_file():
        return
    here = os.uname().nodename
    online = {*verify.numbers(ONLINE.read_text(encoding="ascii").strip())}
    own = [(rank, host, pus) for rank, (host, pus) in enumerate(slots) if _core.same_host(host or here, here)]
    if all(online.issuperset(pus) for _, _, pus in own):
        return
    tree = _core.load_machine("live")  # shows PUs that are emulated, which the kernel does not
    there = online.union(pu for leaf in range(tree.leaf_count) for pu in tree.pus(leaf))
    for rank, host, pus in own:
        absent = sorted(set(pus) - there)
        if absent:
            raise ValueError(
                f"{plan}: rank {rank} is on PU {_core.cpu_list(absent)} of {host or 'this node'}, which has PUs "
                f"{_core.cpu_list(sorted(there))}"
            )


def run_placed(
    words: Sequence[str], source: Source, check: Check, folder: Path | None, begin: Callable[[Sequence[str]], None]
) -> int:
    """Runs the command by the plan; its exit code, or minus the signal of its termination."""
    with files_folder(folder) as place:
        plan = source.file(words, place)
        if plan != source.plan:
            words, dropped = without_placement(take_apart(words))
            if dropped:
                echo(f"ranktree: the plan replaces: {', '.join(dropped)}", err=True)
        launch = placing(words, plan, place)
        if check is not Check.NOTHING:
            verify.require(launch.slots, launch.command, launch.prepare, place, check is Check.PUS)
        arguments, variables = launch.own()
        begin(arguments)
        code = run_through(arguments, variables)
        if code == 1 and launch.command.launcher == "openmpi4" and starts_nothing(launch):
            echo(STARTS_NOTHING, err=True)
        return code


def starts_nothing(launch: PlacedLaunch) -> bool:
    """Whether Open MPI 4 refuses the slots: it then exits with 1 and prints no reason, whatever the program is."""
    arguments, variables = launch.prepare(["true"])
    try:
        tried = subprocess.run(arguments, env=variables, capture_output=True, timeout=verify.SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return tried.returncode == 1


@contextmanager
def files_folder(folder: Path | None) -> Iterator[Path]:
    """The given folder, or a new one in the current folder (which the nodes see) that is removed at the end."""
    if folder is not None:
        yield folder.absolute()
        return
    new = Path(tempfile.mkdtemp(prefix=".ranktree-", dir=Path.cwd()))
    new.chmod(0o755)
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
