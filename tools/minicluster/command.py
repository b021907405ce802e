"""The command line of the emulated cluster."""

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Sequence

import launch
import slurm
import traffic
from cluster import LAUNCHERS, Cluster, Parameters, refusal
from processes import ClusterError

SKIPPED = 77


def parser() -> argparse.ArgumentParser:
    """Verbs and their options."""
    top = argparse.ArgumentParser(prog="minicluster", description="An emulated cluster on this machine (needs root).")
    verbs = top.add_subparsers(dest="verb", required=True)

    def verb(name: str, text: str, state: bool = True) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text)
        if state:
            sub.add_argument("state", help="folder of the cluster")
        return sub

    verb("available", "exit 0 when a cluster can be made here, else print why not and exit 77", state=False)
    add_up(verb("up", "make a cluster"))
    verb("down", "end it and everything in it")
    sub = verb("exec", "run a command in one node")
    sub.add_argument("node", help="n0, n1, ... or head")
    sub.add_argument("arguments", nargs=argparse.REMAINDER)
    sub = verb("bytes", "bytes on the cable from node to node since the last reset")
    sub.add_argument("--json", action="store_true")
    sub.add_argument("--reset", action="store_true", help="count anew after printing")
    text = "run an MPI launcher on the head: [--launcher openmpi|mpich] [--mpiexec PROGRAM], then its own arguments"
    sub = verb("mpirun", text)
    sub.add_argument("arguments", nargs=argparse.REMAINDER)
    sub = verb("slurm-up", "start real Slurm on the cluster")
    sub.add_argument("--cpus", type=positive, default=4, help="CPUs of a node")
    verb("slurm-down", "end Slurm")
    sub = verb("slurm", "run a Slurm client command on the head, such as srun")
    sub.add_argument("arguments", nargs=argparse.REMAINDER)
    return top


def add_up(sub: argparse.ArgumentParser) -> None:
    """The options of `up`."""
    usual = Parameters()
    sub.add_argument("--nodes", type=positive, default=usual.nodes)
    sub.add_argument("--per-switch", type=positive, default=usual.per_switch, help="nodes on one leaf switch")
    sub.add_argument("--rate", type=measure, default=usual.rate, help="Mbit/s of a node's link, 0 for no limit")
    sub.add_argument("--latency", type=measure, default=usual.latency, help="microseconds one way over a node's link")
    sub.add_argument("--uplink-rate", type=measure, help="of a link to the root switch (as a node's link)")
    sub.add_argument("--uplink-latency", type=measure, help="of a link to the root switch (as a node's link)")
    sub.add_argument(
        "--cpus", type=positive, help="cores that hwloc shall see in each node; binding is then without effect"
    )
    sub.add_argument(
        "--keep", action="append", default=[], metavar="FOLDER", help="folder in /tmp that nodes shall see"
    )


def launcher_options(arguments: Sequence[str]) -> tuple[str, str | None, Sequence[str]]:
    """Splits off the options in front of the launcher's: its kind and its program; returns the rest too."""
    values: dict[str, str | None] = {"--launcher": "openmpi", "--mpiexec": None}
    while len(arguments) > 1 and arguments[0] in values:
        values[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    if values["--launcher"] not in LAUNCHERS:
        raise ClusterError(f"mpirun: --launcher is one of {', '.join(LAUNCHERS)}, not {values['--launcher']}")
    return values["--launcher"], values["--mpiexec"], arguments


def positive(text: str) -> int:
    """A whole number from 1 to 200."""
    value = int(text)
    if not 1 <= value <= 200:
        raise argparse.ArgumentTypeError(f"from 1 to 200, not {text}")
    return value


def measure(text: str) -> float:
    """A number that is not negative."""
    value = float(text)
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"from 0 to 1e9, not {text}")
    return value


def up(options: argparse.Namespace) -> int:
    """Makes a cluster, or prints why it cannot."""
    reason = refusal()
    if reason:
        print(f"minicluster: {reason}", file=sys.stderr)
        return SKIPPED
    names = ("nodes", "per_switch", "rate", "latency", "uplink_rate", "uplink_latency", "cpus", "keep")
    Cluster(options.state).up(Parameters(**{name: getattr(options, name) for name in names}))
    return 0


def available() -> int:
    """Prints whether a cluster can be made here."""
    reason = refusal()
    if reason:
        print(reason)
    return SKIPPED if reason else 0


def count(options: argparse.Namespace) -> int:
    """Prints the counters."""
    cluster = Cluster(options.state)
    print(traffic.as_text(traffic.report(cluster), options.json))
    if options.reset:
        traffic.reset(cluster)
    return 0


def down(options: argparse.Namespace) -> int:
    """Stops the cluster, and Slurm first if it runs there."""
    cluster = Cluster(options.state)
    with contextlib.suppress(ClusterError, OSError):
        slurm.down(cluster)
    cluster.down()
    return 0


def run(options: argparse.Namespace) -> int:
    """Dispatches a verb that needs a cluster."""
    cluster = Cluster(options.state)
    if options.verb == "exec":
        launch.run_in_node(cluster, options.node, options.arguments)
    elif options.verb == "mpirun":
        launcher, program, arguments = launcher_options(options.arguments)
        launch.mpirun(cluster, launcher, program, arguments)
    elif options.verb == "slurm-up":
        slurm.up(cluster, options.cpus)
    elif options.verb == "slurm-down":
        slurm.down(cluster)
    else:
        slurm.client(cluster, options.arguments)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 for a failure, 2 for wrong usage, 77 where clusters are refused; or the command's own."""
    options = parser().parse_args(arguments)
    try:
        if options.verb == "available":
            return available()
        verbs = {"up": up, "down": down, "bytes": count}
        return verbs.get(options.verb, run)(options)
    except (ClusterError, OSError, subprocess.SubprocessError) as error:
        print(f"minicluster: {error}", file=sys.stderr)
        return 1
