"""How a verb's function declares its options, `name: Annotated[type, Option(...)] = default`, read by argparse.

typer reads the same form, but takes longer to import than a whole `ranktree run` may. Types: str, int, float, Path, the
values of an Enum, bool (a flag), list of them (repeatable, or all words that are left), and `| None`.
"""

import argparse
import enum
import inspect
import math
import os
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Union, cast, get_args, get_origin

from ranktree.cli import config

LARGEST = 2**31 - 1  # of what becomes a C int


class BadParameter(Exception):
    """Wrong usage: one line, after the name of the option it is about where there is one."""

    def __init__(self, text: str, param_hint: str = "") -> None:
        """The text names what was expected and what was found."""
        super().__init__(f"{param_hint}: {text}" if param_hint else text)


class Exit(Exception):
    """A verb that is done, with an exit code of its own."""

    def __init__(self, code: int) -> None:
        """Of docs/reference/exit-codes.md."""
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, init=False)
class Option:
    """An option: its names (by default that of the parameter), and what its value may be.

    `decides`: "executed" where it names a program, which no settings file can set; "written" where it decides what is
    written, replaced or removed, which that of the current folder cannot set.
    """

    names: tuple[str, ...]
    help: str = ""
    metavar: str = ""
    envvar: str = ""
    min: float | None = None
    max: float | None = None
    above: float | None = None
    decides: str = ""

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


@dataclass(frozen=True)
class Parameter:
    """One parameter of a verb's function."""

    name: str
    declared: Option | Argument
    kind: Callable[[str], Any]
    many: bool
    default: Any

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def shown(self) -> str:
        """Of an argument, its name in help and messages."""
        return self.declared.metavar or self.name.upper()


@dataclass(frozen=True)
class Verb:
    """A word of the command line and the function behind it."""

    name: str
    function: Callable[..., None]
    interspersed: bool = True  # options may stand behind other words, up to `--`; else they end at the first such word
    example: str = ""


class Parser(argparse.ArgumentParser):
    """argparse, with wrong usage as an exception that names the nearest option."""

    def __init__(self, options: Sequence[str], **settings: Any) -> None:
        """The names of all options."""
        super().__init__(**settings)
        self._options = options

    def error(self, message: str) -> NoReturn:
        """Called by argparse."""
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            raise BadParameter(self.no_such_option(unknown.split()[0]))
        raise BadParameter(message.removeprefix("argument ").replace("expected one argument", "expected a value"))

    def no_such_option(self, word: str) -> str:
        """With the nearest one."""
        near = nearest(word, self._options)
        return f"no such option: {word}" + (f" ({near})" if near else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean WORD?`; empty where nothing is near."""
    import difflib  # noqa: PLC0415  after a mistake only

    near = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}?" if near else ""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse's, without a break inside `--some-option`."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)


def parameters_of(function: Callable[..., None]) -> list[Parameter]:
    """What a verb's function declares."""
    return [make_parameter(name, parameter) for name, parameter in inspect.signature(function).parameters.items()]


def make_parameter(name: str, parameter: inspect.Parameter) -> Parameter:
    """The annotation taken apart: Annotated[list[type] | None, declared]."""
    annotation, declared = get_args(parameter.annotation)
    kinds = [annotation]
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    many = get_origin(kinds[0]) is list
    return Parameter(name, declared, get_args(kinds[0])[0] if many else kinds[0], many, parameter.default)


def expected_of(kind: Callable[[str], Any]) -> str:
    """In words, what may stand for a value."""
    if isinstance(kind, enum.EnumMeta):
        return f"one of {', '.join(str(each.value) for each in cast(type[enum.Enum], kind))}"
    return "a whole number" if kind is int else "a number"


def converter(parameter: Parameter) -> Callable[[str], Any]:
    """From a word to a value of the parameter's type, within its bounds."""
    bounds = (getattr(parameter.declared, name, None) for name in ("above", "min", "max"))
    above, least, most = bounds

    def convert(text: str) -> Any:
        try:
            value = parameter.kind(text)
        except ValueError:
            expected = expected_of(parameter.kind)
            raise argparse.ArgumentTypeError(f"expected {expected}, found '{text}'") from None
        if above is not None and not value > above:
            raise argparse.ArgumentTypeError(f"expected a number above {above}, found {text}")
        if least is not None and not value >= least:
            raise argparse.ArgumentTypeError(f"expected at least {least}, found {text}")
        if most is not None and not value <= most:
            raise argparse.ArgumentTypeError(f"expected at most {most}, found {text}")
        if isinstance(value, float) and not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"expected a finite number, found {text}")
        return value

    return convert


def bracketed(shown: str) -> str:
    """`[-- MPIRUN...]`, `[[--] PROGRAM...]`."""
    return shown if shown.startswith("[") and shown.endswith("]") else f"[{shown}]"


def make_parser(verb: Verb) -> Parser:
    """Of one verb. All words that are no options come as `words`."""
    parameters = parameters_of(verb.function)
    arguments = [each for each in parameters if isinstance(each.declared, Argument)]
    usage = " ".join([each.shown if each.required else bracketed(each.shown) for each in arguments])
    options = [name for each in parameters if isinstance(each.declared, Option) for name in names_of(each)]
    parser = Parser(
        options,
        prog=f"ranktree {verb.name}",
        usage=f"ranktree {verb.name} [OPTIONS] {usage}".rstrip(),
        description=inspect.getdoc(verb.function),
        epilog=f"example:\n  {verb.example}" if verb.example else None,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "words",
        nargs="*" if verb.interspersed else argparse.REMAINDER,
        metavar=usage or argparse.SUPPRESS,
        help=" ".join(each.declared.help for each in arguments) or argparse.SUPPRESS,
    )
    for parameter in parameters:
        if isinstance(parameter.declared, Option):
            add_option(parser, parameter, parameter.declared)
    return parser


def names_of(parameter: Parameter) -> tuple[str, ...]:
    """Of an option, as declared."""
    return getattr(parameter.declared, "names", ()) or ("--" + parameter.name.replace("_", "-"),)


def add_option(parser: Parser, parameter: Parameter, declared: Option) -> None:
    """As argparse has it."""
    names = names_of(parameter)
    on = sorted((name.partition("/")[0] for name in names), key=len)
    off = [name.partition("/")[2] for name in names if "/" in name]
    known = not parameter.required and parameter.default is not None and parameter.kind is not bool
    shown = parameter.default.value if isinstance(parameter.default, enum.Enum) else parameter.default
    notes = [f"[default: {shown}]"] if known else []
    notes += [f"[also by {declared.envvar}]"] if declared.envvar else []
    text = " ".join([declared.help, *notes]).strip().replace("%", "%%")
    settings: dict[str, Any] = {"dest": parameter.name, "default": argparse.SUPPRESS, "help": text}
    if parameter.kind is bool:
        parser.add_argument(*on, action="store_true", **settings)
        for name in off:
            parser.add_argument(name, action="store_false", **settings | {"help": f"The opposite of {on[-1]}."})
        return
    settings["metavar"] = declared.metavar or value_shown(parameter.kind)
    settings["type"] = converter(parameter)
    parser.add_argument(*on, action="append" if parameter.many else "store", **settings)


def value_shown(kind: Callable[[str], Any]) -> str:
    """What stands for a value where the option names nothing."""
    if isinstance(kind, enum.EnumMeta):
        return "|".join(str(each.value) for each in cast(type[enum.Enum], kind))
    shown: dict[Any, str] = {str: "TEXT", int: "NUMBER", float: "NUMBER"}
    return shown.get(kind) or kind.__name__.upper()


def parse(verb: Verb, words: Sequence[str]) -> dict[str, Any]:
    """The parameters' values. What follows the first `--` before a program's own is passed on as it is."""
    parser = make_parser(verb)
    before, after = cut_at_dashes(words) if verb.interspersed else (words, [])
    values = vars((parser.parse_intermixed_args if verb.interspersed else parser.parse_args)(list(before)))
    others = [*values.pop("words"), *after]
    if not verb.interspersed and others and others[0].startswith("-"):
        if others[0] != "--":
            raise BadParameter(parser.no_such_option(others[0]))
        del others[0]
    parameters = parameters_of(verb.function)
    read_arguments(parameters, others, values)
    decided = {name: getattr(each.declared, "decides", "") for each in parameters for name in setting_names(each)}
    settings = config.settings_of(verb.name, decided)
    return {each.name: values[each.name] if each.name in values else not_given(each, settings) for each in parameters}


def setting_names(parameter: Parameter) -> list[str]:
    """What ranktree.toml calls an option: its long name without dashes."""
    if isinstance(parameter.declared, Argument):
        return []
    return [max((name.partition("/")[0] for name in names_of(parameter)), key=len).lstrip("-")]


def cut_at_dashes(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Before and behind the first `--`."""
    place = list(words).index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def read_arguments(parameters: Sequence[Parameter], words: Sequence[str], values: dict[str, Any]) -> None:
    """Words in the order of the parameters; the last one may take all that are left."""
    left = list(words)
    for parameter in parameters:
        if not isinstance(parameter.declared, Argument):
            continue
        taken, left = (left, []) if parameter.many else (left[:1], left[1:])
        try:
            found = [converter(parameter)(word) for word in taken]
        except argparse.ArgumentTypeError as error:
            raise BadParameter(str(error), parameter.shown) from None
        if found:
            values[parameter.name] = found if parameter.many else found[0]
    if left:
        raise BadParameter(f"one word too many: '{left[0]}'")


def not_given(parameter: Parameter, settings: Mapping[str, Any]) -> Any:
    """The value of a parameter that no word gives: of the environment, else of ranktree.toml, else the default."""
    variable = getattr(parameter.declared, "envvar", "")
    if variable and os.environ.get(variable):
        return converter(parameter)(os.environ[variable])
    for name in setting_names(parameter):
        if name in settings:
            return from_setting(parameter, name, settings[name])
    if parameter.required and isinstance(parameter.declared, Option):
        raise BadParameter(f"the following arguments are required: {max(names_of(parameter), key=len)}")
    if parameter.required:
        raise BadParameter(f"missing argument {parameter.shown}")
    return parameter.default


def from_setting(parameter: Parameter, name: str, value: Any) -> Any:
    """A value of ranktree.toml as the option has it."""
    if parameter.kind is bool or isinstance(value, bool):
        if parameter.kind is not bool or not isinstance(value, bool):
            expected = "true or false" if parameter.kind is bool else "a value"
            raise BadParameter(f"{config.FILE}: {name}: expected {expected}, found {value!r}")
        return value
    try:
        found = [converter(parameter)(str(each)) for each in (value if isinstance(value, list) else [value])]
    except argparse.ArgumentTypeError as error:
        raise BadParameter(f"{config.FILE}: {name}: {error}") from None
    if parameter.many:
        return found
    if len(found) != 1:
        raise BadParameter(f"{config.FILE}: {name}: expected one value, found {len(found)}")
    return found[0]


def echo(text: str, err: bool = False) -> None:
    """Prints a line at once."""
    print(text, file=sys.stderr if err else sys.stdout, flush=True)


def overview(about: str, verbs: Mapping[str, str]) -> argparse.ArgumentParser:
    """`ranktree --help`: every verb with what it does."""
    parser = argparse.ArgumentParser(prog="ranktree", usage="ranktree COMMAND ...", description=about, add_help=False)
    group = parser.add_argument_group("commands")
    for verb, text in verbs.items():
        group.add_argument(verb, help=text.replace("%", "%%"), nargs="?", metavar=verb)
    parser.add_argument("--version", action="store_true", help="Print the version and exit.")
    parser.add_argument(
        "--help", action="store_true", help="Show this and exit; 'ranktree COMMAND --help': a command's options."
    )
    return parser
