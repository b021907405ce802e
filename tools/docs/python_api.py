"""The page of the Python interface, from signatures and docstrings in the sources; nothing is imported."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from text import escaped

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "ranktree"
# Module as it is imported, file, names (None: all that are public).
MODULES = (
    ("ranktree", "placement.py", ["place"]),
    ("ranktree", "notebook/pattern.py", ["Pattern"]),
    ("ranktree", "notebook/machine.py", ["Machine"]),
    ("ranktree", "notebook/plan.py", ["Plan"]),
    ("ranktree", "_core.pyi", ["Slot"]),
    ("ranktree", "notebook/report.py", ["Report"]),
    ("ranktree.pattern", "pattern.py", ["load", "read", "read_whole"]),
    ("ranktree.prediction", "prediction.py", ["predict"]),
    ("ranktree.mpi", "mpi.py", None),
    ("ranktree.mpi", "mpi_reorder.py", None),
    ("ranktree.mpi", "mpi_collect.py", ["Request", "Set_reproducible"]),
    ("ranktree.mpi", "mpi_library.py", ["message"]),
)
HEAD = """`import ranktree` needs numpy, `import ranktree.mpi` mpi4py.
[Patterns](../how-to/convert-patterns.md#from-python),
[notebooks](../how-to/notebook.md) and [reordering](../how-to/reorder-from-your-language.md) show them at work.

The collectives of `ranktree.mpi` (`Bcast`, `Ibcast`, `Bcast_init`, `Reduce`, ...) have mpi4py's names and buffer
arguments, with the communicator in front: `ranktree.mpi.Allreduce(comm, sendbuf, recvbuf, op=MPI.SUM)`. Nonblocking
forms return a `ranktree.mpi.Request`."""
MADE_BY_CALLS = {"Plan", "Level", "Levels", "Request"}  # no user calls their constructors
HELPERS = {"grid_arguments", "lengths_of", "periods_of", "require_graph", "require_length", "weight_list"}


def page() -> str:
    """All modules."""
    parts, last = ["# Python API", HEAD], ""
    for module, file, names in MODULES:
        if module != last:
            parts.append(f"## {module}")
            last = module
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        for node in tree.body:
            if wanted(node, names):
                parts += described(node, module)
    return "\n\n".join(parts)


def wanted(node: ast.stmt, names: list[str] | None) -> bool:
    """Whether a definition is for users."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    if names is not None:
        return node.name in names
    return not node.name.startswith("_") and node.name not in HELPERS


def described(node: ast.FunctionDef | ast.ClassDef, module: str) -> Iterator[str]:
    """A heading, the signature, the words; of a class also its public methods."""
    yield f"### {module}.{node.name}"
    if isinstance(node, ast.FunctionDef):
        yield from function(node, f"{module}.{node.name}")
        return
    yield docstring(node)
    for each in node.body:
        public = isinstance(each, ast.FunctionDef) and (
            not each.name.startswith("_") or (each.name == "__init__" and node.name not in MADE_BY_CALLS)
        )
        if public:
            yield from function(each, node.name if each.name == "__init__" else f"{node.name}.{each.name}")


def function(node: ast.FunctionDef, name: str) -> Iterator[str]:
    """Signature and words."""
    decorators = {ast.unparse(each) for each in node.decorator_list}
    if "property" in decorators:
        shown = f"{name}" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")
    else:
        arguments = arguments_of(node)
        returns = f" -> {ast.unparse(node.returns)}" if node.returns and not name[0].isupper() else ""
        shown = f"{name}({arguments}){returns}"
    yield f"```python\n{shown}\n```"
    yield docstring(node)


def arguments_of(node: ast.FunctionDef) -> str:
    """As they are written, without self, one a line where they are many."""
    arguments = node.args
    if arguments.args and arguments.args[0].arg in {"self", "cls"}:
        arguments.args = arguments.args[1:]
    text = ast.unparse(arguments)
    return text if len(text) < 100 else "\n    " + re.sub(r", (?=\**\w+[:=,]|\*,)", ",\n    ", text) + "\n"


def docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    """The words; indented parts stay as they are."""
    text = ast.get_docstring(node) or ""
    parts = []
    for paragraph in text.split("\n\n"):
        indented = any(line.startswith("    ") for line in paragraph.splitlines())
        plain = paragraph if "`" in paragraph else escaped(paragraph)
        parts.append(f"```none\n{paragraph}\n```" if indented else plain)
    return "\n\n".join(parts)
