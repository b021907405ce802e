"""The recipes of packaging: their versions, packages and options are those of the build."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SPACK = PACKAGING / "spack/spack_repo/ranktree/packages"
EASYBUILD = next(PACKAGING.glob("easybuild/*.eb"))


def text(path: Path) -> str:
    """Of a file."""
    return path.read_text(encoding="utf-8")


def installed(recipe: str) -> list[list[str]]:
    """The packages that each step of a recipe installs."""
    steps = re.findall(
        r"apt-get install -y --no-install-recommends \\\n((?: +[^&\n]*\n)+?)(?= +(?:&&|python3 -m|rm )|\n)", recipe
    )
    return [sorted(step.replace("\\", "").split()) for step in steps]


@pytest.fixture(scope="module")
def version() -> str:
    """CMake's."""
    found = re.search(r"^project\(ranktree VERSION (\S+)", text(ROOT / "CMakeLists.txt"), re.M)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (PACKAGING / "debian/changelog", r"^ranktree \(([\d.]+)-"),
        (SPACK / "ranktree/package.py", r'version\("([\d.]+)"\)'),
        (EASYBUILD, r"^version = '([\d.]+)'"),
    ],
    ids=["debian", "spack", "easybuild"],
)
def test_the_version_is_that_of_the_build(path: Path, pattern: str, version: str) -> None:
    """None is forgotten when it changes."""
    assert re.findall(pattern, text(path), re.M) == [version]


def test_the_debian_library_is_named_after_the_abi(version: str) -> None:
    """As its soname (test_symbols.py)."""
    abi = ".".join(version.split(".")[: 2 if version.startswith("0.") else 1])
    assert f"\nPackage: libranktree{abi}\n" in text(PACKAGING / "debian/control")
    assert (PACKAGING / f"debian/libranktree{abi}.install").exists()


def test_options_are_those_of_the_build() -> None:
    """A misspelt one would be ignored by CMake."""
    known = text(ROOT / "CMakeLists.txt") + text(ROOT / "src/simulate/CMakeLists.txt")
    for path in (PACKAGING / "debian/rules", SPACK / "ranktree/package.py", EASYBUILD, PACKAGING / "wheel.sh"):
        options = re.findall(r"RANKTREE_[A-Z_]+", text(path))
        assert options, path
        assert [option for option in options if option not in known] == [], path


def test_containers_have_the_same_packages() -> None:
    """Docker's image and Apptainer's; what the build needs is what Debian's package needs."""
    docker, apptainer = installed(text(PACKAGING / "Dockerfile")), installed(text(PACKAGING / "apptainer.def"))
    assert len(docker) == 2
    assert docker == apptainer
    needed = re.search(r"^Build-Depends:\n((?: .*\n)+)", text(PACKAGING / "debian/control"), re.M)
    assert needed
    libraries = {name for name in re.findall(r"^ ([\w.-]+)", needed[1], re.M) if name.endswith("-dev")}
    assert libraries <= set(docker[0])


def test_what_containers_copy_exists() -> None:
    """Each from the checkout, and nothing but what the build reads."""
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", text(PACKAGING / "Dockerfile"), re.M)
    names = [name for line in copied for name in line.split()]
    assert len(names) == 8
    assert [name for name in names if not (ROOT / name).exists()] == []
    assert re.findall(r"^    (\S+) /src/$", text(PACKAGING / "apptainer.def"), re.M) == names


def test_spack_requires_what_pip_requires() -> None:
    """The same oldest releases."""
    project = tomllib.loads(text(ROOT / "pyproject.toml"))
    required = project["build-system"]["requires"] + project["project"]["dependencies"]
    oldest = dict(requirement.split(">=") for requirement in required)
    recipe = text(SPACK / "ranktree/package.py")
    for name in ("nanobind", "numpy", "rich"):
        assert f'depends_on("py-{name}@{oldest[name]}:"' in recipe
    assert f'depends_on("python@{project["project"]["requires-python"].removeprefix(">=")}:"' in recipe


def test_spack_and_easybuild_take_the_same_nanobind() -> None:
    spack = re.findall(r'version\("([\d.]+)"', text(SPACK / "py_nanobind/package.py"))
    assert spack == re.findall(r"\('nanobind', '([\d.]+)'", text(EASYBUILD))
    assert len(spack) == 1
