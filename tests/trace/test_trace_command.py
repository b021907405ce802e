"""`ranktree trace`: what it refuses before the run, the environment of the ranks, its output."""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ranktree import _core
from ranktree.cli.trace import remove_merged
from ranktree.elf import SHT_DYNSYM, libraries, mpi_calls, read_elf

from tests.helpers import known_bugs
from tests.helpers.mpis import DEBIAN, WHEELS, Mpi, mpi4py_variables, needed_mpi
from tests.helpers.trace_files import read_trace

OTHER = {"openmpi": "mpich", "mpich": "openmpi"}


@pytest.fixture(params=DEBIAN)
def mpi(request: pytest.FixtureRequest, mpi_builds: dict, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """What is refused and printed does not depend on the MPI: two are enough."""
    return needed_mpi(request.param, mpi_builds, build_folder, monkeypatch)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "app.npz"


@pytest.fixture
def refused(ranktree, output):
    """Runs trace and expects one line on stderr, exit code 1 and nothing written."""

    def run(*words: object, to: Path = output) -> str:
        result = ranktree("trace", "-o", to, "--", *words)
        assert result.returncode == 1, (result.stdout, result.stderr)
        assert re.fullmatch(r"ranktree: .*\n", result.stderr), result.stderr
        assert not to.exists()
        return result.stderr

    return run


def compile_c(source: str, path: Path, *options: str) -> Path:
    """Builds a little program; skips where there is no compiler."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    file = path.with_name(path.name + ".c")
    file.write_text(source)
    subprocess.run(["cc", file, "-o", path, *options], check=True)
    return path


def test_a_missing_folder_is_refused_before_the_run(refused, mpi, tmp_path):
    marker = tmp_path / "ran"
    text = refused(*mpi.launch(1, "touch", marker), to=tmp_path / "none" / "app.npz")
    assert "none: no such folder" in text
    assert not marker.exists()


def test_a_folder_that_cannot_be_written_is_refused(refused, mpi):
    assert "/proc: cannot be written to" in refused(*mpi.launch(1, "true"), to=Path("/proc/app.npz"))


def test_a_folder_as_output_is_refused(ranktree, mpi, output):
    output.mkdir()
    result = ranktree("trace", "-o", output, *mpi.launch(1, "true"))
    assert result.returncode == 1
    assert "a folder, not a file" in result.stderr


def test_another_extension_is_wrong_usage(ranktree, mpi, tmp_path):
    assert ranktree("trace", "-o", tmp_path / "app.txt", *mpi.launch(1, "true")).returncode == 2


def test_no_command_is_wrong_usage(ranktree, output):
    assert ranktree("trace", "-o", output).returncode == 2


def test_a_static_binary_is_refused(refused, mpi, tmp_path):
    program = compile_c("int main(void) { return 0; }", tmp_path / "static", "-static")
    assert "static: a static binary" in refused(*mpi.launch(1, program))


def test_mpi_linked_in_statically_is_refused(refused, mpi, tmp_path):
    source = "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }"
    program = compile_c(source, tmp_path / "half", "-rdynamic")
    assert "MPI is linked in statically" in refused(*mpi.launch(1, program))


def test_an_unknown_mpi_is_refused(refused, mpi, tmp_path):
    library = tmp_path / "libmpi.so.99"
    compile_c("int MPI_Init(void) { return 0; }", library, "-shared", "-fPIC", "-Wl,-soname,libmpi.so.99")
    program = compile_c("int MPI_Init(void); int main(void) { return MPI_Init(); }", tmp_path / "odd", str(library))
    assert "unknown MPI: linked with libmpi.so.99" in refused(*mpi.launch(1, program))


def test_a_program_finds_its_mpi_through_other_libraries(refused, mpi, tmp_path):
    inner = tmp_path / "libmpi.so.99"
    compile_c("int MPI_Init(void) { return 0; }", inner, "-shared", "-fPIC", "-Wl,-soname,libmpi.so.99")
    outer = tmp_path / "libapp.so"
    compile_c(
        "int MPI_Init(void); int app(void) { return MPI_Init(); }",
        outer,
        *("-shared", "-fPIC", str(inner), "-Wl,-soname,libapp.so", "-Wl,-rpath,$ORIGIN"),
    )
    source = "int app(void); int main(void) { return app(); }"
    program = compile_c(source, tmp_path / "far", str(outer), "-Wl,-rpath,$ORIGIN", f"-Wl,-rpath-link,{tmp_path}")
    assert "linked with libmpi.so.99" in refused(*mpi.launch(1, program))


def test_a_program_of_another_mpi_than_the_launcher_is_refused(refused, mpi):
    other = mpi.programs / f"trace_p2p_{OTHER[mpi.name]}"
    if not other.exists():
        pytest.skip(f"{other.name} is not built")
    assert re.search(
        r"is linked with lib\S+ \(.*\), but \S+/mpiexec\.\w+ is the launcher of", refused(*mpi.launch(2, other))
    )


def test_two_mpis_in_one_command_are_refused(refused, mpi):
    own, other = (mpi.programs / f"trace_p2p_{name}" for name in (mpi.name, OTHER[mpi.name]))
    if not other.exists():
        pytest.skip(f"{other.name} is not built")
    assert "is linked with" in refused(*mpi.launch(1, own), ":", "-n", 1, other)


def test_a_missing_program_is_refused(refused, mpi):
    assert "no-such-program: no such program" in refused(*mpi.launch(1, "./no-such-program"))


def test_a_file_that_cannot_be_executed_is_refused(refused, mpi, tmp_path):
    (tmp_path / "text").write_text("text")
    assert "text: not an executable file" in refused(*mpi.launch(1, tmp_path / "text"))


def test_a_command_without_a_program_is_refused(refused, mpi):
    assert "names no program" in refused(*mpi.launch(2))


def test_a_missing_launcher_is_refused(refused):
    assert "mpirun.none: no such launcher" in refused("mpirun.none", "-n", 2, "true")


def test_an_unknown_launcher_is_refused(refused, tmp_path):
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho something else\n")
    launcher.chmod(0o755)
    assert "unknown launcher" in refused(launcher, "-n", 2, "true")


def test_no_launcher_and_no_mpi_is_refused(refused):
    assert "name one with --mpi" in refused("true")


def test_a_damaged_program_is_refused(refused, mpi, tmp_path):
    program = tmp_path / "cut"
    program.write_bytes(Path(sys.executable).resolve().read_bytes()[:90])
    program.chmod(0o755)
    assert "cut: a damaged ELF file" in refused(*mpi.launch(1, program))


def damaged(library: bytes, damage: str) -> bytes:
    """A library of 64 bits with one wrong number in its table of symbols."""
    data = bytearray(library)
    (headers,), (size,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 58)
    numbers = struct.unpack_from("<H", data, 60)[0]
    kinds = [struct.unpack_from("<I", data, headers + number * size + 4)[0] for number in range(numbers)]
    table = headers + kinds.index(SHT_DYNSYM) * size
    (symbols,), (link,) = struct.unpack_from("<Q", data, table + 24), struct.unpack_from("<I", data, table + 40)
    first, length = struct.unpack_from("<QQ", data, headers + link * size + 24)
    form, at, value = {
        "symbols beyond the file": ("<Q", table + 24, len(data)),
        "names beyond the file": ("<Q", headers + link * size + 24, len(data)),
        "a name beyond the names": ("<I", symbols + 24, length),
        "a name without an end": ("<B", first + length - 1, ord("x")),
    }[damage]
    struct.pack_into(form, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    "damage",
    ["symbols beyond the file", "names beyond the file", "a name beyond the names", "a name without an end"],
)
def test_damaged_symbols_are_refused(mpi, tmp_path, damage):
    whole = mpi.build / f"lib/libranktree_preload_{mpi.name}.so"
    assert "MPI_Send" in mpi_calls(whole)[0]
    copy = tmp_path / "copy.so"
    copy.write_bytes(damaged(whole.read_bytes(), damage))
    with pytest.raises(ValueError, match="copy.so: a damaged ELF file"):
        mpi_calls(copy)


@pytest.mark.parametrize("verb", ["trace", "run"])
def test_no_numpy_is_imported(mpi, output, verb):
    """It takes as long to import as all else of these commands."""
    code = "import sys; sys.modules['numpy'] = None; from ranktree.cli.main import main; main()"
    options = ["-q", "-o", output] if verb == "trace" else ["--collectives", "native"]
    words = [sys.executable, "-c", code, verb, *options, "--", *mpi.launch(2, mpi.program("trace_ends"))]
    environment = os.environ | {"PYTHONPATH": str(mpi.build / "python")}
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert result.returncode == 0, result.stderr


def test_programs_in_a_file_are_refused(refused, mpi, tmp_path):
    option = {"openmpi": "--app", "mpich": "-configfile"}[mpi.name]
    assert "named in a file" in refused(mpi.launch(1)[0], option, tmp_path / "programs")


def test_an_mpi_without_a_preload_library_is_refused(ranktree, mpi, output):
    result = ranktree("trace", "-o", output, "--mpi", "none", "--", *mpi.launch(1, "true"))
    assert result.returncode == 1
    assert "no preload library 'none'" in result.stderr


def test_one_line_summarises_the_trace(ranktree, mpi, output):
    result = ranktree("trace", "-o", output, *mpi.launch(2, mpi.program("trace_ends")))
    assert result.returncode == 0
    line = f"ranktree: {output}: 2 ranks, 2 pairs, 20 messages, 80 bytes, 2 collective calls\n"
    assert result.stderr == line
    assert result.stdout == ""


def test_the_launchers_words_are_recorded_and_printed_as_json(ranktree, mpi, output):
    words = mpi.launch(2, mpi.program("trace_ends"))
    result = ranktree("trace", "-q", "--json", "-o", output, "--", *words)
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["format"], found["version"], found["file"]) == ("ranktree-trace", 1, str(output))
    assert (found["ranks"], found["pairs"], found["messages"], found["bytes"]) == (2, 2, 20, 80)
    assert (found["collective_calls"], found["complete"], found["missing"]) == (2, True, [])
    assert found["launch"] == list(map(str, words))
    assert read_trace(output).metadata["launch"] == found["launch"]
    report = json.loads(ranktree("report", output, "--json").stdout)
    assert report["commands"][0]["command"] == f"ranktree trace -o {output} -- {shlex.join(map(str, words))}"


def test_quiet_prints_nothing(ranktree, mpi, output):
    result = ranktree("trace", "-q", "-o", output, *mpi.launch(2, mpi.program("trace_ends")))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_unattributed_calls_are_shown_even_when_quiet(ranktree, mpi, output):
    known_bugs.skip(mpi, "no-spawn")
    result = ranktree("trace", "-q", "-o", output, *mpi.launch(1, mpi.program("trace_spawn")))
    assert result.returncode == 0, result.stderr
    lost = "1 MPI_Bcast (communicator lost), 1 MPI_Comm_spawn, 2 MPI_Send outside MPI_COMM_WORLD"
    expected = f"not attributed: {lost}"
    assert f"ranktree: {output}: {expected}\n" in result.stderr


def test_several_programs_in_one_command_are_traced_together(ranktree, mpi, output):
    program = mpi.program("trace_ends")
    result = ranktree("trace", "-o", output, *mpi.launch(2, program), ":", "-n", "3", program)
    assert result.returncode == 0, result.stderr
    trace = read_trace(output)
    assert trace.metadata["ranks"] == 5
    assert trace.totals == {(rank, (rank + 1) % 5): (10, 40) for rank in range(5)}


def test_a_script_around_the_program_is_traced(ranktree, mpi, output, tmp_path):
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec {mpi.program('trace_ends')} well\n")
    script.chmod(0o755)
    result = ranktree("trace", "-o", output, *mpi.launch(2, script))
    assert result.returncode == 0, result.stderr
    assert read_trace(output).totals == {(0, 1): (10, 40), (1, 0): (10, 40)}


def test_a_program_started_by_itself_is_traced(ranktree, mpi, output):
    result = ranktree("trace", "-o", output, mpi.program("trace_ends"))
    assert result.returncode == 0, result.stderr
    assert read_trace(output).totals == {(0, 0): (10, 40)}


def test_words_in_front_of_the_launcher_are_kept(ranktree, mpi, output, tmp_path):
    words = [
        "env",
        "MARK=seen",
        "timeout",
        "60",
        *mpi.launch(1, "sh", "-c", f"echo $MARK; {mpi.program('trace_ends')}"),
    ]
    result = ranktree("trace", "-o", output, "--", *words)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "seen\n"


def test_only_the_ranks_load_the_library(ranktree, mpi, output, monkeypatch):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    show = 'echo "rank $LD_PRELOAD"; echo "parent $(tr "\\0" "\\n" < /proc/$PPID/environ | grep -c ^LD_PRELOAD)"'
    result = ranktree("trace", "-o", output, *mpi.launch(1, "sh", "-c", f"{show}; {mpi.program('trace_ends')}"))
    assert result.returncode == 0, result.stderr
    assert re.search(rf"^rank \S+/libranktree_preload_{mpi.name}\.so$", result.stdout, re.M)
    assert "parent 0" in result.stdout


@pytest.mark.parametrize("name", (*DEBIAN, *WHEELS))
def test_of_libraries_of_one_interface_that_of_the_very_mpi_is_chosen(
    name, ranktree, mpi_builds, build_folder, output, monkeypatch
):
    mpi = needed_mpi(name, mpi_builds, build_folder, monkeypatch)
    show = ("sh", "-c", 'echo "$LD_PRELOAD"; exec "$0"', mpi.program("trace_ends"))
    options = ["--mpi", name] if mpi.abi == "standard" else []  # what a script starts is not seen
    result = ranktree("trace", *options, "-o", output, "--", *mpi.launch(1, *show))
    assert re.fullmatch(rf"\S+/libranktree_preload_{name}\.so\n", result.stdout), result.stderr
    assert read_trace(output).totals == {(0, 0): (10, 40)}


@pytest.mark.parametrize("where", ("environment", "command"))
def test_a_preload_of_the_user_stays_in_front(where, ranktree, mpi, output, tmp_path, monkeypatch):
    library = compile_c("int nothing_at_all;", tmp_path / "libown.so", "-shared", "-fPIC")
    starter, *rest = mpi.launch(1, "sh", "-c", f"echo $LD_PRELOAD; {mpi.program('trace_ends')}")
    options = []
    if where == "environment":
        monkeypatch.setenv("LD_PRELOAD", str(library))
    else:
        options = ["-x", f"LD_PRELOAD={library}"] if mpi.family == "openmpi" else ["-genv", "LD_PRELOAD", str(library)]
    result = ranktree("trace", "-o", output, "--", starter, *options, *rest)
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(rf"{library}:\S+/libranktree_preload_{mpi.name}\.so\n", result.stdout)
    assert output.exists()


def test_a_preload_for_all_parts_stays_in_front_in_each(ranktree, mpi, output, tmp_path, monkeypatch):
    """Hydra's -genv, in both of its forms."""
    if mpi.family == "openmpi":
        pytest.skip("-x is of one part")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    library = compile_c("int nothing_at_all;", tmp_path / "libown.so", "-shared", "-fPIC")
    show = ["sh", "-c", f"echo $LD_PRELOAD; {mpi.program('trace_ends')}"]
    starter, *rest = mpi.launch(1, *show)
    for words in (["-genv", "LD_PRELOAD", str(library)], ["-genv", f"LD_PRELOAD={library}"]):
        result = ranktree("trace", "-o", output, "--", starter, *words, *rest, ":", "-n", "1", *show)
        assert result.returncode == 0, result.stderr
        assert re.fullmatch(rf"({library}:\S+/libranktree_preload_{mpi.name}\.so\n){{2}}", result.stdout)


def test_the_library_of_the_loader_is_found(tmp_path, monkeypatch):
    """LD_LIBRARY_PATH comes before a RUNPATH and after an RPATH."""
    folders = [tmp_path / name for name in ("linked", "listed")]
    for folder in folders:
        folder.mkdir()
        compile_c("int called;", folder / "libcalled.so", "-shared", "-fPIC")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folders[1]))
    for option, expected in (("--enable-new-dtags", folders[1]), ("--disable-new-dtags", folders[0])):
        words = (f"-L{folders[0]}", "-Wl,--no-as-needed", "-lcalled", f"-Wl,{option},-rpath,{folders[0]}")
        program = compile_c("int main(void) { return 0; }", tmp_path / "program", *words)
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        assert str(expected / "libcalled.so") in loaded
        assert dict(libraries(read_elf(program)))["libcalled.so"] == expected / "libcalled.so"


@pytest.mark.parametrize("where", ("environment", "command"))
def test_open_mpis_list_of_variables_is_extended(where, ranktree, mpi, output, monkeypatch):
    if mpi.family != "openmpi":
        pytest.skip("only Open MPI has such a list")
    starter, *rest = mpi.launch(1, "sh", "-c", f"echo $MARK; {mpi.program('trace_ends')}")
    options = []
    if where == "environment":
        monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "MARK=seen")
    else:
        options = ["--mca", "mca_base_env_list", "MARK=seen"]
    result = ranktree("trace", "-o", output, "--", starter, *options, *rest)
    assert (result.returncode, result.stdout) == (0, "seen\n"), result.stderr
    assert output.exists()


def test_a_relative_output_is_resolved_before_the_run(ranktree, mpi, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = ranktree("trace", "-o", "here.npz", *mpi.launch(1, "sh", "-c", f"cd /; {mpi.program('trace_ends')}"))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "here.npz").exists()


def test_a_python_program_is_traced(ranktree, mpi, output, tmp_path, monkeypatch):
    if subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True, check=False).returncode:
        pytest.skip("mpi4py is not installed")
    script = tmp_path / "ring.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size\n"
        "for _ in range(4):\n"
        "    world.Sendrecv(bytearray(10), right, 0, bytearray(10), left, 0)\n"
    )
    for name, value in mpi4py_variables(mpi.name, mpi.build).items():
        monkeypatch.setenv(name, value)
    result = ranktree("trace", "-o", output, *mpi.launch(3, sys.executable, script))
    assert result.returncode == 0, result.stderr
    assert read_trace(output).totals == {(i, (i + 1) % 3): (4, 40) for i in range(3)}


def test_a_program_is_searched_where_the_ranks_start(ranktree, mpi, output, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "app").symlink_to(mpi.program("trace_ends"))
    result = ranktree("trace", "-o", output, "--", mpi.launch(1)[0], "-wdir", folder, *mpi.launch(2, "./app")[1:])
    assert result.returncode == 0, result.stderr
    assert output.exists()


SRUN = """#!/bin/sh
# Replaces Slurm's: sets the variables of --export, then starts one rank.
while [ $# -gt 0 ]; do
  case $1 in
    --export=*) exported=${1#--export=}; shift ;;
    -n) shift 2 ;;
    *) break ;;
  esac
done
echo "export $exported" >&2
IFS=,
for word in $exported; do
  case $word in *=*) export "$word" ;; esac
done
exec "$@"
"""


@pytest.fixture
def srun(tmp_path: Path, monkeypatch) -> Path:
    """A replacement of srun, which does not show the program's MPI."""
    path = tmp_path / "bin/srun"
    path.parent.mkdir()
    path.write_text(SRUN)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    return path


def test_under_srun_the_mpi_is_that_of_the_program(ranktree, mpi, output, srun):
    result = ranktree("trace", "-o", output, "srun", "-n", "1", "--export=ALL,MARK=1", mpi.program("trace_ends"))
    assert result.returncode == 0, result.stderr
    shim = rf"\S+/libranktree_preload_{mpi.name}\.so"
    assert re.search(rf"^export ALL,MARK=1,RANKTREE_TRACE={output},LD_PRELOAD={shim}$", result.stderr, re.M)
    assert read_trace(output).totals == {(0, 0): (10, 40)}


def test_under_srun_a_script_needs_the_mpis_name(ranktree, mpi, output, srun):
    words = ["srun", "-n", "1", "sh", "-c", str(mpi.program("trace_ends"))]
    refused = ranktree("trace", "-o", output, *words)
    assert refused.returncode == 1
    assert "name one with --mpi" in refused.stderr
    named = ranktree("trace", "-o", output, "--mpi", mpi.name, *words)
    assert named.returncode == 0, named.stderr
    assert output.exists()


def test_parts_beside_a_complete_trace_are_removed_but_not_those_of_a_later_run(tmp_path: Path) -> None:
    path, parts = tmp_path / "app.npz", tmp_path / "app.npz.parts"
    _core.save_pattern(str(path), _core.Pattern.from_pairs(2, *np.array([[0], [1]]), np.ones(1), np.ones(1)))
    parts.mkdir()
    for name, seconds in (("0.part", -5), ("1.part", 5)):
        (parts / name).write_bytes(b"records")
        os.utime(parts / name, ns=(path.stat().st_mtime_ns + seconds * 10**9,) * 2)
    remove_merged(parts, path)
    assert [each.name for each in parts.iterdir()] == ["1.part"]
    (parts / "1.part").rename(parts / "0.part")
    os.utime(parts / "0.part", ns=(0, 0))
    remove_merged(parts, path)
    assert not parts.exists(), "or the next trace would be refused"
