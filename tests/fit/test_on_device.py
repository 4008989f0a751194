"""Fits on a GPU: kernels run on the CPU, thread by thread; against fits on the CPU."""

import re
import threading
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

from numbad.cuda.trajectories import fit_curves
from numbad.errors import DataError, DeviceError, IntegrationError, ModelError
from numbad.fit import Experiment, fit_ode, on_device
from numbad.fit.multistart import run_start
from numbad.fit.unknowns import latin_hypercube
from tests.cuda.on_cpu import without_gpu
from tests.cuda.twin_device import TwinDevice

from . import models
from .models import decay
from .test_multistart import BOX

NOISE = np.array([2, -1, 0, 3, -2, 1, 1, -3]) * 0.01


@pytest.fixture
def twin(monkeypatch):
    """Lets fits run on the CPU in place of a GPU; the kernels that ran."""
    if not cuda.is_available():
        without_gpu(monkeypatch)
    launched = []
    monkeypatch.setattr(fit_curves, "Accelerator", TwinDevice)
    monkeypatch.setattr(TwinDevice, "launched", launched)
    return launched


def agree(found, wanted):
    """Assert that two fits say the same, start by start.

    Where an optimisation stops hangs on the last bits; how far from the optimum, on its tolerances.
    """
    assert found.names == wanted.names
    errors = np.array(list(wanted.stderr.values()))
    np.testing.assert_array_less(np.abs(found.x - wanted.x), 1e-4 * errors)
    np.testing.assert_allclose(
        found.cov, wanted.cov, rtol=1e-3, atol=1e-6 * np.abs(wanted.cov).max()
    )
    assert len(found.starts) == len(wanted.starts)
    for one, other in zip(found.starts, wanted.starts, strict=True):
        assert (one.index, one.start) == (other.index, other.start)
        assert one.cost == pytest.approx(other.cost, rel=1e-8)
        assert one.success == other.success
        if not np.isfinite(one.cost):
            assert without_last_digits(one.message) == without_last_digits(other.message)


def without_last_digits(message):
    """A message, its numbers to nine digits."""
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda found: f"{float(found[0]):.9g}", message)


# -- what is integrated --------------------------------------------------------------------------------


def blow_up(t, y, rate):
    return (rate * y[0] ** 2,)


def blowing_up(t, rate, first):
    return first / (1.0 - rate * first * t)


SOON, LATE = np.linspace(0.0, 0.8, 8), np.linspace(1.0, 9.0, 5)
RUNS = [
    Experiment(SOON, blowing_up(SOON, 0.6, 1.0) + NOISE, y0=[1.0], name="soon"),
    Experiment(LATE, blowing_up(LATE - 1.0, 0.9, 0.1) + NOISE[:5], y0=[0.1], name="late"),
]


def blowing_up_fit(**options):
    """Rates of each run's own; the first ends before its solution does, long before the second run ends."""
    given = {
        "experiments": RUNS,
        "own": "rate",
        "bounds": {"rate": (0.01, 1.24)},
        "progress": False,
    }
    return fit_ode(blow_up, None, None, {"rate": 0.5}, **given | options)


@pytest.mark.dear
def test_experiments_with_parameters_of_their_own(twin):
    found = blowing_up_fit(device="cuda", starts=3)
    agree(found, blowing_up_fit(starts=3))
    assert found.names == ("rate[soon]", "rate[late]")
    assert 1.0 / found.params["rate[soon]"] < 8.0  # had it gone on to the end of the second run
    evaluations = sum(one.nfev for one in found.starts)
    assert len(twin) < evaluations  # starts are integrated together,
    assert len(set(twin)) == 1  # by one kernel


@pytest.mark.dear
def test_a_start_whose_solution_fails_counts_as_on_the_cpu(twin):
    options = {"bounds": {"rate": (0.01, 4.0)}, "starts": 5, "seed": 1}
    found, wanted = blowing_up_fit(device="cuda", **options), blowing_up_fit(**options)
    failed = [one for one in found.starts if not np.isfinite(one.cost)]
    assert 0 < len(failed) < 5
    assert all("spacing between numbers" in one.message for one in failed)
    agree(found, wanted)
    with pytest.raises(ModelError, match=r"cannot be evaluated at the start \(rate\[soon\] = 2,"):
        fit_ode(blow_up, None, None, {"rate": 2.0}, experiments=RUNS, own="rate", device="cuda")


@pytest.mark.dear
def test_hudson_bay(twin):
    """The optimum is known to sixteen digits, and six unknowns go in two passes."""
    given = {"y0": models.FIRST, "fit_y0": True, "bounds": BOX, "scale": "log", "progress": False}
    data = models.predator_prey, models.YEARS, models.COUNTS, models.START
    found = fit_ode(*data, **given, starts=4, device="cuda")
    agree(found, fit_ode(*data, **given, starts=4))
    for name, (value, error) in models.BEST.items():
        assert found.params[name] == pytest.approx(value, rel=1e-6)
        assert found.stderr[name] == pytest.approx(value * error, rel=1e-5)
    assert found.cost == pytest.approx(models.BEST_COST, rel=1e-8)
    assert len(set(twin)) == 2


def evaluations_agree(fitted):
    """Assert that a problem gives the same on a GPU, at the estimates and beside them."""
    problem = fitted.problem
    there = on_device.on_device(problem, "auto", None)
    for factor in (1.0, 1.02):
        x = problem.unknowns.internal(fitted.x * factor)
        for found, wanted in zip(there.evaluate(x), problem.evaluate(x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


class Swing(NamedTuple):
    x: float
    v: float


def pendulum(t, y, p):
    return y.v, p.force - p.stiffness * y.x - p.damping * y.v


SWINGS = np.linspace(0.0, 2.0, 6)
SWING = np.exp(-0.1 * SWINGS) * np.cos(1.4 * SWINGS) + NOISE[:6]


def energy(t, y, p):
    return 0.5 * (y.v**2 + p.stiffness * y.x**2)


@pytest.mark.dear
@pytest.mark.deep(but=["observables"])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            {"observables": {"energy": energy, "x": lambda t, y, p: y.x}}, id="observables"
        ),
        pytest.param({"method": "Rodas5P"}, id="stiff"),
        pytest.param({"rtol": (1e-6, 1e-7), "sens_errcon": True}, id="tolerances"),
        pytest.param(
            {"priors": {"damping": ("normal", 0.2, 0.1)}, "sigma": "estimate"}, id="priors"
        ),
    ],
)
def test_evaluations_are_those_of_the_cpu(options, twin):
    """Of named tuples; runs share an initial value, or know it, and know a force; one is of a single time."""
    evaluations_agree(swinging_fit(**options))


def swinging_fit(**options):
    runs = [
        Experiment(SWINGS, {"x": SWING}, y0=Swing("first", 0.0), args={"force": 0.0}),
        Experiment(
            SWINGS[1:4], {"x": SWING[1:4]}, y0=Swing(1.0, 0.0), args={"force": 0.1, "damping": 0.3}
        ),
        Experiment([0.0], {"x": [1.01]}, y0=Swing("first", 1.0), args={"force": 0.2}),
    ]
    start = {"stiffness": 2.0, "damping": 0.2, "first": 1.1}
    return fit_ode(pendulum, None, None, start, t0=0.0, experiments=runs, **options)


@pytest.mark.dear
def test_what_does_not_fit_the_memory_goes_in_portions(twin, monkeypatch):
    fitted = swinging_fit()
    curves = on_device.on_device(fitted.problem, "auto", None).curves
    shape, trials = fitted.problem.shape, fitted.problem.trials
    point = np.array([trial.theta(fitted.x, shape) for trial in trials])
    points = [point * (1.0 + 0.001 * k) for k in range(30)]
    whole, kernels = curves(points), len(twin)
    monkeypatch.setattr(TwinDevice, "memory", 20_000)
    parts = curves(points)
    assert len(twin) == 4 * kernels  # 32 at a time of 90 trajectories
    for found, wanted in zip(parts, whole, strict=True):
        assert found[2] == wanted[2]
        for table, other in zip(found[:2], wanted[:2], strict=True):
            np.testing.assert_array_equal(table, other)
    monkeypatch.setattr(TwinDevice, "memory", 5_000)
    with pytest.raises(DeviceError, match='fit_ode needs .* memory .*device="cpu"'):
        curves(points)


# -- starts together -----------------------------------------------------------------------------------


class ClosedForm:
    """Exponential decay for a kernel; notes how many points it is asked for at once."""

    asked, forbidden = (), staticmethod(lambda first, rate: False)

    def __init__(self, problem):
        self.ts = problem.trials[0].observations.flat[0]

    def __call__(self, points):
        self.asked.append(len(points))
        return [self.found(*point[0]) for point in points]

    def found(self, rate, first):
        if self.forbidden(first, rate):
            return IntegrationError(f"cannot be integrated at {rate}")
        ys = first * np.exp(-rate * self.ts)
        partials = np.stack([-self.ts * ys, ys / first], axis=-1)
        return ys.reshape(-1, 1, 1), partials.reshape(-1, 1, 2, 1), 0


@pytest.fixture
def closed_form(monkeypatch):
    """Puts closed forms in the place of kernels."""
    monkeypatch.setattr(fit_curves, "FitCurves", ClosedForm)
    monkeypatch.setattr(ClosedForm, "asked", [])


T = np.linspace(0.0, 3.0, 8)
BOUNDS = {"rate": (0.1, 5.0), "y0[0]": (0.1, 10.0)}


def decay_fit(starts=9, **options):
    given = {"y0": [1.0], "fit_y0": True, "bounds": BOUNDS, "starts": starts, "progress": False}
    y = 2.0 * np.exp(-0.7 * T) + NOISE
    return fit_ode(decay, T, y, {"rate": 1.0}, **{"device": "cuda"} | given | options)


def one_by_one(fitted):
    """The fits from the same starts, each in its turn in this thread."""
    problem = on_device.on_device(fitted.problem, "auto", None)
    points = latin_hypercube(problem.unknowns, len(fitted.starts), 0)
    return [run_start(problem, index, start) for index, start in enumerate(points)]


@pytest.mark.dear
def test_all_starts_that_go_on_ask_together(closed_form):
    fitted = decay_fit()
    asked = ClosedForm.asked
    assert asked[:2] == [1, 9]  # once to see whether the model can be used
    assert asked[1:] == sorted(asked[1:], reverse=True)
    assert sum(asked[1:]) == sum(one.nfev for one in fitted.starts)
    assert list(fitted.starts) == one_by_one(fitted)


def test_no_more_go_on_at_once_than_there_may_be_threads(closed_form, monkeypatch):
    monkeypatch.setattr(on_device, "MOST_AT_ONCE", 4)
    fitted = decay_fit()
    assert max(ClosedForm.asked) == 4
    assert list(fitted.starts) == one_by_one(fitted)


def test_starts_that_fail_do_not_hold_up_the_others(closed_form, monkeypatch):
    monkeypatch.setattr(ClosedForm, "forbidden", lambda self, first, rate: rate > 2.0)
    fitted = decay_fit()
    failed = [one for one in fitted.starts if not np.isfinite(one.cost)]
    assert 0 < len(failed) < 9
    assert all("cannot be integrated" in one.message for one in failed)
    assert list(fitted.starts) == one_by_one(fitted)


def test_a_journal_knows_what_solved(closed_form, tmp_path):
    wanted = decay_fit(journal=tmp_path / "journal")
    lines = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal").write_bytes(b"".join(lines[:4]))
    ClosedForm.asked.clear()
    assert list(decay_fit(journal=tmp_path / "journal").starts) == list(wanted.starts)
    assert max(ClosedForm.asked) == 6
    with pytest.raises(DataError, match="solver differ"):
        decay_fit(journal=tmp_path / "journal", device="cpu")


def test_what_goes_wrong_on_the_device_ends_the_fit_and_its_threads(closed_form, monkeypatch):
    def found(self, points):
        if len(points) > 1:
            raise DeviceError("no memory")
        return whole(self, points)

    whole = ClosedForm.__call__
    monkeypatch.setattr(ClosedForm, "__call__", found)
    before = threading.active_count()
    with pytest.raises(DeviceError, match="no memory"):
        decay_fit()
    for thread in threading.enumerate():
        if thread.name.startswith("start "):
            thread.join(10.0)
    assert threading.active_count() == before


def test_what_goes_wrong_in_a_thread_is_raised(closed_form):
    with pytest.raises(ValueError, match="tr_solver"):
        decay_fit(optimizer_options={"tr_solver": "none such"})


# -- what is refused -----------------------------------------------------------------------------------


def needs_arrays(t, y, rate):
    return -rate * y[::-1][::-1] * np.ones(1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"executor": threading}, "executor= .all starts go to the GPU together"),
        ({"tstops": [1.0]}, "events= and tstops="),
        (
            {"y0": lambda rate: (rate,), "fit_y0": False, "bounds": None, "starts": 1},
            "y0= as a function",
        ),
        ({"mass_matrix": np.eye(1), "method": "Rodas5P"}, "mass_matrix="),
        ({"jac_sparsity": np.eye(1), "method": "Rodas5P"}, "jac_sparsity="),
        ({"sensitivity": "adjoint"}, 'sensitivity="adjoint"'),
        ({"method": "BDF"}, "method='BDF'; explicit"),
        ({"method": "VelocityVerlet", "first_step": 0.1}, "method='VelocityVerlet'"),
    ],
)
def test_what_has_no_code_is_refused_by_name(options, said, closed_form):
    with pytest.raises(ModelError, match=rf'device="cuda" has no code for {said}.* device="cpu"'):
        decay_fit(**options)
    assert not ClosedForm.asked


def test_experiments_with_doses_and_arrays_are_refused(closed_form):
    dosed = [Experiment(T, T, y0=[1.0], doses=[(1.0, 0, 1.0)], name="one")]
    with pytest.raises(ModelError, match="no code for experiments= with doses"):
        fit_ode(decay, None, None, {"rate": 1.0}, experiments=dosed, device="cuda")
    with pytest.raises(ModelError, match="no code for fun whose state is an array"):
        fit_ode(needs_arrays, T, T, {"rate": 1.0}, y0=[1.0], device="cuda")


def test_there_are_two_devices():
    with pytest.raises(ModelError, match="device must be one of 'cpu', 'cuda'; got 'gpu'"):
        decay_fit(device="gpu")


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(
        DeviceError, match='"cuda" needs an NVIDIA GPU .* device="cpu", the default'
    ):
        decay_fit()


# -- on a GPU ------------------------------------------------------------------------------------------


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu():
    options = {"bounds": {"rate": (0.01, 4.0)}, "starts": 12, "seed": 1}
    found = blowing_up_fit(device="cuda", **options)
    assert not all(np.isfinite(one.cost) for one in found.starts)
    agree(found, blowing_up_fit(**options))
    evaluations_agree(found)
