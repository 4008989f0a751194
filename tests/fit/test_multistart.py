import itertools
import json
import os
import pickle
import random
import signal
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from numbad.errors import ArgumentError, DataError, ModelError, NumbadWarning
from numbad.fit.journal import Journal
from numbad.fit.multistart import best, run_starts
from numbad.fit.result import FitResult
from numbad.fit.unknowns import latin_hypercube

from . import models
from .closed_form import decaying
from .test_ode import fitted

BOUNDS = {"a": (0.1, 10.0), "b": (0.1, 10.0)}


class Backwards(Executor):
    """Runs nothing until the last task has come, then the last one first."""

    def __init__(self, count):
        self.count, self.tasks = count, []

    def submit(self, task, /, *args, **kwargs):
        future = Future()
        self.tasks.append((future, task, args))
        if len(self.tasks) == self.count:
            for waiting, run, given in reversed(self.tasks):
                waiting.set_running_or_notify_cancel()
                waiting.set_result(run(*given))
        return future


def starts(problem, count=12):
    return latin_hypercube(problem.unknowns, count, 3)


def run(problem, **options):
    return run_starts(problem, starts(problem), progress=False, **options)


@pytest.mark.dear
def test_the_result_does_not_depend_on_the_executor():
    problem = decaying(bounds=BOUNDS)
    wanted = run(problem)
    assert [fit.index for fit in wanted] == list(range(12))
    assert run(problem, executor=Backwards(12)) == wanted
    with ThreadPoolExecutor(3) as threads:
        assert run(problem, executor=threads) == wanted
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert run(problem, executor=processes) == wanted


def test_best_takes_the_earliest_of_equals():
    fits = run(decaying(bounds=BOUNDS))
    equal = [type(fit)(**{**vars(fit), "cost": 1.0}) for fit in fits]
    assert best(equal[::-1]).index == 0
    assert best(fits).cost == min(fit.cost for fit in fits)


def test_a_start_that_fails_is_recorded_with_its_message_and_the_others_count(tmp_path):
    problem = decaying(bounds=BOUNDS, forbidden=lambda p: p[0] > 3.0)
    for _ in range(2):  # the second time from the journal
        fits = run(problem, journal=tmp_path / "journal")
        failed = [fit for fit in fits if not np.isfinite(fit.cost)]
        assert failed
        assert all("cannot be integrated" in fit.message and not fit.success for fit in failed)
        result = FitResult(problem, fits)
        assert result.success
        assert f"{len(failed)} of 12 starts could not be evaluated" in result.message


def test_a_first_start_that_fails_is_an_error():
    problem = decaying(bounds=BOUNDS, forbidden=lambda p: p[0] <= 1.0)
    with pytest.raises(ModelError, match=r"at the start \(a = 1, b = 1\)"):
        run(problem)


def test_a_journal_spares_the_work_that_it_holds(tmp_path):
    problem = decaying(bounds=BOUNDS)
    wanted = run(problem, journal=tmp_path / "journal")
    lines = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    assert len(lines) == 13
    problem.evaluations = 0
    assert run(problem, journal=tmp_path / "journal") == wanted
    assert problem.evaluations == 0
    (tmp_path / "journal").write_bytes(b"".join(lines[:6] + lines[9:]))  # three are missing
    assert run(problem, journal=tmp_path / "journal") == wanted
    again = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    assert sorted(again) == sorted(lines)


def test_progress_is_silent_where_there_is_no_terminal(capfd, monkeypatch):
    problem = decaying(bounds=BOUNDS)
    run_starts(problem, starts(problem), progress=True)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", None)
    assert len(run_starts(problem, starts(problem), progress=True)) == 12


def test_progress_counts_what_the_journal_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    problem = decaying(bounds=BOUNDS)
    for _ in range(2):
        run_starts(problem, starts(problem), progress=True, journal=tmp_path / "journal")
        assert "12/12" in capsys.readouterr().err


def formula(journal=None):
    problem = decaying(bounds=BOUNDS)
    return run_starts(problem, starts(problem, 120), progress=False, journal=journal)


def ode(journal=None):
    return fitted(bounds=BOX, starts=120, progress=False, journal=journal).to_json()


def killed_in_a_write(run, path, writes, share):
    """Run in a process of its own, killed in write `writes`, when `share` of the line is on the disk."""
    child = os.fork()
    if not child:
        whole, left = Journal._write, itertools.count(1)

        def write(self, entry):
            if next(left) < writes:
                return whole(self, entry)
            line = json.dumps(entry).encode() + b"\n"
            self.file.write(line[: round(share * len(line))])
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

        try:
            Journal._write = write
            run(journal=path)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.deep(but=["formula"])
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("run", [formula, ode])
def test_killed_twenty_times_it_repeats_nothing_and_ends_the_same(tmp_path, run):
    wanted, path = run(), tmp_path / "journal"
    assert run(journal=tmp_path / "another") == wanted
    draw, seen = random.Random(4), b""
    for kill in range(20):
        share = (0.0, 0.5, 1.0, draw.random())[kill % 4]  # nothing, half, all of a line, any part
        assert killed_in_a_write(run, path, draw.randint(1, 5), share)
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        assert whole.startswith(seen)  # what finished stays
        seen = whole
    assert 20 < len(seen.splitlines()) < 121  # it was killed in the midst of it
    assert run(journal=path) == wanted
    assert len(path.read_bytes().splitlines()) == 121  # each start once


class Deadly:
    """Ends the process in which the model is evaluated at a, but for the one that made this."""

    def __init__(self, a):
        self.a, self.spared = a, os.getpid()

    def __call__(self, p):
        if os.getpid() != self.spared and abs(p[0] / self.a - 1.0) < 1e-12:
            os.kill(os.getpid(), signal.SIGKILL)
        return False


@pytest.mark.dear
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_worker_that_is_killed_loses_nothing(tmp_path):
    wanted = run(decaying(bounds=BOUNDS))
    problem = decaying(bounds=BOUNDS, forbidden=Deadly(starts(decaying(bounds=BOUNDS))[7][0]))
    with (
        ProcessPoolExecutor(2, get_context("spawn")) as processes,
        pytest.warns(
            NumbadWarning, match="a worker ended, .* starts .* are fitted in this process"
        ),
    ):
        assert run(problem, executor=processes, journal=tmp_path / "journal") == wanted
    assert len((tmp_path / "journal").read_bytes().splitlines()) == 13  # each start once


BOX = {
    "growth": (0.05, 5.0),
    "predation": (0.003, 0.3),
    "death": (0.08, 8.0),
    "conversion": (0.002, 0.2),
    "hare": (3.0, 300.0),
    "lynx": (0.4, 40.0),
}


def predator_prey_fit(fun=models.predator_prey, **options):
    return fitted(fun, bounds=BOX, starts=12, progress=False, **options)


def made_in_a_notebook(power):
    """A function whose module no other process can import, with a value from outside."""
    scope = {"__name__": "__main__", "power": power}
    exec(
        "def model(t, y, growth, predation, death, conversion):\n"
        "    eaten = (y[0] * y[1]) ** power\n"
        "    return growth * y[0] - predation * eaten, conversion * eaten - death * y[1]\n",
        scope,
    )
    return scope["model"]


@pytest.mark.deep
def test_a_fit_of_an_ode_is_the_same_on_every_executor():
    wanted = predator_prey_fit()
    assert wanted.params["growth"] == pytest.approx(models.BEST["growth"][0], rel=1e-6)
    assert len({round(fit.cost, 3) for fit in wanted.starts}) > 1  # other minima were found, too
    with ThreadPoolExecutor(2) as threads:
        assert predator_prey_fit(executor=threads).to_json() == wanted.to_json()
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert predator_prey_fit(executor=processes).to_json() == wanted.to_json()
        unnamed = made_in_a_notebook(1.0)
        there = predator_prey_fit(unnamed, executor=processes)
        assert there.to_json() == predator_prey_fit(unnamed).to_json()


def test_dask_is_an_executor_too(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    local = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        result = predator_prey_fit(executor=client.get_executor())
    assert result.to_json() == predator_prey_fit().to_json()


@pytest.mark.dear
def test_a_journal_of_an_ode_ends_with_the_same_result(tmp_path):
    path = tmp_path / "journal"
    wanted = predator_prey_fit(journal=path).to_json()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:-9])
    assert predator_prey_fit(journal=path).to_json() == wanted
    assert path.read_bytes().splitlines(keepends=True) == lines
    assert predator_prey_fit().to_json() == wanted


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"fun": models.one_argument}, "model or version"),
        ({"y": models.COUNTS * 1.001}, "data"),
        ({"sigma": 0.5}, "data"),
        ({"rtol": 1e-7}, "solver"),
        ({"p0": [0.5, 0.03, 0.8, 0.021]}, "unknowns"),
        ({"loss": "huber"}, "options"),
        ({"seed": 1}, "seed"),
        ({"starts": 2}, "starts"),
    ],
)
def test_a_journal_of_another_fit_is_refused(tmp_path, options, part):
    path = tmp_path / "journal"
    once = {"bounds": BOX, "starts": 1, "progress": False, "journal": path}
    fitted(**once)
    with pytest.raises(DataError, match=f"belongs to another fit: .*{part}.* differ"):
        fitted(**{**once, **options})


def test_a_journal_knows_the_values_that_a_model_takes_from_outside(tmp_path):
    path = tmp_path / "journal"
    once = {"bounds": BOX, "progress": False, "journal": path}
    fitted(made_in_a_notebook(1.0), **once)
    fitted(made_in_a_notebook(1.0), **once)
    with pytest.raises(DataError, match="model or version differ"):
        fitted(made_in_a_notebook(1.01), **once)


def test_a_problem_is_one_object_in_every_process_it_travels_to():
    problem = predator_prey_fit().problem
    assert pickle.loads(pickle.dumps(problem)) is problem


def test_a_number_is_so_many_threads():
    problem = decaying(bounds=BOUNDS)
    assert run(problem, executor=2) == run(problem)
    with pytest.raises(
        ArgumentError, match="a number of threads, 1 or more, or an executor, not 'many'"
    ):
        run(problem, executor="many")


def test_a_journal_is_a_path():
    with pytest.raises(DataError, match="journal must be the path of a file, not \\[\\]"):
        run_starts(decaying(), np.array([[1.0, 1.0]]), journal=[])
