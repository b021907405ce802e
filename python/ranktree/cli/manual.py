"""`ranktree manual`: man pages, made of the same texts as --help."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from ranktree import _core
from ranktree.cli import ABOUT, COMMON, VERBS
from ranktree.cli.options import Argument, Option, Parameter, Verb, echo, names_of, parameters_of, value_shown

EXAMPLE = "ranktree manual -o ~/.local/share/man/man1"


def command(
    output: Annotated[
        Path, Option("-o", "--output", decides="written", help="the folder that gets ranktree.1 and a page a command")
    ],
) -> None:
    """Write the man pages of ranktree and of each command."""
    from ranktree.cli.main import load_verb  # noqa: PLC0415  main imports the verbs

    output.mkdir(parents=True, exist_ok=True)
    pages = {"ranktree": overview_page()} | {f"ranktree-{name}": verb_page(load_verb(name)) for name in VERBS}
    for name, text in pages.items():
        _core.write_file(str(output / f"{name}.1"), text)
    echo(f"{output}: {len(pages)} pages")


def overview_page() -> str:
    """ranktree.1."""
    lines = [*head("ranktree", ABOUT), "[\\-\\-version] [\\-\\-help] COMMAND ..."]
    lines.append(".SH COMMANDS")
    for name, text in VERBS.items():
        lines += [".TP", f".BR ranktree\\-{name} (1)", escaped(text)]
    lines.append(".SH EXAMPLES")
    for example in COMMON.values():
        lines += [".PP", ".EX", escaped(example), ".EE"]
    return "\n".join([*lines, ""])


def verb_page(verb: Verb) -> str:
    """The page of one command."""
    parameters = parameters_of(verb.function)
    words = [each.shown for each in parameters if isinstance(each.declared, Argument)]
    lines = [*head(f"ranktree-{verb.name}", VERBS[verb.name]), escaped(" ".join(["[OPTIONS]", *words]))]
    lines += [".SH DESCRIPTION", *paragraphs(inspect.getdoc(verb.function) or "")]
    lines.append(".SH OPTIONS")
    for each in parameters:
        lines += option(each)
    lines += [".SH EXAMPLE", ".EX", escaped(verb.example), ".EE", ".SH SEE ALSO", ".BR ranktree (1)"]
    return "\n".join([*lines, ""])


def head(name: str, about: str) -> list[str]:
    """Title, name and the begin of the synopsis."""
    plain = escaped(name)
    words = plain.replace("ranktree\\-", "ranktree ", 1)
    return [
        f'.TH {name.upper()} 1 "" "ranktree" "Ranktree"',
        ".SH NAME",
        f"{plain} \\- {escaped(about)}",
        ".SH SYNOPSIS",
        f".B {words}",
    ]


def option(parameter: Parameter) -> Iterator[str]:
    """An option or an argument with its text."""
    declared = parameter.declared
    if isinstance(declared, Argument):
        shown = parameter.shown
    else:
        names = [name for each in names_of(parameter) for name in each.split("/")]
        value = "" if parameter.kind is bool else f" {declared.metavar or value_shown(parameter.kind)}"
        shown = ", ".join(names) + value
    yield ".TP"
    yield f".B {escaped(shown)}"
    yield escaped(declared.help or "See the description.")


def paragraphs(text: str) -> Iterator[str]:
    """Blank lines begin paragraphs."""
    for part in text.split("\n\n"):
        yield ".PP"
        yield escaped(" ".join(part.split()))


def escaped(text: str) -> str:
    """Hyphens that can be copied, and no line that begins as a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + plain if plain[:1] in {".", "'"} else plain
