"""All checks, in the order in which they are printed."""

import platform
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ranktree import _core
from ranktree.doctor import environment, limits, mpis
from ranktree.doctor.system import NOTE, OK, PROBLEM, Finding, System
from ranktree.usable_machine import usable_slots

FORMAT, VERSION = "ranktree-doctor", 1
MARKS = {"ok": "ok      ", "note": "note    ", "warning": "WARNING ", "problem": "PROBLEM "}


def python(_: System) -> Iterator[Finding]:
    """The interpreter that runs this."""
    yield Finding("Python", OK, f"{platform.python_version()}, {platform.machine()}")


def machine(_: System) -> Iterator[Finding]:
    """What hwloc sees of this machine, and what this process may use of it."""
    try:
        tree = _core.load_machine("live").cut_at("Core")
    except (RuntimeError, ValueError, OSError) as error:
        yield Finding("machine", PROBLEM, f"hwloc: {error}", "unset HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_COMPONENTS")
        return
    usable = usable_slots(tree)
    text = f"{tree.leaf_count} cores, {usable} for this process, levels {' '.join(tree.levels)}"
    yield Finding("machine", OK if usable == tree.leaf_count else NOTE, text)


CHECKS = (
    python,
    mpis.launchers,
    mpis.libraries,
    mpis.simulation,
    mpis.as_root,
    mpis.slurm,
    environment.scheduler,
    machine,
    limits.shared_memory,
    limits.ptrace,
    limits.perf,
    limits.resources,
    limits.binding,
    environment.variables,
)


def examine(system: System) -> list[Finding]:
    """Every finding."""
    return [finding for check in CHECKS for finding in check(system)]


def as_document(findings: list[Finding]) -> dict[str, Any]:
    """For `--json`."""
    return {"format": FORMAT, "version": VERSION, "checks": [asdict(finding) for finding in findings]}


def as_text(findings: list[Finding]) -> str:
    """A line a finding, what mends it below; the last line counts."""
    width = max(len(finding.check) for finding in findings)
    lines = []
    for each in findings:
        lines.append(f"{MARKS[each.status]} {each.check.ljust(width)}  {each.found}")
        if each.mend:
            lines.append(f"{' ' * (width + 11)}-> {each.mend}")
    problems = sum(each.status == "problem" for each in findings)
    warnings = sum(each.status == "warning" for each in findings)
    return "\n".join([*lines, f"{count(problems, 'problem')}, {count(warnings, 'warning')}"])


def count(number: int, what: str) -> str:
    """`1 problem`, `2 problems`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
