"""Measured runs: commands run in turn, their times, and whether one is faster (docs/reference/formats/runs.md)."""
