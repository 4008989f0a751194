"""What the tests of the command line share: a model file with its data, and what was written."""

import json
from pathlib import Path

import pytest

COOLING = """\
def rhs(t, y, rate, room):
    return (-rate * (y[0] - room),)

p0 = dict(rate=0.1, room=20.0)
y0 = dict(tea=80.0)
fit_y0 = True
"""


TEA = "minute,tea\n0,83.1\n2,71.9\n5,59.8\n10,44.0\n20,28.6\n40,21.3\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the example of `numbad fit --help`, changed on request; return its arguments."""
    monkeypatch.chdir(tmp_path)

    def write(model=COOLING, data=TEA):
        (tmp_path / "cooling.py").write_text(model)
        (tmp_path / "cooling.csv").write_text(data)
        return ["fit", "--model", "cooling.py", "--data", "cooling.csv", "--no-plot"]

    return write


def complaint(capsys):
    """Return what stands on standard error, which must be one line."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def saved(path="cooling.json"):
    return json.loads(Path(path).read_text())
