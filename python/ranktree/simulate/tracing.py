"""The pattern of a program without a run: its ranks are simulated, and each leaves its records."""

import shlex
from pathlib import Path

from ranktree.simulate.machine import leaves_in_order, simulated_machine
from ranktree.simulate.run import Settings, simulate
from ranktree.simulate.tools import built


def trace_simulated(words: list[str], output: Path, ranks: int, folder: Path) -> int:
    """Runs a program compiled for simulations; the records are in OUTPUT.parts afterwards. Its exit code.

    The machine does not matter to a program that does not query it: one node with a core a rank.
    """
    variables = {"RANKTREE_TRACE": str(output), "RANKTREE_SIMULATE_PROGRAM": shlex.join(words)}
    # Alltoalls by a ring: fewer messages at once take SimGrid less time. A trace has the calls, whatever the algorithm.
    settings = Settings(
        threads=True,
        algorithms=("alltoall:ring",),
        preload=(built("libranktree_preload_smpi.so"),),
        variables=variables,
    )
    machine = simulated_machine(f"node:1 core:{ranks}", None, "core", folder)
    return simulate(machine, leaves_in_order(machine, ranks, "packed"), words, settings).code
