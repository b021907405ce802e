"""The word check finds discouraged phrases in text and in names, and respects the excuses of its list."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import scripts

ROOT = Path(__file__).resolve().parents[2]
(check_words,) = scripts.load("tools", "check_words")

LIST = "discouraged\tuse instead\tunless\n\\bquick\\b\tfast\t--quick\\b|\\bquick start\\b\n\\btold\\b\tprinted\t\n"


@pytest.fixture
def phrases(tmp_path: Path) -> list[check_words.Phrase]:
    """A list of two phrases."""
    path = tmp_path / "words.tsv"
    path.write_text(LIST, encoding="utf-8")
    return check_words.phrases(path)


def found(phrases: list[check_words.Phrase], text: str) -> list[str]:
    """The phrases in a line, as it is read."""
    return [match for phrase in phrases for match in phrase.matches(check_words.as_words(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a quick search", ["quick"]),
        ("A QUICK search, and told twice", ["QUICK", "told"]),
        ("a fast search", []),
        ("quickly", []),
        ("run with --quick", []),
        ("a quick start, but not a quick end", ["quick"]),
        ("int told_ranks = quickSearch();", ["quick", "told"]),
        ("class IsQuick {};", ["Quick"]),
    ],
)
def test_phrases_are_found_unless_excused(phrases: list[check_words.Phrase], text: str, expected: list[str]) -> None:
    assert found(phrases, text) == expected


def test_each_fault_has_file_line_and_replacement(
    phrases: list[check_words.Phrase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    (tmp_path / "told.md").write_text("good\n\na quick one\n", encoding="utf-8")
    assert list(check_words.faults("told.md", phrases)) == [
        "told.md:0: 'told': printed",
        "told.md:3: 'quick': fast",
    ]


def test_every_line_of_the_list_is_an_expression_with_a_replacement() -> None:
    every = check_words.phrases()
    assert every
    assert all(phrase.instead for phrase in every)


def test_the_exit_code_reports_faults(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "tools/check_words.py"]
    path = tmp_path / "page.md"
    path.write_text("whoever asks\n", encoding="utf-8")
    process = subprocess.run([*command, path], capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert f"{path}:1: 'whoever': " in process.stdout
    path.write_text("a rank\n", encoding="utf-8")
    assert subprocess.run([*command, path], capture_output=True, text=True, check=False).returncode == 0
