"""Rules of the user's in processes that have not run the lines that give them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compilation.processes import environment

PROGRAM = Path(__file__).with_name("travelling_program.py")


@pytest.mark.deep(but=["spawn"])
@pytest.mark.parametrize("start", ["spawn", "fork", "forkserver"])
def test_rules_go_along_with_functions(start, tmp_path):
    if sys.platform == "win32" and start != "spawn":
        pytest.skip("processes are spawned there")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), start],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[3.0, 7.0, 5.0, 2.0, 4.0]", "33.0"]
