"""A `ranktree.toml` sets neither what is executed nor, in the current folder, what is written."""

import os
import re
from pathlib import Path

import pytest
from ranktree.cli import VERBS
from ranktree.cli.main import load_verb
from ranktree.cli.options import BadParameter, Option, Parameter, names_of, parameters_of, parse, setting_names

PAGE = Path(__file__).parents[2] / "docs/reference/settings.md"
# Options with a text, or the name of a file, that is only read. A new one comes here, or declares what it decides.
READ = {
    *(
        "algorithm",
        "collectives",
        "forbid",
        "hostfile",
        "hosts",
        "launcher",
        "log",
        "machine",
        "metric",
        "metric-regex",
    ),
    *("mpi", "model", "network", "objective", "order", "parameters", "pattern", "pin", "plan", "preset", "reorder"),
    *("reorder-info", "replay", "runs", "selector", "sizes", "unit", "variant", "cost"),
}
OPTIONS = [
    (verb, setting_names(each)[0], each)
    for verb in VERBS
    for each in parameters_of(load_verb(verb).function)
    if isinstance(each.declared, Option)
]
DECIDING = [each for each in OPTIONS if each[2].declared.decides]
each_that_decides = pytest.mark.parametrize(
    ("verb", "name", "option"), DECIDING, ids=[f"{verb}-{name}" for verb, name, _ in DECIDING]
)


def write_settings(folder: Path, verb: str, name: str, option: Parameter) -> None:
    """A file that sets one option."""
    folder.mkdir(parents=True, exist_ok=True)
    value = "true" if option.kind is bool else '"2"'
    (folder / "ranktree.toml").write_text(f"[{verb}]\n{name} = {value}\n", encoding="ascii")


def parsed(verb: str) -> dict[str, object]:
    """The values of a command without words that it can do without."""
    described = load_verb(verb)
    required = [each for each in parameters_of(described.function) if each.required]
    options = [word for each in required if isinstance(each.declared, Option) for word in (names_of(each)[-1], "2")]
    return parse(described, [*options, *("2" for each in required if not isinstance(each.declared, Option))])


def test_every_option_that_may_name_a_file_is_read_or_declares_what_it_decides() -> None:
    assert {name for _, name, each in OPTIONS if each.kind in {str, Path} and not each.declared.decides} == READ
    assert {each.declared.decides for *_, each in OPTIONS} == {"", "executed", "written"}
    page = PAGE.read_text(encoding="utf-8")
    assert [name for _, name, _ in DECIDING if f"`{name}`" not in page] == []


@each_that_decides
def test_what_an_option_decides_is_not_for_a_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, name: str, option: Parameter
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    for folder in (Path("ranktree"), Path()):
        write_settings(folder, verb, name, option)
        with pytest.raises(BadParameter, match=re.escape(f"{folder / 'ranktree.toml'}: [{verb}] {name}: ")):
            parsed(verb)


@each_that_decides
def test_the_users_own_file_sets_what_is_written_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, name: str, option: Parameter
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_settings(tmp_path / "ranktree", verb, name, option)
    if option.declared.decides == "executed":
        with pytest.raises(BadParameter, match="no file can set what is executed"):
            parsed(verb)
    else:
        assert str(parsed(verb)[option.name]) == str(option.kind("2"))


def test_a_refused_key_is_wrong_usage_and_nothing_is_done(ranktree, tmp_path: Path) -> None:
    compiler = tmp_path / "mpicc"
    compiler.write_text(f"#!/bin/sh\nmkdir {tmp_path}/trapped\n", encoding="ascii")
    compiler.chmod(0o755)
    settings = tmp_path / "ranktree.toml"
    variables = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    for text, words in {
        f'[doctor]\nbuild = "{compiler}"\n': ("doctor",),
        '[topo]\noutput = "machine.json"\n': ("topo", "core:2"),
    }.items():
        settings.write_text(text, encoding="ascii")
        result = ranktree(*words, cwd=tmp_path, env=variables)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(f"ranktree {words[0]}: ranktree.toml: [{words[0]}] ")
    (tmp_path / "config").mkdir()
    assert {path.name for path in tmp_path.iterdir()} == {"mpicc", "ranktree.toml", "config"}
    settings.rename(tmp_path / "config/ranktree.toml")
    (tmp_path / "config").rename(tmp_path / "ranktree")
    variables["XDG_CONFIG_HOME"] = str(tmp_path)
    assert ranktree("topo", "core:2", cwd=tmp_path, env=variables).returncode == 0
    assert (tmp_path / "machine.json").is_file()


def test_a_file_gives_an_option_that_must_be_given(ranktree, tmp_path: Path) -> None:
    result = ranktree("predict", "bcast", cwd=tmp_path)
    assert result.returncode == 2
    assert "the following arguments are required: --np" in result.stderr
    settings = tmp_path / "ranktree.toml"
    settings.write_text("[predict]\nnp = 4\n", encoding="ascii")
    assert ranktree("predict", "bcast", "--machine", "core:4", cwd=tmp_path).returncode == 0
    settings.write_bytes(b"# \xe9t\xe9\n")
    result = ranktree("predict", "bcast", "--np", 4, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("ranktree: ranktree.toml: ")
