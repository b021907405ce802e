"""The launcher flag that mends ranks which are unbound, overlapping or oversubscribed."""

from collections.abc import Mapping

BIND = {
    "openmpi": "--bind-to core",
    "mpich": "-bind-to core",
    "intel": "-genv I_MPI_PIN_DOMAIN core",
    "slurm": "--cpu-bind=cores",
    "flux": "-o cpu-affinity=per-task",
    "aprun": "-cc cpu",
    "pals": "--cpu-bind core",
    "jsrun": "-b rs",
}
SPREAD = {
    "openmpi": "--map-by core --bind-to core",
    "mpich": "-bind-to core -map-by core",
    "intel": "-genv I_MPI_PIN_DOMAIN core -genv I_MPI_PIN_ORDER spread",
    "slurm": "--cpu-bind=cores --distribution=block:cyclic",
    "flux": "-o cpu-affinity=per-task",
    "aprun": "-cc cpu",
    "pals": "--cpu-bind core",
    "jsrun": "-b packed:1",
}
# Where there are more ranks than cores, but not than hardware threads.
THREADS = {
    "openmpi": "--map-by hwthread --bind-to hwthread",
    "mpich": "-bind-to hwthread -map-by hwthread",
    "intel": "-genv I_MPI_PIN_DOMAIN 1 -genv I_MPI_PIN_CELL unit",
    "slurm": "--cpu-bind=threads --hint=multithread",
    "flux": "-o cpu-affinity=per-task",
    "aprun": "-j 0 -cc cpu",
    "pals": "--cpu-bind thread",
    "jsrun": "-b packed:smt:1",
}
LIMIT = {
    "openmpi": "--map-by ppr:{count}:node",
    "mpich": "-ppn {count}",
    "intel": "-ppn {count}",
    "slurm": "--ntasks-per-node={count}",
    "flux": "--tasks-per-node={count}",
    "aprun": "-N {count}",
    "pals": "--ppn {count}",
    "jsrun": "-a {count} -r 1",
}


def launcher_family(environment: Mapping[str, str]) -> str | None:
    """Who started this process as a rank: openmpi, intel, mpich or slurm; None when no launcher did.

    A launcher inside a Slurm job inherits Slurm's variables, so Slurm's are read last.
    """
    if "OMPI_COMM_WORLD_RANK" in environment:
        return "openmpi"
    if "MPI_LOCALRANKID" in environment or "HYDI_CONTROL_FD" in environment:
        return "intel" if any(name.startswith("I_MPI_") for name in environment) else "mpich"
    if "SLURM_PROCID" in environment and "SLURM_STEP_ID" in environment:
        return "slurm"
    if "PMI_RANK" in environment:
        return "mpich"
    return "openmpi" if "PMIX_RANK" in environment else None


def mpi_family(environment: Mapping[str, str]) -> str | None:
    """The MPI whose helper understands this launch; under srun, the one that speaks the chosen PMI."""
    family = launcher_family(environment)
    if family != "slurm":
        return family
    return "openmpi" if any(name.startswith("PMIX_") for name in environment) else "mpich"


def mend(family: str, trouble: str, ranks_on_host: int, cores: int, pus: int) -> str:
    """The flag for one kind of trouble on a host with so many ranks and usable cores and PUs."""
    if ranks_on_host > pus > 0:
        limit = LIMIT[family].format(count=cores)
        return f"{limit} {BIND[family]} (at most {cores} ranks a host: start fewer, or use more hosts)"
    if ranks_on_host > cores > 0:
        return THREADS[family]
    return BIND[family] if trouble == "unbound" else SPREAD[family]
