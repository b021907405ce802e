"""The page of the Fortran interfaces, from the comments and subroutines of the installed modules."""

import re
from pathlib import Path

from headers import prose

INCLUDE = Path(__file__).resolve().parents[2] / "include" / "ranktree"
DOCUMENTED = re.compile(r"((?:^ *!>.*\n)+)( *subroutine[^\n]*\n(?:.*\n)*?)(?= *end )", re.MULTILINE)
HEAD = """Two modules, compiled with the program's own compiler: `ranktree.f90` for `use mpi_f08` (handles are
`type(MPI_Comm)` and so on), `ranktree_mpif.f90` for `use mpi` and `mpif.h` (integers). Names and arguments are those
of the [C API](c-api.md), which has the whole contract; `ierror` is optional. These are the integer forms."""


def page() -> str:
    """Subroutines with their words, then the names of the collectives."""
    parts = ["# Fortran API", HEAD, "## Hierarchical communicators"]
    parts += subroutines("ranktree_mpif.f90")
    parts += ["## Reordering", *subroutines("ranktree_reorder.f90"), "## Collectives"]
    parts.append("Arguments are MPI's; counts may be of kind `MPI_COUNT_KIND`. " + ", ".join(collectives()) + ".")
    return "\n\n".join(parts)


def joined(text: str) -> str:
    """Continued lines as one."""
    return re.sub(r"\s*&\s*\n\s*&?\s*", " ", text)


def subroutines(name: str) -> list[str]:
    """Each documented procedure behind a generic name."""
    text = joined((INCLUDE / name).read_text(encoding="utf-8"))
    generic = {}
    for public, procedures in re.findall(r"interface (ranktree_\w+)\s+module procedure ([^\n]+)", text):
        generic |= dict.fromkeys(re.split(r",\s*", procedures.strip()), public)
    parts = []
    for comment, body in DOCUMENTED.findall(text):
        found = re.match(r" *subroutine (\w+)\(([^)]*)\)", body)
        if found and found[1] in generic:
            words = "\n".join(line.strip().removeprefix("!>").strip() for line in comment.splitlines())
            declared = [line.strip() for line in body.splitlines()[1:] if re.search(r"intent\(", line)]
            lines = [f"call {generic[found[1]]}({found[2]})", *(f"  {line}" for line in declared)]
            code = "\n".join(lines)
            parts.append(f"```fortran\n{code}\n```\n\n{prose(words)}")
    return parts


def collectives() -> list[str]:
    """Public names of the module of collectives."""
    text = joined((INCLUDE / "ranktree_collect_f08.f90").read_text(encoding="utf-8"))
    listed = re.search(r"public :: (ranktree_Bcast[^\n]*)", text).group(1)
    return [f"`{name.strip()}`" for name in listed.split(",")]
