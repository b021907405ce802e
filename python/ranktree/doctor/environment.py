"""Variables that change what ranktree or a launcher does."""

from collections.abc import Iterator

from ranktree import helpers
from ranktree.doctor.system import NOTE, OK, PROBLEM, Finding, System
from ranktree.rewrite import VARIABLES


def variables(system: System) -> Iterator[Finding]:
    """Those that place or bind ranks, ranktree's own, and LD_PRELOAD."""
    placing = sorted(name for name in system.environment if VARIABLES.match(name))
    if placing:
        mend = f"unset {' '.join(placing)} (`ranktree run` drops them by itself)"
        yield Finding("placement variables", NOTE, ", ".join(placing), mend)
    else:
        yield Finding("placement variables", OK, "none is set")
    chosen = system.environment.get("RANKTREE_MPI")
    if chosen and chosen not in helpers.built():
        known = ", ".join(helpers.built()) or "none is built"
        yield Finding("RANKTREE_MPI", PROBLEM, f"'{chosen}' is none of: {known}", "unset RANKTREE_MPI")
    own = sorted(name for name in system.environment if name.startswith("RANKTREE_") and name != "RANKTREE_MPI")
    if own:
        yield Finding("ranktree's variables", NOTE, ", ".join(f"{name}={system.environment[name]}" for name in own))
    if system.environment.get("LD_PRELOAD"):
        yield Finding("LD_PRELOAD", NOTE, f"{system.environment['LD_PRELOAD']}: stays in front of ranktree's libraries")


def scheduler(system: System) -> Iterator[Finding]:
    """Allocations of other schedulers than Slurm."""
    marks = {"PBS_JOBID": "PBS", "LSB_JOBID": "LSF", "FLUX_JOB_ID": "Flux", "COBALT_JOBID": "Cobalt"}
    for name, what in marks.items():
        if name in system.environment:
            yield Finding("allocation", OK, f"{what} job {system.environment[name]}")
