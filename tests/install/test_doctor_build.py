"""`ranktree doctor --build` adds an MPI to a package: by a stand-in for CMake; and really, from an installed prefix,
for an MPI of a wheel.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.mpis import VARIABLES
from tests.helpers.packages import package_with, refusal, run

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / ".mpis"
TABLE = {"mpis": [], "names": ["mpicc.openmpi", "mpicc"], "folders": ["/opt"]}
# Stands in for CMake: notes its words, and makes what a build of one MPI makes.
CMAKE = """#!/bin/sh
echo "$*" >>{log}
[ "$1" = --build ] || { mkdir -p "$4/lib"; name=$(echo "$*" | sed 's/.*RANKTREE_MPIS=\\([^=]*\\)=.*/\\1/')
  echo "$name" >"$4/name"; exit 0; }
name=$(cat "$2/name")
touch "$2/lib/libranktree_preload_$name.so" "$2/lib/ranktree-ranks-$name" "$2/lib/libranktree_preload_other.so"
printf '{"mpis": [{"name": "%s", "family": "mpich", "version": "9.1", "abi": "mpich"}], "names": [], "folders": []}' \\
  "$name" >"$2/lib/mpis.json"
"""
MPICC = """#!/bin/sh
echo '#define MPICH_VERSION "9.1.2"'
"""


@pytest.fixture
def package(build_folder: Path, tmp_path: Path) -> Path:
    """A package that was built for no MPI."""
    return package_with(TABLE, build_folder, tmp_path)


@pytest.fixture
def installed(build_folder: Path, tmp_path: Path) -> Path:
    """The package of an installed prefix, from which everything that was built for an MPI is removed; for sys.path."""
    prefix = tmp_path / "prefix"
    words = ["cmake", "--install", build_folder, "--prefix", prefix, "--component", "python"]
    subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=120)
    (table,) = prefix.rglob("ranktree/mpis.json")
    for path in table.parent.iterdir():
        if path.name != "python":
            path.unlink()
    table.write_text(json.dumps(TABLE), encoding="utf-8")
    return table.parent / "python"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a stand-in for CMake and a compiler wrapper of an unknown release."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in {"cmake": CMAKE.replace("{log}", str(tmp_path / "log")), "mpicc": MPICC}.items():
        (folder / name).write_text(text, encoding="ascii")
        (folder / name).chmod(0o755)
    return folder


def test_what_is_built_goes_beside_the_others(package: Path, tools: Path, tmp_path: Path) -> None:
    """Named after the product and its major version; only its own files are taken; the table keeps what it had."""
    path = f"{tools}:{os.environ['PATH']}"
    lib = package / "ranktree/lib"
    result = run(package, "doctor", "--build", tools / "mpicc", PATH=path)
    assert result.returncode == 0, result.stderr
    assert {Path(line).name for line in result.stdout.split()} == {
        "libranktree_preload_mpich9.so",
        "ranktree-ranks-mpich9",
    }
    assert {file.name for file in lib.iterdir()} == {
        "libranktree_preload_mpich9.so",
        "ranktree-ranks-mpich9",
        "mpis.json",
    }
    table = json.loads((lib / "mpis.json").read_text(encoding="utf-8"))
    assert table["names"] == ["mpicc.openmpi", "mpicc"]
    assert [entry["name"] for entry in table["mpis"]] == ["mpich9"]
    log = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert f"-DRANKTREE_MPIS=mpich9={tools / 'mpicc'}" in log[0]
    assert "ranktree_preload_mpich9 ranktree_world_mpich9" in log[1]
    assert run(package, "doctor", "--build", f"site={tools / 'mpicc'}", PATH=path).returncode == 0
    assert run(package, "doctor", "--build", tools / "mpicc", PATH=path).returncode == 0
    table = json.loads((lib / "mpis.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in table["mpis"]] == ["mpich9", "site", "mpich9_1_2"]


def test_a_wrapper_of_the_current_folder_is_not_looked_for_on_path(package: Path, tools: Path, tmp_path: Path) -> None:
    """`./mpicc`: neither missing nor the one of PATH, which is of another release."""
    (tmp_path / "mpicc").write_text(MPICC.replace("9.1", "8.1"), encoding="ascii")
    (tmp_path / "mpicc").chmod(0o755)
    for path in (f"{tools}:{os.environ['PATH']}", f"{tools}:/usr/bin:/bin"):
        result = run(package, "doctor", "--build", "./mpicc", cwd=tmp_path, PATH=path)
        assert result.returncode == 0, result.stderr
        assert f"-DRANKTREE_MPIS=mpich8={tmp_path / 'mpicc'}" in (tmp_path / "log").read_text(encoding="utf-8")


def test_what_keeps_it_from_building_is_named(package: Path, tools: Path) -> None:
    path = f"{tools}:{os.environ['PATH']}"
    assert "nosuch: no such compiler wrapper" in refusal(package, "doctor", "--build", "nosuch", PATH=path)
    assert "letters, digits and _, found 'A b'" in refusal(
        package, "doctor", "--build", f"A b={tools / 'mpicc'}", PATH=path
    )
    (tools / "mpicc").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    text = refusal(package, "doctor", "--build", str(tools / "mpicc"), PATH=path)
    assert f"write --build NAME={tools / 'mpicc'}" in text
    (tools / "cmake").write_text("#!/bin/sh\necho 'CMake Error: no hwloc'\nexit 1\n", encoding="ascii")
    result = run(package, "doctor", "--build", f"x={tools / 'mpicc'}", PATH=path)
    assert (result.returncode, result.stderr) == (
        1,
        "ranktree: --build: configuring failed:\n  CMake Error: no hwloc\n",
    )


@pytest.mark.wheel
@pytest.mark.launch
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("wheel", ["mpich5"])
def test_an_mpi_of_a_wheel_is_served(
    installed: Path, tmp_path: Path, wheel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prefix has no libraries before; afterwards a program of that MPI is traced, reordered and located."""
    folder = WHEELS / wheel / "bin"
    if not (folder / "mpicc").exists():
        pytest.skip(f"{folder} is not installed (make mpis)")
    for variable, value in VARIABLES.get(wheel.rstrip("5"), {}).items():
        monkeypatch.setenv(variable, value)
    program = tmp_path / "app"
    source = ROOT / "tests/trace/programs/sizes.c"
    subprocess.run([folder / "mpicc", source, "-o", program], check=True, timeout=120)
    launch = (str(folder / "mpiexec"), "-n", "2", str(program))
    assert "built without an MPI" in refusal(installed, "trace", "-o", "app.npz", "--", *launch)
    # As in the build tree, where build and MPI have the same paths below the sources: a compiler cache serves both.
    # Without one it takes some 7 minutes of CPU time.
    sources = installed / "ranktree/source"
    (sources / "build").mkdir()
    (sources / ".mpis").symlink_to(WHEELS)
    words = ("doctor", "--build", sources / ".mpis" / wheel / "bin/mpicc")
    variables = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_GENERATOR": "Ninja",  # the paths that the compiler sees are those from the build folder
        "TMPDIR": str(sources / "build"),
        "CCACHE_BASEDIR": str(sources),
    }
    built = run(installed, *words, timeout=1700, **variables)
    assert built.returncode == 0, built.stderr
    assert f"libranktree_collect_{wheel}.so" in built.stdout
    path = tmp_path / "app.npz"
    result = run(installed, "trace", "-o", path, "--", *launch)
    assert result.returncode == 0, result.stderr
    assert "2 ranks" in result.stderr
    assert path.exists()
    for option in ["--reorder", str(path)], ["--collectives", "auto", "--no-collectives-cache"]:
        result = run(installed, "run", *option, "--", *launch)
        assert result.returncode == 0, result.stderr
    located = run(installed, "where", "--json", "--", *launch)
    assert len(json.loads(located.stdout)["ranks"]) == 2, located.stderr
