#!/usr/bin/env python3
"""Fails when a module includes a header of a module above it, or core touches files, MPI, hwloc, clocks or environment.

The modules' order (docs/explanation/architecture.md): capi, preload -> mpi -> hw -> io -> core; simulate -> preload.
"""

import re
import sys
from pathlib import Path

ALLOWED = {
    "core": {"core"},
    "io": {"core", "io"},
    "hw": {"core", "io", "hw"},
    "mpi": {"core", "io", "hw", "mpi", "ranktree"},
    "preload": {"core", "io", "hw", "mpi", "preload", "ranktree"},
    "capi": {"core", "io", "hw", "mpi", "capi", "ranktree"},
    "programs": {"core", "io", "hw", "mpi", "programs", "ranktree"},
    "simulate": {"core", "io", "hw", "preload", "simulate"},
}
STAGES = {
    "base": set(),
    "topo": {"base"},
    "pattern": {"base"},
    "place": {"base", "topo", "pattern"},
    "split": {"base", "topo"},
    "reorder": {"base", "topo", "pattern", "place", "split"},
    "schedule": {"base"},
    "predict": {"base", "topo", "schedule"},
    "simulate": {"base", "topo", "predict"},
    "objective": {"base", "topo", "pattern", "place", "predict", "simulate"},
    "shared": {"base"},
}
FORBIDDEN = {
    "core": ("mpi.h", "hwloc", "fstream", "iostream", "filesystem", "unistd.h", "sys/", "chrono", "ctime", "cstdio"),
    "io": ("mpi.h", "hwloc", "iostream"),
    "hw": ("mpi.h", "iostream"),
    "capi": ("hwloc", "iostream"),
}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check_include(path: Path, module: str, quote: str, target: str) -> str | None:
    """The reason why `path`, in `module`, may not include `target`; None when it may."""
    top = target.split("/", maxsplit=1)[0]
    if quote == '"' and top in ALLOWED | {"ranktree": None} and top not in ALLOWED[module]:
        return f"{module} may not include {top}"
    if target.startswith(FORBIDDEN.get(module, ())):
        return f"{module} may not include <{target}>"
    if module == "core" and top == "core":
        stage, used = path.parts[path.parts.index("core") + 1], target.split("/")[1]
        if used != stage and used not in STAGES[stage]:
            return f"core/{stage} may not include core/{used}"
    return None


def main() -> int:
    """Checks every source below src."""
    root = Path(__file__).resolve().parent.parent
    bad = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp", ".c", ".inc"}:
            continue
        relative = path.relative_to(root / "src")
        module = relative.parts[0]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            reason = check_include(path, module, match[1], match[2]) if match else None
            if reason:
                bad.append(f"src/{relative}:{number}: {reason}")
    print("\n".join(bad) if bad else "layers: no arrow points up")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
