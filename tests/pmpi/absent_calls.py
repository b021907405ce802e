"""Calls that an MPI may lack, as mpi4py finds them: rank 0 prints a line each."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
sent, received = np.zeros(1), np.zeros(1)
CALLS = {
    "Allreduce_init": lambda: world.Allreduce_init(sent, received).Free(),
    "Barrier_init": lambda: world.Barrier_init().Free(),
    "Isendrecv": lambda: world.Isendrecv(sent, world.rank, 0, received, world.rank, 0).Wait(),
    "Get_hw_resource_info": MPI.Get_hw_resource_info,
    "Session_init": lambda: MPI.Session.Init().Finalize(),
}
for name, call in CALLS.items():
    try:
        call()
        found = "there"
    except (NotImplementedError, MPI.Exception) as error:
        found = type(error).__name__
    if world.rank == 0:
        print(name, found, flush=True)
