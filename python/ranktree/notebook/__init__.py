"""Patterns, machines, plans and reports as objects that show themselves in a notebook (docs/how-to/notebook.md)."""
