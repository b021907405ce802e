"""Ranktree: MPI programs that follow the machine."""
