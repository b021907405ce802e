"""Patterns: who talks to whom. `load` and `save` know every format of docs/formats/pattern.md.

pattern, warnings = load("app.npz")
pattern.ranks, pattern.indptr, pattern.indices, pattern.messages, pattern.bytes     # CSR, by sender
pattern.traffic("rma")                                                             # (messages, bytes) of one class
save("app.mtx", expand(pattern, natural_model(pattern)))
"""

from ranktree._core import Pattern, expand_pattern, load_pattern, natural_model, pattern_format, save_pattern

load = load_pattern
save = save_pattern
expand = expand_pattern

__all__ = ["Pattern", "expand", "load", "natural_model", "pattern_format", "save"]
