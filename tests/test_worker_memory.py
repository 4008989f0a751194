"""A worker that holds much memory goes on in another process, and nothing is lost or hidden by it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import os
from pathlib import Path

import pytest


def note(name, text):
    with Path(name).open("a") as file:
        file.write(text + "\\n")


@pytest.fixture(scope="module", autouse=True)
def world():
    yield
    note("ends", "of a module")
    assert not Path("fail").exists()


@pytest.mark.filterwarnings("error")  # which must not outlast the test that a fork begins with
@pytest.mark.parametrize("k", range(16))
def test_k(k):
    note("processes", str(os.getpid()))
    assert k != 3
    if k == 5:
        os._exit(1)


def test_warning():
    note("processes", str(os.getpid()))
    os.nothing = __import__("warnings").warn("seen")
"""
PLUGIN = """
from pathlib import Path

from tests import worker_memory
from tests.worker_memory import *

worker_memory.LIMIT = {limit}
with Path("started").open("a") as file:
    file.write("once\\n")
"""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")


def run(folder, limit):
    (folder / "test_trial.py").write_text(TESTS)
    (folder / "conftest.py").write_text(PLUGIN.format(limit=limit))
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    plain = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    ran = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True)
    return ran.stdout, {
        name: (folder / name).read_text().splitlines() for name in ("processes", "ends", "started")
    }


@pytest.mark.dear
def test_failures_and_crashes_stay_failures(tmp_path):
    said, noted = run(tmp_path, limit=0)
    assert said.splitlines()[-1].startswith("2 failed, 15 passed, 1 warning")
    assert all(part in said for part in ("AssertionError", "crashed", "UserWarning: seen"))
    assert len(set(noted["processes"])) == 17  # one a test
    assert len(noted["ends"]) == 16  # but for the crash
    assert len(noted["started"]) <= 4  # pytest, two workers, one more after the crash


@pytest.mark.dear
def test_one_process_while_there_is_room(tmp_path):
    said, noted = run(tmp_path, limit=2**40)
    assert said.splitlines()[-1].startswith("2 failed, 15 passed, 1 warning")
    processes = len(set(noted["processes"]))
    assert processes <= 3  # two workers, one more after the crash
    assert len(noted["ends"]) == processes - 1


@pytest.mark.dear
def test_fixtures_that_fail_at_the_end_are_errors(tmp_path):
    (tmp_path / "fail").touch()
    said, _ = run(tmp_path, limit=0)
    assert said.splitlines()[-1].startswith("2 failed, 15 passed, 1 warning, 16 errors")
