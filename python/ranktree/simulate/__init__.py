"""Programs and patterns on a simulated machine: SMPI and Ranktree's machines (docs/explanation/simulation.md)."""
