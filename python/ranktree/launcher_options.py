"""What is known of launchers' options: how many words follow each, and which of them place or bind ranks."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# How many words follow an option, by its name without dashes; options not listed take none.
OPENMPI_TWO = words("mca gmca prtemca gprtemca pmixmca gpmixmca omca gomca")
OPENMPI_ONE = words(
    """n np c num-procs H host hostfile machinefile default-hostfile add-host add-hostfile x wdir wd path prefix
    map-by rank-by bind-to rf rankfile cpu-set cpu-list cpus-per-proc cpus-per-rank N npernode npersocket npernuma
    ppr slot-list am amca tune timeout output output-filename stdin report-pid report-uri preload-files personality
    app max-restarts max-vm-size ompi-server dvm dvm-uri display runtime-options stream-buffering with-ft pset
    launch-agent gpu-support memory-alloc-kinds xml-file"""
)
HYDRA_TWO = words("env genv")  # one where it is NAME=VALUE
HYDRA_ONE = words(
    """n np f machinefile hostfile hosts host hostlist machines machinelist localhost envlist genvlist wdir path umask
    gwdir gpath gumask launcher launcher-exec bootstrap
    bootstrap-exec rmk bind-to map-by membind binding ppn perhost grr iface configfile profile rankmap demux usize
    outfile outfile-pattern errfile errfile-pattern prepend-pattern order-nodes local-binding timeout nameserver
    hostname-propagation topolib gpus-per-proc pmi-port-range port-range arch ckpoint-interval ckpoint-prefix
    ckpoint-num ckpointlib prefix branch-count tune tune-file trace-pt2pt s"""
)
HYDRA = {**dict.fromkeys(HYDRA_TWO, 2), **dict.fromkeys(HYDRA_ONE, 1)}
PALS_ONE = words(
    """n np ppn soft host hosts hostlist hostfile arch wdir path file configfile f umask env genv envlist cpu-bind
    mem-bind gpu-bind depth d include-tasks exclude-tasks pmi rlimits fanout rpc-timeout"""
)
TABLES = {
    "openmpi": {**dict.fromkeys(OPENMPI_TWO, 2), **dict.fromkeys(OPENMPI_ONE, 1)},
    "mpich": HYDRA,
    "intel": HYDRA,
    "pals": dict.fromkeys(PALS_ONE, 1),
}
# The others read options as GNU programs do: these short ones are followed by a word, and all long ones but FLAGS.
SHORT_WITH_WORD = {
    "slurm": frozenset("ABCcDdeFGiJLMmNnopqrStTUwWx"),
    "flux": frozenset("BqtoSNncg"),
    "aprun": frozenset("nNdFLEemDajSprRtZ"),
    "jsrun": frozenset("apcdgKlmnrefIkothAHJLMPSUxXZbDEF"),
}
FLAGS = {
    "slurm": words(
        """bcast compress
        disable-status exclusive exact get-user-env help hold immediate join kill-on-bad-exit label mpi-combine
        multi-prog nice no-allocate no-kill no-shell overcommit overlap oversubscribe preserve-env propagate pty quiet
        quit-on-interrupt reboot resv-ports share slurmd-debug-off spread-job unbuffered usage use-min-nodes verbose
        version whole contiguous x11"""
    ),
    "flux": words("debug-emulate dry dry-run exclusive help label-io list-plugins quiet unbuffered verbose"),
    "aprun": words(
        """abort-on-failure batch-args bypass-app-transfer help no-abort-on-failure quiet reconnect ss
        strict-memory-containment sync-output version zone-sort"""
    ),
    "jsrun": words("help immediate usage version"),
}
LONG_WITH_ONE_DASH = words("-cc -cp -sl -sn -ss")  # of aprun
# Launchers by their own names; mpirun and mpiexec by what --version prints.
NAMED = {"srun": "slurm", "flux": "flux", "aprun": "aprun", "jsrun": "jsrun"}

# The number of ranks, by family.
COUNTS = {
    "openmpi": words("n np c num-procs"),
    "mpich": words("n np"),
    "intel": words("n np"),
    "slurm": words("n ntasks"),
    "flux": words("n ntasks"),
    "aprun": words("n pes"),
    "pals": words("n np"),
    "jsrun": words("p np"),
}
# What a plan decides: a command with one of these contradicts it.
HYDRA_PLACEMENT = words("map-by bind-to binding ppn perhost grr rr rankmap configfile order-nodes")
PLACEMENT = {
    "openmpi": words(
        """map-by rank-by bind-to rf rankfile cpu-set cpu-list cpus-per-proc cpus-per-rank N npernode npersocket
        npernuma pernode ppr slot-list bynode byslot bycore bysocket byhwthread bind-to-core bind-to-socket nolocal
        app"""
    ),
    "mpich": HYDRA_PLACEMENT,
    "intel": HYDRA_PLACEMENT,
    "slurm": words(
        """m distribution cpu-bind ntasks-per-node tasks-per-node ntasks-per-core ntasks-per-socket x exclude r
        relative multi-prog c cpus-per-task"""
    ),
    "flux": words("taskmap c cores-per-task cores tasks-per-node tasks-per-core x exclusive"),
    "aprun": words(
        """N pes-per-node d depth cc cpu-binding cp cpu-binding-file S pes-per-numa-node sl sn j cpus-per-cu
        cpus-per-pe"""
    ),
    "pals": words("ppn cpu-bind d depth f configfile file"),
    "jsrun": words(
        """a tasks_per_rs b bind c cpu_per_rs d launch_distribution erf_input f appfile K rs_per_socket l
        latency_priority n nrs r rs_per_host U use_resources"""
    ),
}
# Of one part of a command. A plan's launch has many, and the options of the command stand before the first.
ONE_PART = {"intel": words("env envall envlist envnone wdir path umask")}
# Slurm's component of a heterogeneous job that the ranks go to.
HET_GROUP = words("het-group pack-group")
# What binds ranks, or nothing where its value is `none`: the plan binds.
BINDING = words("bind-to cpu-bind cc cpu-binding b bind")
# Host options that the plan's own replace, by launcher. Open MPI 4's make the allocation in which the rankfile
# chooses.
HYDRA_HOSTS = words("f machinefile hostfile hosts host hostlist machines machinelist")
HOSTS = {
    "openmpi4": frozenset(),
    "openmpi5": words("H host hostfile machinefile default-hostfile"),
    "mpich": HYDRA_HOSTS,
    "intel": HYDRA_HOSTS,
    "slurm": words("w nodelist F nodefile"),
    "flux": words("N nodes require requires"),
    "pals": words("host hosts hostlist hostfile"),
}
# What takes the output from the launcher's own, in which our helpers are found.
REDIRECTING = {
    "openmpi": words("output-filename xml-file"),
    **dict.fromkeys(("mpich", "intel"), words("outfile outfile-pattern errfile errfile-pattern")),
    "slurm": words("o output e error i input"),
    "flux": words("output error input"),
    "jsrun": words("o stdio_stdout k stdio_stderr t stdio_input"),
}
# Options with a list of hosts, and with a file of them.
OPENMPI_FILES = words("hostfile machinefile default-hostfile")
HOST_LISTS = {
    "openmpi": words("H host"),
    **dict.fromkeys(("mpich", "intel"), words("host hosts hostlist machines machinelist")),
    "slurm": words("w nodelist F nodefile"),
    "pals": words("host hosts hostlist"),
}
HOST_FILES = {
    "openmpi": OPENMPI_FILES,
    **dict.fromkeys(("mpich", "intel"), OPENMPI_FILES | {"f"}),
    "pals": words("hostfile"),
}
