"""Options of the command line: every way to write them, and what is refused."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
from ranktree.cli.options import Argument, BadParameter, Option, Verb, make_parser, parse


class Size(StrEnum):
    """Two values."""

    SMALL = "small"
    LARGE = "large"


def verb(  # noqa: PLR0913, PLR0917  one of each kind
    source: Annotated[str, Argument(help="what is read")],
    words: Annotated[list[str] | None, Argument(metavar="[-- WORDS...]")] = None,
    output: Annotated[Path | None, Option("-o", "--output", help="where it goes")] = None,
    number: Annotated[int, Option(min=1, max=9)] = 3,
    share: Annotated[float | None, Option("--share", min=0)] = None,
    size: Annotated[Size, Option()] = Size.SMALL,
    pins: Annotated[list[str] | None, Option("--pin")] = None,
    quiet: Annotated[bool, Option("--quiet", "-q")] = False,
    shared: Annotated[bool, Option("--shared/--no-shared")] = True,
    by_rank: Annotated[str | None, Option(envvar="OPTIONS_TEST_BY_RANK", metavar="RANK")] = None,
) -> None:
    """Never called."""


VERB = Verb("verb", verb, example="ranktree verb in")
LAUNCHER_VERB = Verb("verb", verb, interspersed=False)
DEFAULTS = {
    "source": "in",
    "words": None,
    "output": None,
    "number": 3,
    "share": None,
    "size": Size.SMALL,
    "pins": None,
    "quiet": False,
    "shared": True,
    "by_rank": None,
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("in", {}),
        ("-o out in", {"output": Path("out")}),
        ("-oout in", {"output": Path("out")}),
        ("--output=out in", {"output": Path("out")}),
        ("--output= in", {"output": Path()}),
        ("in --output out", {"output": Path("out")}),
        ("in -q -o out", {"quiet": True, "output": Path("out")}),
        ("in -qo out", {"quiet": True, "output": Path("out")}),
        ("in --number 9 --number 4", {"number": 4}),
        ("in --share 0.5 --size large", {"share": 0.5, "size": Size.LARGE}),
        ("in --pin a --pin b=1", {"pins": ["a", "b=1"]}),
        ("in --no-shared", {"shared": False}),
        ("in --by-rank -1", {"by_rank": "-1"}),
        ("in one --quiet two", {"words": ["one", "two"], "quiet": True}),
        ("in -- one --quiet -- two", {"words": ["one", "--quiet", "--", "two"]}),
        ("-q -- in", {"quiet": True}),
        ("in -", {"words": ["-"]}),
    ],
)
def test_words_become_values(words: str, expected: dict) -> None:
    assert parse(VERB, words.split()) == DEFAULTS | expected


def test_where_options_end_at_the_first_word_the_rest_is_not_looked_at() -> None:
    values = parse(LAUNCHER_VERB, ["-q", "in", "mpirun", "-n", "4", "--", "./app", "--help"])
    assert values == DEFAULTS | {"quiet": True, "words": ["mpirun", "-n", "4", "--", "./app", "--help"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing argument SOURCE"),
        ("in --number", "--number: expected a value"),
        ("in --number 0", "--number: expected at least 1, found 0"),
        ("in --number 10", "--number: expected at most 9, found 10"),
        ("in --number 1.5", "--number: expected a whole number, found '1.5'"),
        ("in --share much", "--share: expected a number, found 'much'"),
        ("in --share nan", "--share: expected at least 0, found nan"),
        ("in --size huge", "--size: expected one of small, large, found 'huge'"),
        ("in --quiet=yes", "-q/--quiet: ignored explicit argument 'yes'"),
        ("in --ouput x", "no such option: --ouput (did you mean --output?)"),
        ("in -x", "no such option: -x"),
        ("in -qx", "-q/--quiet: ignored explicit argument 'x'"),
    ],
)
def test_what_is_wrong_is_named(words: str, message: str) -> None:
    with pytest.raises(BadParameter) as error:
        parse(VERB, words.split())
    assert str(error.value) == message


def test_a_word_too_many_is_wrong() -> None:
    def one(source: Annotated[str, Argument()]) -> None:
        """One word."""

    with pytest.raises(BadParameter, match="one word too many: 'b'"):
        parse(Verb("one", one), ["a", "b"])


def test_an_option_without_default_is_needed() -> None:
    def one(ranks: Annotated[int, Option("--np")]) -> None:
        """One option."""

    with pytest.raises(BadParameter, match="the following arguments are required: --np"):
        parse(Verb("one", one), [])


def test_a_variable_stands_in_for_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIONS_TEST_BY_RANK", "7")
    assert parse(VERB, ["in"])["by_rank"] == "7"
    assert parse(VERB, ["in", "--by-rank", "8"])["by_rank"] == "8"
    monkeypatch.setenv("OPTIONS_TEST_BY_RANK", "")
    assert parse(VERB, ["in"])["by_rank"] is None


def test_help_shows_every_parameter_and_the_example() -> None:
    text = make_parser(VERB).format_help()
    assert text.startswith("usage: ranktree verb [OPTIONS] SOURCE [-- WORDS...]\n\nNever called.")
    for part in (
        "what is read",
        "--output PATH",
        "where it goes",
        "[default: 3]",
        "small|large",
        "--no-shared",
        "RANK",
    ):
        assert part in text
    assert "[also by OPTIONS_TEST_BY_RANK]" in text
    assert text.endswith("example:\n  ranktree verb in\n")


def test_an_unknown_option_before_a_launchers_command_is_wrong() -> None:
    with pytest.raises(BadParameter, match="no such option: --unknown"):
        parse(LAUNCHER_VERB, ["--unknown", "in", "mpirun"])
