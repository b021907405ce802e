"""How a verb's function declares its options, `name: Annotated[type, Option(...)] = default`, and words become values.

argparse takes no options between words for a program, and typer takes longer to import than a whole `ranktree run` may.
Types: str, int, float, Path, an Enum's values, bool (a flag), list of them (repeatable, or all words that are left);
`| None` where nothing may be given.
"""

import enum
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union, get_args, get_origin


class BadParameter(Exception):
    """Wrong usage: one line, after the name of the option it is about where there is one."""

    def __init__(self, text: str, param_hint: str = "") -> None:
        """The text says what was expected and what was found."""
        super().__init__(f"{param_hint}: {text}" if param_hint else text)


class HelpWanted(Exception):
    """--help was among the words."""


@dataclass(frozen=True, init=False)
class Option:
    """An option: its names (by default that of the parameter), and what its value may be."""

    names: tuple[str, ...]
    help: str = ""
    metavar: str = ""
    envvar: str = ""
    min: float | None = None
    max: float | None = None

    def __init__(self, *names: str, **settings: Any) -> None:
        """`--on/--off` names a flag and its opposite."""
        object.__setattr__(self, "names", names)
        for name, value in settings.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Argument:
    """Words that are no option."""

    metavar: str = ""
    help: str = ""


@dataclass
class Parameter:
    """One parameter of a verb's function."""

    name: str
    declared: Option | Argument
    kind: Callable[[str], Any]
    many: bool
    default: Any
    on: list[str] = field(default_factory=list)  # names of an option
    off: list[str] = field(default_factory=list)  # names that turn a flag off

    @property
    def is_flag(self) -> bool:
        """An option without a value."""
        return self.kind is bool

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return self.on[-1] if self.on else (self.declared.metavar or self.name.upper())


def parameters_of(function: Callable) -> list[Parameter]:
    """What a verb's function declares."""
    return [make_parameter(name, parameter) for name, parameter in inspect.signature(function).parameters.items()]


def make_parameter(name: str, parameter: inspect.Parameter) -> Parameter:
    """The annotation taken apart: Annotated[list[type] | None, declared]."""
    annotation, declared = get_args(parameter.annotation)
    kinds = [annotation]
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    many = get_origin(kinds[0]) is list
    found = Parameter(name, declared, get_args(kinds[0])[0] if many else kinds[0], many, parameter.default)
    if isinstance(declared, Option):
        for names in declared.names or ("--" + name.replace("_", "-"),):
            on, _, off = names.partition("/")
            found.on.append(on)
            found.off += [off] if off else []
        found.on.sort(key=len)
    return found


def converted(parameter: Parameter, text: str) -> Any:
    """A word as a value of the parameter's type, within its bounds."""
    try:
        value = parameter.kind(text)
    except ValueError:
        if issubclass(parameter.kind, enum.Enum):
            expected = f"one of {', '.join(str(each.value) for each in parameter.kind)}"
        else:
            expected = {int: "a whole number", float: "a number"}[parameter.kind]
        raise BadParameter(f"expected {expected}, found '{text}'", parameter.shown) from None
    least, most = getattr(parameter.declared, "min", None), getattr(parameter.declared, "max", None)
    if least is not None and not value >= least:
        raise BadParameter(f"expected at least {least}, found {text}", parameter.shown)
    if most is not None and not value <= most:
        raise BadParameter(f"expected at most {most}, found {text}", parameter.shown)
    return value


def parse(parameters: Sequence[Parameter], words: Sequence[str], interspersed: bool) -> dict[str, Any]:
    """The parameters' values. `interspersed`: options may stand behind other words, up to `--`."""
    values: dict[str, Any] = {}
    left = list(words)
    others: list[str] = []
    while left:
        word = left.pop(0)
        if word == "--":
            others += left
            break
        if word.startswith("-") and word != "-":
            read_option(parameters, word, left, values)
            continue
        others.append(word)
        if not interspersed:
            others += left
            break
    read_arguments(parameters, others, values)
    for parameter in parameters:
        if parameter.name not in values:
            values[parameter.name] = not_given(parameter)
    return values


def read_option(parameters: Sequence[Parameter], word: str, left: list[str], values: dict[str, Any]) -> None:
    """`--name`, `--name value`, `--name=value`, `-n value`, `-nvalue`; takes its value from the words that are left."""
    name, equals, value = word.partition("=")
    if not word.startswith("--") and name not in names_of(parameters):
        name, equals, value = word[:2], word[2:], word[2:]
    if name == "--help":
        raise HelpWanted
    parameter = names_of(parameters).get(name)
    if parameter is None:
        raise BadParameter(f"no such option: {name}")
    if parameter.is_flag:
        if equals and word.startswith("--"):
            raise BadParameter("takes no value", name)
        values[parameter.name] = name in parameter.on
        if equals:
            left.insert(0, "-" + value)
        return
    if not equals:
        if not left:
            raise BadParameter("needs a value", name)
        value = left.pop(0)
    keep(parameter, converted(parameter, value), values)


def names_of(parameters: Sequence[Parameter]) -> Mapping[str, Parameter]:
    """Every name of every option."""
    return {name: parameter for parameter in parameters for name in (*parameter.on, *parameter.off)}


def keep(parameter: Parameter, value: Any, values: dict[str, Any]) -> None:
    """The last one counts, or all of them."""
    if parameter.many:
        values.setdefault(parameter.name, []).append(value)
    else:
        values[parameter.name] = value


def read_arguments(parameters: Sequence[Parameter], words: Sequence[str], values: dict[str, Any]) -> None:
    """Words in the order of the parameters; the last one may take all that are left."""
    left = list(words)
    for parameter in parameters:
        if not isinstance(parameter.declared, Argument):
            continue
        taken, left = (left, []) if parameter.many else (left[:1], left[1:])
        for word in taken:
            keep(parameter, converted(parameter, word), values)
    if left:
        raise BadParameter(f"one word too many: '{left[0]}'")


def not_given(parameter: Parameter) -> Any:
    """The value of a parameter that no word gives."""
    variable = getattr(parameter.declared, "envvar", "")
    if variable and os.environ.get(variable):
        return converted(parameter, os.environ[variable])
    if parameter.required:
        kind = "argument" if isinstance(parameter.declared, Argument) else "option"
        raise BadParameter(f"Missing {kind} {parameter.shown}")
    return parameter.default


def echo(text: str, err: bool = False) -> None:
    """Prints a line at once."""
    print(text, file=sys.stderr if err else sys.stdout, flush=True)


def usage(verb: str, parameters: Sequence[Parameter]) -> str:
    """`Usage: ranktree VERB [OPTIONS] WORDS`."""
    words = [each.shown if each.required else f"[{each.shown.strip('[]')}]" for each in parameters if not each.on]
    return " ".join(["Usage: ranktree", verb, "[OPTIONS]", *words])


def value_shown(kind: Callable[[str], Any]) -> str:
    """What stands for a value where the option names nothing."""
    if issubclass(kind, enum.Enum):
        return "|".join(str(each.value) for each in kind)
    return {str: "TEXT", int: "NUMBER", float: "NUMBER"}.get(kind, kind.__name__.upper())


def help_lines(parameters: Sequence[Parameter]) -> Iterator[tuple[str, str]]:
    """Each parameter's name and what it is, options last."""
    for parameter in sorted(parameters, key=lambda each: bool(each.on)):
        name = ", ".join("/".join([on, *parameter.off]) for on in parameter.on) or parameter.shown
        if parameter.on and not parameter.is_flag:
            name += " " + (parameter.declared.metavar or value_shown(parameter.kind))
        shown = parameter.default.value if isinstance(parameter.default, enum.Enum) else parameter.default
        known = not parameter.required and shown is not None and not parameter.is_flag
        notes = [f"[default: {shown}]"] if known else []
        notes += ["[required]"] if parameter.required else []
        notes += [f"[also by {parameter.declared.envvar}]"] if getattr(parameter.declared, "envvar", "") else []
        yield name, " ".join([parameter.declared.help, *notes])
    yield "--help", "Show this and exit."
