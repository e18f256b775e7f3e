"""The launcher in real processes: what it sets up, what it repairs, and how it says that it cannot."""

import ast
import errno
import importlib.machinery
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from launcher_project import Project, eventually

from runbook_lib.cli.project import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="starts processes and signals as POSIX does")

BASE = ["requirements", "requirements-server", "requirements-postgres", "project"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path).add_installer()


@pytest.fixture
def launcher(project: Project) -> ModuleType:
    """The launcher of the copy as a module, to call its functions directly."""
    loader = importlib.machinery.SourceFileLoader("launcher_under_test", str(project.root / "runbook"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# Setting up and handing over


def test_first_start_sets_up_and_hands_over(project: Project) -> None:
    code, output = project.run("lab", "--port", "9000")
    assert (code, output.splitlines()[-1]) == (7, "command lab --port 9000")
    assert project.lines("installed") == BASE
    assert re.search(r"Ready in \d+:\d\d: \d+ packages, \d+ [kM]B in .venv", output)


def test_second_start_installs_nothing(project: Project) -> None:
    project.run("setup")
    assert project.run("refresh", "x") == (7, "command refresh x\n")
    assert project.lines("installed") == BASE


def test_setup_alone_does_not_hand_over(project: Project) -> None:
    assert project.run("setup")[0] == 0
    assert project.run("setup") == (0, "Nothing to do: .venv is up to date.\n")


def test_help_before_the_set_up_installs_nothing(project: Project) -> None:
    code, output = project.run("--help")
    assert code == 0
    assert "./runbook lab" in output
    assert not project.venv.exists()


def test_windows_hands_over_to_a_child_and_returns_its_exit_code(project: Project, launcher: ModuleType) -> None:
    project.run("setup")
    launcher.WINDOWS = True
    assert launcher.hand_over(["lab"]) == 7


def test_a_changed_lock_is_installed_alone(project: Project) -> None:
    project.run("setup")
    project.order("requirements-server.lock", "newer")
    assert project.run("lab")[0] == 7
    assert project.lines("installed") == [*BASE, "requirements-server"]


def test_a_changed_project_is_installed_alone(project: Project) -> None:
    project.run("setup")
    (project.root / "pyproject.toml").write_text("# changed", "utf-8")
    project.run("lab")
    assert project.lines("installed") == [*BASE, "project"]


def test_test_all_adds_its_packages_once(project: Project) -> None:
    assert project.run("test", "--all")[1].endswith("command test --all\n")
    project.run("test", "--all")
    assert project.lines("installed").count("requirements-all") == 1


# Optional parts


@pytest.mark.parametrize("why", ["fail", "other platforms"])
def test_goes_on_without_an_optional_part_and_says_what_will_miss_it(project: Project, why: str) -> None:
    project.order("requirements-server.lock", why)
    code, output = project.run("lab")
    assert code == 7
    assert "going on without the LangGraph dev server" in output
    assert "the cells that start `langgraph dev`" in output
    assert project.stamp()["groups"]["server"]["installed"] is False


def test_an_optional_part_is_tried_again_only_by_setup(project: Project) -> None:
    project.order("requirements-server.lock", "fail")
    for verb in ("lab", "lab", "setup"):
        project.run(verb)
    assert project.lines("started").count("requirements-server") == 2
    assert project.lines("started").count("requirements") == 1


def test_an_optional_part_that_failed_does_not_hide_a_full_disk(project: Project) -> None:
    project.order("requirements-server.lock", "full disk")
    assert project.run("lab")[0] == 14


# Repairs


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"python": "cpython-3.9-linux-x86_64"}, "made by another Python"),
        ({"path": "elsewhere"}, "made for another folder"),
        ({"built": False}, "stopped half-way"),
    ],
)
def test_rebuilds_what_cannot_be_kept(project: Project, change: dict[str, object], reason: str) -> None:
    project.run("setup")
    (project.venv / "leftover").touch()
    project.change_stamp(**change)
    code, output = project.run("setup")
    assert code == 0
    assert reason in output
    assert not (project.venv / "leftover").exists()


def test_rebuilds_in_a_moved_folder(project: Project) -> None:
    project.run("setup")
    project.root = project.root.rename(project.root.with_name("moved"))
    project.venv = project.root / ".venv"
    code, output = project.run("lab")
    assert code == 7
    assert "made for another folder" in output


def test_rebuilds_when_the_python_of_the_venv_is_gone(project: Project) -> None:
    project.run("setup")
    (project.venv / "bin" / "python").unlink()
    assert "the Python of .venv is gone" in project.run("lab")[1]


def test_puts_a_lost_command_back(project: Project) -> None:
    project.run("setup")
    (project.venv / "bin" / "runbook").unlink()
    assert project.run("lab")[0] == 7
    assert project.lines("installed") == [*BASE, "project"]


def test_repairs_an_empty_or_torn_venv(project: Project) -> None:
    project.venv.mkdir()
    assert project.run("lab")[0] == 7
    (project.venv / "runbook-stamp.json").write_text("{ torn", "utf-8")
    assert project.run("lab")[0] == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_says_so_and_the_next_start_repairs(project: Project, number: signal.Signals) -> None:
    project.order("requirements.lock", "wait")
    process = project.start("lab")
    eventually(lambda: project.lines("started") == ["requirements"])
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Start again and the set-up repairs itself" in output
    (project.root / "go").touch()
    code, output = project.run("lab")
    assert code == 7
    assert "the last set-up stopped half-way" in output


def test_killed_half_way_the_next_start_waits_for_the_installer_and_repairs(project: Project) -> None:
    project.order("requirements.lock", "wait")
    first = project.start("lab")
    eventually(lambda: project.lines("started") == ["requirements"])
    first.kill()
    first.communicate()
    second = project.start("lab")
    assert second.stdout is not None
    assert "waiting for it" in second.stdout.readline()
    (project.root / "go").touch()
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 7
    assert "the last set-up stopped half-way" in output


def test_two_launchers_at_once_set_up_once(project: Project) -> None:
    project.order("requirements.lock", "wait")
    first = project.start("lab")
    eventually(lambda: project.lines("started") == ["requirements"])
    second = project.start("lab")
    assert second.stdout is not None
    assert "Another ./runbook is setting up" in second.stdout.readline()
    (project.root / "go").touch()
    for process in (first, second):
        process.communicate(timeout=60)
        assert process.returncode == 7
    assert project.lines("installed") == BASE


# Failures, each with its exit code


def test_10_python_too_old_or_too_new(project: Project, tmp_path: Path) -> None:
    for version, word in (((3, 6), "old"), ((3, 10), "old"), ((3, 15), "new")):
        shim = tmp_path / f"shim-{version[1]}"  # one each: bytecode of the first would stand for the next
        shim.mkdir()
        (shim / "sitecustomize.py").write_text(f"import sys; sys.version_info = {(*version, 0, 'final', 0)}", "utf-8")
        code, output = project.run("lab", PYTHONPATH=str(shim))
        assert code == 10
        assert f"Python {version[0]}.{version[1]} is too {word}" in output
        assert "Python 3.11 to 3.14" in output


def test_an_old_python_can_read_the_launcher() -> None:
    ast.parse((ROOT / "runbook").read_text("utf-8"), feature_version=(3, 6))


def test_11_no_ensurepip(tmp_path: Path) -> None:
    project = Project(tmp_path)  # no uv: pip is needed, and ensurepip brings it
    shim = tmp_path / "shim"
    shim.mkdir()
    (shim / "ensurepip.py").write_text("raise ImportError", "utf-8")
    code, output = project.run("lab", PYTHONPATH=str(shim))
    assert code == 11
    assert "apt-get install python3-venv" in output
    assert not project.venv.exists()


def test_12_install_failed_shows_the_tail_and_where_the_log_is(project: Project) -> None:
    project.order("requirements.lock", "fail")
    code, output = project.run("lab")
    log = project.root / ".runbook" / "setup.log"
    assert code == 12
    assert "    error: no wheel of sample-server" in output
    assert str(log) in output
    assert "no wheel of sample-server" in log.read_text("utf-8")


def test_12_a_failed_extra_leaves_the_rest_usable(project: Project) -> None:
    project.run("setup")
    project.order("requirements-all.lock", "fail")
    assert project.run("test", "--all")[0] == 12
    assert project.run("lab") == (7, "command lab\n")


@pytest.fixture
def read_only(project: Project) -> Iterator[tuple[Project, int | None]]:
    """A folder that the launcher cannot write to. Root can write anywhere, so root's launcher runs as nobody."""
    if os.geteuid() != 0:
        project.root.chmod(0o555)
        yield project, None
        project.root.chmod(0o755)
        return
    folder = Path(tempfile.mkdtemp(prefix="runbook-read-only-", dir="/var/tmp"))
    folder.chmod(0o755)
    shutil.copytree(project.root, folder / "project")
    project.root, project.venv = folder / "project", folder / "project" / ".venv"
    yield project, 65534
    shutil.rmtree(folder)


# Reads the launcher as the user it is, who may be the only one to read this Python; then becomes the other one.
RUN_AS = """
import importlib.machinery, os, sys, types
script, user = sys.argv[1:]
sys.dont_write_bytecode = True
module = types.ModuleType("launcher")
module.__file__ = script
importlib.machinery.SourceFileLoader("launcher", script).exec_module(module)
if user != "None":
    os.setgid(int(user))
    os.setuid(int(user))
sys.exit(module.main(["lab"]))
"""


def test_13_read_only_folder(read_only: tuple[Project, int | None]) -> None:
    project, user = read_only
    command = [sys.executable, "-c", RUN_AS, str(project.root / "runbook"), str(user)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert run.returncode == 13
    assert f"cannot write in {project.root}" in run.stderr
    assert not project.venv.exists()


def test_14_no_disk_space(
    launcher: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launcher.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 5_000_000))
    handler = signal.getsignal(signal.SIGTERM)
    assert launcher.main(["lab"]) == 14
    signal.signal(signal.SIGTERM, handler)
    assert "5 MB free" in capfd.readouterr().err


def test_14_the_disk_fills_up_on_the_way(project: Project, launcher: ModuleType) -> None:
    assert launcher.from_os_error(OSError(errno.ENOSPC, "No space left on device")).code == 14
    project.order("requirements.lock", "full disk")
    assert project.run("lab")[0] == 14
    project.order("requirements.lock", "nothing")
    assert project.run("lab")[0] == 7


@pytest.mark.parametrize("kind", ["folder", "venv", "file", "link"])
def test_15_a_venv_that_is_not_ours_is_left_alone(project: Project, kind: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    if kind == "file":
        project.venv.write_text("mine", "utf-8")
    elif kind == "link":
        project.venv.symlink_to(other)
    else:
        project.venv.mkdir()
        (project.venv / ("pyvenv.cfg" if kind == "venv" else "letter.txt")).write_text("mine", "utf-8")
    before = sorted(project.root.rglob("*"))
    code, output = project.run("lab")
    assert code == 15
    assert "was not made by this set-up" in output
    assert [path for path in sorted(project.root.rglob("*")) if ".runbook" not in path.parts] == before


def test_the_exit_codes_are_documented() -> None:
    row = re.compile(r"^[ |]*(1\d|130) +\|? *(\S.*?)[ |]*$", re.MULTILINE)
    here, there = ((ROOT / name).read_text("utf-8") for name in ("runbook", "docs/CONTRIBUTING.md"))
    codes = dict(row.findall(here.partition('"""\n\nimport')[0]))
    assert set(codes) == {"10", "11", "12", "13", "14", "15", "130"}
    assert codes.items() <= dict(row.findall(there)).items()


@pytest.mark.drill
def test_a_fresh_clone_sets_up_for_real(tmp_path: Path) -> None:
    """Downloads everything, with pip: uv is not on this PATH."""
    clone = tmp_path / "a folder with spaces"
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", str(ROOT), str(clone)], check=True)
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    launch = [sys.executable, str(clone / "runbook")]
    first = subprocess.run([*launch, "setup"], env=environment, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "going on without" not in first.stdout
    again = subprocess.run([*launch, "test", "--help"], env=environment, capture_output=True, text=True, check=True)
    assert "Ready in" not in again.stdout
    assert "notebooks included" in again.stdout
