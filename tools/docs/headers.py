"""Pages of the C and C++ interfaces, from the comments and declarations of the installed headers."""

import re
from collections.abc import Iterator
from pathlib import Path

from text import escaped

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "ranktree"
C_HEADERS = ("base.h", "topo.h", "pattern.h", "place.h", "launch.h", "predict.h", "mpi.h", "mpi_collect.h", "paper.h")
CPP_HEADERS = ("error.hpp", "place.hpp", "predict.hpp", "mpi_error.hpp", "hierarchy.hpp", "reorder.hpp", "collect.hpp")
LINKS = {
    "base.h": "",
    "topo.h": "Link with `libranktree` (CMake: `ranktree::ranktree`; pkg-config: `ranktree`).",
    "mpi.h": "Link with `libranktree_mpi_<mpi>` (CMake: `ranktree::mpi_<mpi>`; pkg-config: `ranktree_mpi_<mpi>`).",
}
NAME = re.compile(r"(\w+)\s*\(|(?:enum|struct|class|typedef)\b[^{;]*?(\w+)\s*[{;:]")


def c_page() -> str:
    """All C headers."""
    parts = ["# C API", "Every function of the installed C headers, in the order of the headers."]
    large = f"`ranktree/mpi_collect_large.h` declares the forms with `MPI_Count`: {', '.join(large_names())}."
    return "\n\n".join([*parts, *(header(name) for name in C_HEADERS), "## ranktree/mpi_collect_large.h", large])


def cpp_page() -> str:
    """The C++ headers."""
    head = (
        "Classes over the [C API](c-api.md): header only, move only, freed by their destructors; errors are exceptions."
    )
    return "\n\n".join(["# C++ API", head, *(cpp_header(name) for name in CPP_HEADERS)])


def large_names() -> list[str]:
    """Functions with large counts."""
    text = (INCLUDE / "mpi_collect_large.h").read_text(encoding="utf-8")
    return [f"`{name}`" for name in re.findall(r"\b(ranktree_\w+_c)\(", text)]


def header(name: str) -> str:
    """The introduction of a header, then its documented declarations."""
    text = (INCLUDE / name).read_text(encoding="utf-8")
    introduction = re.match(r"/\*(.*?)\*/", text, re.DOTALL)
    parts = [f"## ranktree/{name}", LINKS.get(name, ""), prose(introduction.group(1) if introduction else "")]
    for comment, declarations in documented(text):
        parts += [prose(comment), f"```c\n{declarations}\n```"]
    return "\n\n".join(part for part in parts if part)


def documented(text: str) -> Iterator[tuple[str, str]]:
    """Each comment at the beginning of a line with the declarations below it, up to the next comment or directive."""
    body = text[text.index("*/") + 2 :]
    blocks = re.split(r"\n(?=/\*\*)", body)
    for block in blocks[1:] if not blocks[0].lstrip().startswith("/**") else blocks:
        comment, _, rest = block.lstrip().partition("*/")
        rest = re.sub(r"^\s*\n", "", rest)
        declarations = re.split(r"\n(?=#|\}\s*$|//)", rest)[0]
        yield comment.removeprefix("/**"), clean(declarations)
    plain = re.split(r"\n#", blocks[0])[-1]
    for found in re.findall(r"\ntypedef (?:enum|struct) \w+ \{.*?\n\} \w+;", plain, re.DOTALL):
        yield "", clean(found)


def clean(declarations: str) -> str:
    """Without macros of the build and empty lines in a row."""
    text = declarations.replace("RANKTREE_API ", "")
    text = re.sub(r"\n {20,}", "\n    ", text)
    return re.sub(r"\n{2,}", "\n\n", text).strip()


def prose(comment: str) -> str:
    """The words of a comment as Markdown: paragraphs, lists, then parameters and result as a list."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]
    words, *parameters = re.split(r"\\(?=param|return|note)", "\n".join(lines).strip())
    text = re.sub(r"(?m)^ +(?=\S)", "  ", re.sub(r"\n{3,}", "\n\n", words.strip()))
    items = "\n".join(item(each) for each in parameters)
    return code_names(escaped("\n\n".join(part for part in (text, items) if part)))


def item(text: str) -> str:
    """One parameter, or the result."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^param\[out\] (\w+) ", r"\1 (out): ", text)
    text = re.sub(r"^param (\w+) ", r"\1: ", text)
    text = re.sub(r"^return ", "Returns ", text)
    return f"- {re.sub('^note ', '', text)}"


def code_names(text: str) -> str:
    """Names of functions and constants as code."""
    names = r"(?<![\w/`])((?:ranktree|RANKTREE|MPI)(?:\\_\w+)+(?:\(\))?)"
    return re.sub(names, lambda found: f"`{found[1].replace(chr(92), '')}`", text)


def cpp_header(name: str) -> str:
    """The introduction, then each class with its documented public members."""
    text = (INCLUDE / name).read_text(encoding="utf-8")
    introduction = re.match(r"((?://.*\n)+)", text)
    lines = [line.removeprefix("//").removeprefix(" ") for line in introduction.group(1).splitlines()]
    words = "\n".join(line for line in lines if not line.startswith("  "))
    example = "\n".join(line[2:] for line in lines if line.startswith("  "))
    parts = [f"## ranktree/{name}", code_names(escaped(words.strip()))]
    if example:
        parts.append(f"```cpp\n{example}\n```")
    public = re.sub(r"\n private:.*?\n\};", "\n};", text, flags=re.DOTALL)
    for comment, declaration in re.findall(
        r"/\*\*(?!<)((?:(?!\*/).)*)\*/\n( *[^/\n][^\n]*(?:\n[^\n]*)?)", public, re.DOTALL
    ):
        parts.append(member(comment, declaration))
    return "\n\n".join(parts)


def member(comment: str, declaration: str) -> str:
    """A class as a heading, a function as code with its words below."""
    first = declaration.splitlines()[0].strip()
    if found := re.match(r"(?:class|struct) (\w+)", first):
        return f"### {found[1]}\n\n{prose(comment)}"
    whole = " ".join(line.strip() for line in declaration.splitlines())
    signature = re.split(r"\s+(?:\{(?!\})| : [\w:]+\(|: [\w:]+\()", whole)[0].replace("[[nodiscard]] ", "").rstrip(";")
    return f"```cpp\n{signature};\n```\n\n{prose(comment)}"
