"""Workers that hold much memory are replaced, and nothing is lost or hidden by it."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import os
import pytest

@pytest.mark.parametrize("k", range(16))
def test_k(k):
    assert k != 3
    if k == 5:
        os._exit(1)
"""
PLUGIN = """
import time

from xdist.workermanage import Marker, WorkerController

from tests import worker_memory
from tests.worker_memory import *

worker_memory.LIMIT = 0
received = WorkerController.process_from_remote


def late(self, event):
    if event is Marker.END:
        time.sleep(0.1)  # the worker has ended, and nobody knows yet
    received(self, event)


WorkerController.process_from_remote = late
"""


def test_failures_and_crashes_stay_failures(tmp_path):
    (tmp_path / "test_trial.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(PLUGIN)
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    plain = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    ran = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    assert lines[-1].startswith("2 failed, 14 passed")
    assert ran.stdout.count("node down") > 3
    assert sum(line.startswith("FAILED") for line in lines) == 2
