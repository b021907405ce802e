"""Commands of tutorials and how-to guides run as printed; those that cannot run here have options that exist."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ranktree.cli import VERBS
from ranktree.cli.options import Verb, make_parser

from tests.docs.snippets import DOCS, ROOT, RUN, Block, blocks, commands, is_printed, shell_lines

SECONDS = 120
PAGES = sorted([*(DOCS / "tutorials").glob("*.md"), *(DOCS / "how-to").glob("*.md")])
ALL_PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def run_blocks(page: Path) -> list[Block]:
    """Blocks of a page that the tests run."""
    return [block for block in blocks(page) if block.language in RUN and not block.reason]


def name_of(page: Path) -> str:
    """The page below docs."""
    return str(page.relative_to(ROOT))


def finish(command: list[str], folder: Path, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, with both streams as one."""
    return subprocess.run(
        command,
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="session")
def settings() -> dict[str, str]:
    """Variables with the command under test on PATH."""
    command = os.environ.get("RANKTREE_COMMAND") or shutil.which("ranktree")
    if command is None:
        pytest.skip("no ranktree command: set RANKTREE_COMMAND")
    if shutil.which("mpirun.openmpi") is None or shutil.which("mpicc.openmpi") is None:
        pytest.skip("Debian's Open MPI is not installed")
    folder = Path(command).resolve().parent
    python = f"{folder.parent / 'python'}:{os.environ.get('PYTHONPATH', '')}"
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, **SETTINGS, "PATH": path, "PYTHONPATH": python, "COLUMNS": "200"}


@pytest.fixture(scope="session")
def files(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted: a program, its pattern and a plan; sources of the examples."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copytree(ROOT / "examples", folder / "examples")
    script = """set -e
    mpicc.openmpi -O1 examples/stencil.c -o app
    ranktree trace -o app.npz -- mpirun.openmpi -n 16 ./app --cells 64
    ranktree map app.npz --machine "node:4 core:4" --hosts 'n[0-3]' -o plan.json"""
    result = finish(["bash", "-c", script], folder, settings)
    assert result.returncode == 0, result.stdout
    return folder


def run_shell(command: str, folder: Path, settings: dict[str, str]) -> list[str]:
    """The lines that a command prints; it must succeed."""
    result = finish(["bash", "-e", "-c", command], folder, settings)
    assert result.returncode == 0, f"{command}\n{result.stdout}"
    return result.stdout.splitlines()


@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", [page for page in PAGES if run_blocks(page)], ids=name_of)
def test_commands_run_and_print_what_the_page_shows(
    page: Path, files: Path, settings: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "page"
    shutil.copytree(files, folder)
    python = ""
    for block in run_blocks(page):
        if block.language == "python":
            python += block.text
            (folder / "snippet.py").write_text(python, encoding="utf-8")
            run_shell(f"{sys.executable} snippet.py", folder, settings)
            continue
        for command in commands(block):
            printed = run_shell(command.words, folder, settings)
            missing = [line for line in command.output if not is_printed(line, printed)]
            assert missing == [], f"{name_of(page)}:{block.line}: {command.words}\n" + "\n".join(printed)


def options_of(verb: str) -> set[str]:
    """The names of a verb's options."""
    module = importlib.import_module(f"ranktree.cli.{verb}")
    parser = make_parser(Verb(verb, module.command, getattr(module, "INTERSPERSED", True), module.EXAMPLE))
    return {name for action in parser._actions for name in action.option_strings}  # noqa: SLF001


def unknown_options(line: str) -> list[str]:
    """Options behind `ranktree VERB`, up to the launcher's command, that the verb has not."""
    unknown = []
    for found in re.finditer(r"(?:^|[\s;|&(])ranktree ([a-z]+)((?: [^|;#]*)?)", line):
        verb, rest = found[1], re.split(r"\s--\s|\s(?:mpirun|mpiexec|srun)\s", found[2] + " ")[0]
        if verb not in VERBS:
            unknown += [verb] if line.lstrip().startswith("ranktree ") else []  # else a comment, or what is printed
            continue
        names = re.findall(r"(?<![\w'\"=-])(--?[a-zA-Z][\w-]*)", re.sub(r"'[^']*'|\"[^\"]*\"", "", rest))
        unknown += [f"{verb} {name}" for name in names if name not in options_of(verb)]
    return unknown


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_options_exist(page: Path) -> None:
    assert [(line, name) for line in shell_lines(page) for name in unknown_options(line)] == []


def test_an_unknown_option_is_found() -> None:
    assert unknown_options("$ ranktree map app.npz --machin x -o y -- --other") == ["map --machin"]
    assert unknown_options("ranktree run --plan p.json -- mpirun --map-by node ./app --cells 3") == []


def test_most_blocks_run() -> None:
    every = [block for page in PAGES for block in blocks(page) if block.language in RUN]
    assert sum(not block.reason for block in every) >= 20


def test_a_literal_error_text_is_in_the_sources() -> None:
    """Headings of the troubleshooting page: each part between `...` stands in the code."""
    folders = (ROOT / "src", ROOT / "python" / "ranktree")
    code = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".py", ".cpp", ".h"}
    )
    code = re.sub(r"\"\s*\n\s*f?\"", "", code)
    headings = re.findall(
        r"^### (.*)$", (DOCS / "how-to" / "troubleshoot.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    texts = [text for heading in headings for text in re.findall(r"`([^`]*)`", heading)]
    parts = [part.strip(" ;:,'()") for text in texts for part in text.split("...")]
    assert len(texts) > 15
    assert [part for part in parts if part not in code] == []
