"""The installed package serves programs in C, C++, Fortran and Python that are not ours: find_package, pkg-config,
add_subdirectory, a wheel.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from tests.helpers.mpis import DEBIAN, VARIABLES, Mpi, mpi4py_variables

HERE = Path(__file__).resolve().parent
MACHINE = "node:2 core:3"
EXPECTED = "6 leaves, distance 4\n"
# As in the build tree, so that a compiler cache serves both: it goes by the compiler's name as well, and the build
# backend of the wheel prefers gcc and g++ to CMake's cc and c++.
BUILD_TYPE = "RelWithDebInfo"
COMPILERS = {"CC": os.environ.get("CC", "cc"), "CXX": os.environ.get("CXX", "c++")}


def is_placed_by_pairs(printed: str) -> bool:
    """Whether user.cpp's ranks 0 and 2, 1 and 3 share a node; each node of one pair, in either order."""
    cost, ranks = printed.strip().split(": ")
    first, second = ranks.split()[:2], ranks.split()[2:]
    return cost == "600 -> 300" and {frozenset(first), frozenset(second)} == {frozenset("02"), frozenset("13")}


def run(*command: object, **environment: str) -> str:
    """Runs a command that must succeed; what it printed."""
    result = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=1700,
        check=False,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def prefix(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build tree, installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build_folder, "--prefix", folder)
    return folder


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    """CMake finds the installed package and a C program links it."""
    run("cmake", "-S", HERE / "find_package", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "user", MACHINE) == EXPECTED


def test_imported_targets_bring_the_standard_and_the_mpi(prefix: Path, mpi_builds: dict, tmp_path: Path) -> None:
    """No C++20 is set for a C++ program, no MPI found for one with MPI; several MPIs in one project."""
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPIS={';'.join(mpi_builds)}")
    run("cmake", "-S", HERE / "find_package_cxx", "-B", tmp_path, *options)
    run("cmake", "--build", tmp_path)
    assert is_placed_by_pairs(run(tmp_path / "user_cxx", "node:2 core:2"))
    for mpi, entry in mpi_builds.items():
        words = [entry["mpiexec"], "-n", "1", tmp_path / f"user_{mpi}"]
        assert run(*words, **VARIABLES.get(entry["family"], {})) == "1 of 0.1\n"


def test_pkg_config_of_each_mpi(prefix: Path, mpi_builds: dict, tmp_path: Path) -> None:
    """A C compiler needs no wrapper."""
    (folder,) = prefix.rglob("pkgconfig")
    for mpi, entry in mpi_builds.items():
        words = ("pkg-config", "--cflags", "--libs", f"ranktree_mpi_{mpi}")
        flags = run(*words, PKG_CONFIG_PATH=str(folder)).split()
        run("cc", HERE / "user_mpi.c", "-o", tmp_path / mpi, *flags, f"-Wl,-rpath,{folder.parent}")
        launched = run(entry["mpiexec"], "-n", "1", tmp_path / mpi, **VARIABLES.get(entry["family"], {}))
        assert launched == "1 of 0.1\n"


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    """So does pkg-config, wherever the prefix is."""
    (folder,) = prefix.rglob("pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "ranktree", PKG_CONFIG_PATH=str(folder)).split()
    run("cc", HERE / "user.c", "-o", tmp_path / "user", *flags)
    assert run(tmp_path / "user", MACHINE, LD_LIBRARY_PATH=str(folder.parent)) == EXPECTED


def test_cxx(prefix: Path, tmp_path: Path) -> None:
    """A C++20 program places by spans, with nothing but the installed headers and library."""
    (folder,) = prefix.rglob("pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "ranktree", PKG_CONFIG_PATH=str(folder)).split()
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    run("c++", "-std=c++20", *warnings, HERE / "user.cpp", "-o", tmp_path / "user", *flags)
    assert is_placed_by_pairs(run(tmp_path / "user", "node:2 core:2", LD_LIBRARY_PATH=str(folder.parent)))


def test_fortran_by_pkg_config(prefix: Path, mpi: Mpi, tmp_path: Path) -> None:
    """The module's source is compiled with the program, by the MPI's wrapper."""
    (folder,) = prefix.rglob("pkgconfig")
    variables = {"PKG_CONFIG_PATH": str(folder)}
    include = run("pkg-config", "--variable=includedir", "ranktree", **variables).strip()
    flags = run("pkg-config", "--libs", f"ranktree_mpi_{mpi.name}", **variables).split()
    sources = ("-J", tmp_path, f"{include}/ranktree/ranktree.f90", HERE / "user_mpi.f90")
    run(mpi.mpifort, *sources, "-o", tmp_path / "user", *flags, f"-Wl,-rpath,{folder.parent}")
    assert run(*mpi.launch(3, tmp_path / "user")) == "3 of 3\n"


def test_fortran_by_find_package(prefix: Path, mpi: Mpi, tmp_path: Path) -> None:
    """A project in Fortran alone."""
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI={mpi.name}", f"-DCMAKE_Fortran_COMPILER={mpi.mpifort}")
    run("cmake", "-S", HERE / "find_package_fortran", "-B", tmp_path, *options)
    run("cmake", "--build", tmp_path)
    assert run(*mpi.launch(2, tmp_path / "user")) == "2 of 2\n"


def test_python(prefix: Path, mpi: Mpi, build_folder: Path) -> None:
    """The package of the prefix, by PYTHONPATH."""
    (package,) = prefix.rglob("ranktree/python")
    variables = {**mpi4py_variables(mpi.name, build_folder), "PYTHONPATH": str(package)}
    printed = run(*mpi.launch(3, sys.executable, HERE / "user_mpi.py"), **variables)
    assert printed == "3 of 3, True, True\n"


def test_the_preload_libraries_are_installed(prefix: Path, build_folder: Path) -> None:
    """Every preload library of the build tree is in the prefix."""
    for kind in ("preload", "world", "collect"):
        built = {path.name for path in (build_folder / "lib").glob(f"libranktree_{kind}_*.so")}
        assert built
        assert {path.name for path in prefix.rglob(f"libranktree_{kind}_*.so")} == built


def with_python(folder: Path) -> dict[str, str]:
    """What makes the interpreter of a virtual environment the first on PATH."""
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_the_command_is_installed(
    prefix: Path, mpi_builds: dict, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """It runs from any place and traces under each MPI; with man pages, completions, licence and examples."""
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    variables = with_python(Path(sys.executable).parent)
    assert "6 places" in run(moved / "bin/ranktree", "topo", MACHINE, **variables)
    for mpi, entry in mpi_builds.items():
        program = compiled(mpi, HERE.parent.parent / "examples/rings.c", "-lm")
        output = tmp_path / f"{mpi}.npz"
        launch = (entry["mpiexec"], "-n", "2", program)
        run(
            moved / "bin/ranktree",
            "trace",
            "-o",
            output,
            "--",
            *launch,
            **variables,
            **VARIABLES.get(entry["family"], {}),
        )
        assert output.exists()
    assert (moved / "share/man/man1/ranktree-map.1").read_text(encoding="utf-8").startswith(".TH")
    for path in ("bash-completion/completions/ranktree", "zsh/site-functions/_ranktree"):
        assert "optimize" in (moved / "share" / path).read_text(encoding="utf-8")
    assert (moved / "share/fish/vendor_completions.d/ranktree.fish").exists()
    assert (moved / "share/doc/ranktree/LICENSE").exists()
    assert (moved / "share/doc/ranktree/examples/rings.c").exists()
    assert {path.name for path in moved.iterdir()} == {"bin", "include", "lib", "share"}


def test_the_installed_command_names_the_interpreter_that_lacks_a_package(prefix: Path, tmp_path: Path) -> None:
    """An environment without numpy and rich."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    environment = {**os.environ, **with_python(tmp_path / "bare/bin")}
    words = [prefix / "bin/ranktree", "predict", "bcast", "--machine", MACHINE]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("ranktree: No module named ")
    assert str(tmp_path / "bare/bin/python") in result.stderr


def test_the_installed_command_finds_packages_that_pythonpath_names(prefix: Path, tmp_path: Path) -> None:
    """As modules of Spack and EasyBuild do; what is there replaces no module of Python or Ranktree."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    (tmp_path / "others/ranktree").mkdir(parents=True)
    for name in ("re.py", "json/__init__.py", "ranktree/__init__.py"):
        path = tmp_path / "others" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('imported')\n", encoding="utf-8")
    folders = f"{tmp_path / 'others'}:{Path(numpy.__file__).parents[1]}"
    variables = {**with_python(tmp_path / "bare/bin"), "PYTHONPATH": folders}
    assert "6 places" in run(prefix / "bin/ranktree", "topo", MACHINE, **variables)
    assert "predict" in run(prefix / "bin/ranktree", "predict", "--help", **variables)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mpi", DEBIAN[:1], indirect=True)
def test_add_subdirectory(mpi: Mpi, build_folder: Path) -> None:
    """A project that takes the sources in builds none of our tests and links the same targets, that of an MPI too."""
    # Beside the build tree, where the way to the sources is as long: a compiler cache that knows it serves both.
    folder = Path(tempfile.mkdtemp(prefix="subdirectory-", dir=build_folder.parent))
    try:
        options = (f"-DCMAKE_BUILD_TYPE={BUILD_TYPE}", f"-DRANKTREE_MPIS={mpi.name}={mpi.mpicc}", f"-DMPIS={mpi.name}")
        run("cmake", "-G", "Ninja", "-S", HERE / "subdirectory", "-B", folder, *options)
        run("cmake", "--build", folder, "--parallel", "2")
        assert run(folder / "user", MACHINE) == EXPECTED
        assert run(*mpi.launch(2, folder / f"user_{mpi.name}")) == 2 * "2 of 0.1\n"
        assert not list(folder.rglob("test_*"))
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_wheel(tmp_path: Path) -> None:
    """A wheel of the sources gives a fresh environment the command, its extension and the preload libraries.

    By the build tools of this environment, which a compiler cache knows: `pip install .` fetches the same into a folder
    of a random name (make test-sdist).
    """
    root = HERE.parent.parent
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    variables = {
        "CMAKE_BUILD_PARALLEL_LEVEL": "2",
        "SKBUILD_CMAKE_BUILD_TYPE": BUILD_TYPE,
        "SKBUILD_INSTALL_STRIP": "true",
        **COMPILERS,
    }
    options = ("-q", "--disable-pip-version-check")
    build = ("--no-deps", "--no-build-isolation", "--check-build-dependencies")
    run(sys.executable, "-m", "pip", "wheel", *options, *build, "-w", tmp_path, root, **variables)
    run(python, "-m", "pip", "install", *options, "--no-compile", *tmp_path.glob("ranktree-*.whl"))
    assert "6 places" in run(tmp_path / "venv/bin/ranktree", "topo", MACHINE)
    assert list(tmp_path.rglob("site-packages/ranktree/py.typed"))
    version = "from importlib.metadata import version as v; import ranktree; print(v('ranktree'), ranktree.__version__)"
    packaged, own = run(python, "-c", version).split()
    assert packaged == own
    if any(Path("/usr/bin").glob("mpicc.*")):
        assert list(tmp_path.rglob("site-packages/ranktree/lib/libranktree_preload_*.so"))
        assert list(tmp_path.rglob("site-packages/ranktree/lib/libranktree_mpi_*.so"))
