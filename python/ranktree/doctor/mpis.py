"""Launchers on PATH, and the libraries that serve each MPI."""

from collections.abc import Iterator
from pathlib import Path

from ranktree import helpers
from ranktree.doctor.system import NOTE, OK, PROBLEM, WARNING, Finding, System
from ranktree.launcher import STARTERS, identify
from ranktree.simulate.tools import PACKAGES

KINDS = {
    "trace": "libranktree_preload_{}.so",
    "reorder": "libranktree_world_{}.so",
    "collect": "libranktree_collect_{}.so",
    "where": "ranktree-ranks-{}",
}
FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}
SIMULATED = "smpi"
INTERFACE = {"intel": "mpich"}  # one binary interface
BUILD = "build for it: ranktree doctor --build /path/of/mpicc"
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def libraries(_: System) -> Iterator[Finding]:
    """Each MPI that something was built for: what there is, and whether its MPI can be loaded."""
    names = sorted({name for pattern in KINDS.values() for name in names_of(pattern)} - {SIMULATED})
    if not names:
        yield Finding("libraries", PROBLEM, f"none is built in {helpers.LIBRARY_FOLDER}", BUILD)
    for name in names:
        there = [kind for kind, pattern in KINDS.items() if (helpers.LIBRARY_FOLDER / pattern.format(name)).exists()]
        helper = helpers.built().get(name)
        text = helpers.library_text(helper) if helper else ""
        product = helpers.product(text) or "version unknown: ranktree-ranks is missing"
        if helper and not text:
            mend = "put the folder of its libmpi into LD_LIBRARY_PATH"
            yield Finding(f"libraries for {name}", WARNING, f"{', '.join(there)}; its MPI cannot be loaded", mend)
        else:
            yield Finding(f"libraries for {name}", OK, f"{', '.join(there)}; {product}")


def simulation(system: System) -> Iterator[Finding]:
    """SimGrid, whose SMPI stands in for an MPI in simulations only."""
    serves = "`ranktree simulate` and `ranktree trace --simulate`"
    if SIMULATED not in names_of(KINDS["trace"]):
        yield Finding("simulation", NOTE, f"not built: {serves} need SimGrid", f"{PACKAGES}, then build again")
    elif system.program("smpirun") is None:
        yield Finding("simulation", WARNING, f"smpirun is not on PATH: {serves} need it", PACKAGES)
    else:
        yield Finding("simulation", OK, f"SimGrid's SMPI serves {serves}")


def names_of(pattern: str) -> list[str]:
    """The MPIs for which files of a pattern exist."""
    before, after = pattern.split("{}")
    found = helpers.LIBRARY_FOLDER.glob(f"{before}*{after}")
    return [path.name.removeprefix(before).removesuffix(after) for path in found]


def launchers(system: System) -> Iterator[Finding]:
    """Each launcher once, whatever its links are called."""
    seen: set[Path] = set()
    served = {family for family in FAMILIES if any(family in name for name in names_of(KINDS["trace"]))}
    for path in system.programs():
        if not STARTERS.match(path.name) or path.resolve() in seen or path.name.startswith("srun"):
            continue
        seen.add(path.resolve())
        yield launcher(path, served)
    if not seen:
        yield Finding("launchers", NOTE, "no mpirun or mpiexec on PATH", "load the MPI's module, or install one")


def launcher(path: Path, served: set[str]) -> Finding:
    """One launcher: its MPI and version, and whether a library serves it."""
    check = f"launcher {path.name}"
    try:
        family, version = identify(str(path))
    except (ValueError, OSError) as error:
        return Finding(check, WARNING, str(error))
    found = f"{FAMILIES.get(family, family)} {'.'.join(map(str, version))}, {path}"
    if family in served or INTERFACE.get(family) in served:
        return Finding(check, OK, found)
    return Finding(check, WARNING, f"{found}; no library serves it", BUILD)


def slurm(system: System) -> Iterator[Finding]:
    """srun, and the allocation this process is in."""
    if system.program("srun") is None:
        yield Finding("Slurm", OK, "not installed")
        return
    job, nodes = (system.environment.get(name) for name in ("SLURM_JOB_ID", "SLURM_JOB_NODELIST"))
    yield Finding("Slurm", OK, f"job {job} on {nodes}" if job else "installed; this is no job")


def as_root(system: System) -> Iterator[Finding]:
    """Open MPI refuses to start as root unless two variables are set."""
    if system.is_root and system.program("ompi_info") and not all(system.environment.get(name) for name in AS_ROOT):
        mend = "export " + " ".join(f"{name}=1" for name in AS_ROOT)
        yield Finding("root", WARNING, "Open MPI refuses to start programs as root", mend)
