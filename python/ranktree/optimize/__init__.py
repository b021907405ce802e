"""One command from a launch to a verdict: trace, place, verify, measure before and after, report."""
