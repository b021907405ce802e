"""The command line: one module a verb, with `command` INTERSPERSED = False where options end at the first word."""

# What `ranktree --help` says of each without importing any; the first sentence of the verb's own page.
VERBS = {
    "topo": "Show a machine as a tree, with the cost of each level and the places this process may not use marked.",
    "trace": "Run a launcher's command with tracing on; the program is unchanged, its exit code and signals pass "
    "through.",
    "map": "Compute where each rank should sit, and what that buys by level.",
    "convert": "Convert a pattern between file formats: npz, mtx, mat, metis, scotch, csv, prof.",
    "emit": "Write a launcher's own files for a plan and print the exact command to run.",
    "run": "Run a launcher's command with every rank where the plan has it; exit code and signals pass through.",
    "bench": "Start ranks that call a collective in several ways, taking turns in one process: native beside "
    "hierarchical.",
    "calibrate": "Measure latency, bandwidth, overheads and gap between ranks of each level, and the rates of memory.",
    "predict": "Predict what each algorithm costs, which hierarchy is best, how many groups pay and why.",
    "tune": "Find which collectives are faster another way than the MPI's own, and write them down as rules.",
}
