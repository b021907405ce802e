"""Programs and patterns on a simulated machine: SimGrid's SMPI beside Ranktree's machines (docs/simulate.md)."""
