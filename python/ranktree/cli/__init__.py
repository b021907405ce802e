"""The command line: one module a verb, with `command`, an EXAMPLE for its help, and INTERSPERSED = False where options
end at the first word of a launcher's command.
"""

ABOUT = "MPI programs that follow the machine: trace who talks to whom, place each rank where it belongs, rerun."

# What `ranktree` alone shows: the most common commands, each with an example.
COMMON = {
    "optimize": "ranktree optimize -- mpirun -n 64 ./app",
    "trace": "ranktree trace -- mpirun -n 64 ./app",
    "map": "ranktree map app.npz --machine cluster.json -o plan.json",
    "run": "ranktree run --plan plan.json -- mpirun -n 64 ./app",
    "where": "ranktree where -- mpirun -n 64 ./app",
}

# One line of `ranktree --help` each, so that it imports no verb.
VERBS = {
    "optimize": "Trace, map, verify and measure a launcher's command, and end with a verdict.",
    "trace": "Run a launcher's command and record who talks to whom.",
    "map": "Compute which slot each rank belongs in, with the traffic of each level before and after.",
    "run": "Run a launcher's command by a plan, reordered, or with faster collectives.",
    "report": "Show a pattern, a plan and measured times as one page, as text or as JSON.",
    "compare": "Compare two commands by interleaved runs, two files of runs, or two plans.",
    "where": "Show the host and the binding of every rank, and the flag that corrects a wrong one.",
    "doctor": "Check MPIs, launchers, libraries and limits, and show what corrects each problem.",
    "topo": "Show a machine as a tree, with the cost of each level.",
    "emit": "Write a launcher's own files for a plan and print the command.",
    "convert": "Convert a pattern between file formats: npz, mtx, mat, metis, scotch, csv, prof.",
    "bench": "Time a collective: native and hierarchical variants, taking turns in one process.",
    "calibrate": "Measure latency, bandwidth, overhead and gap of each level of the machine.",
    "predict": "Predict what each algorithm costs, which hierarchy is best, and how many groups.",
    "simulate": "Run a program, or replay a pattern, with any number of ranks on a simulated machine.",
    "completion": "Print what completes ranktree's commands and options in bash, zsh or fish.",
    "manual": "Write man pages of ranktree and of each command.",
    "tune": "Measure which variants of collectives are faster, and write rules for them.",
}
