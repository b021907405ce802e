"""The page of the command line: every verb with its options, from the declarations that its own parser reads."""

import importlib
import inspect
from enum import Enum

from ranktree.cli import ABOUT, VERBS
from ranktree.cli.options import Argument, Option, Parameter, Verb, make_parser, names_of, parameters_of, value_shown
from text import cell, table

TITLE = "# Command line"
HEAD = """One section for each verb of `ranktree`, with all its options. `ranktree VERB --help` prints the same.
[Exit codes](exit-codes.md) and [environment variables](environment.md) have their own pages."""


def page() -> str:
    """The whole page."""
    verbs = [[f"[`{verb}`](#ranktree-{verb})", text] for verb, text in VERBS.items()]
    parts = [TITLE, ABOUT, HEAD, table(["verb", "what it does"], verbs)]
    return "\n\n".join([*parts, *(section(verb) for verb in VERBS)])


def section(name: str) -> str:
    """One verb: usage, arguments, options, example."""
    module = importlib.import_module(f"ranktree.cli.{name}")
    verb = Verb(name, module.command, getattr(module, "INTERSPERSED", True), module.EXAMPLE)
    usage = make_parser(verb).usage
    description = inspect.getdoc(module.command) or ""
    parameters = parameters_of(module.command)
    arguments = [each for each in parameters if isinstance(each.declared, Argument)]
    options = [each for each in parameters if isinstance(each.declared, Option)]
    parts = [f"## ranktree {name}", f"    {usage}", description]
    if arguments:
        parts.append(
            table(["argument", "meaning"], [[cell(each.shown, True), each.declared.help] for each in arguments])
        )
    if options:
        parts.append(table(["option", "meaning", "default"], [option_row(each) for each in options]))
    parts.append(f"Example:\n\n    {verb.example}")
    return "\n\n".join(parts)


def option_row(option: Parameter) -> list[str]:
    """Names with the value's place, the help text, the default."""
    value = "" if option.kind is bool else f" {option.declared.metavar or value_shown(option.kind)}"
    names = ", ".join(cell(f"{name.replace('/', ' / ')}{value}", True) for name in names_of(option))
    text = option.declared.help
    if option.many:
        text += " (repeatable)"
    if option.declared.envvar:
        text += f" (also by `{option.declared.envvar}`)"
    return [names, text.strip(), default_of(option)]


def default_of(option: Parameter) -> str:
    """A default that a reader may need to know."""
    if option.required:
        return "required"
    if option.kind is bool or option.default is None or option.many:
        return ""
    return cell(str(option.default.value if isinstance(option.default, Enum) else option.default), True)
