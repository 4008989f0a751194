"""Ctrl-C while compiled code raises an exception, which Python tells of by a SystemError."""

import inspect

import pytest

import numbad as nd
from numbad.interrupts import interruptible


@interruptible
def failing(error, cause):
    raise error from cause


def test_an_interrupt_behind_an_error_is_one():
    told = SystemError("<built-in method> returned a result with an exception set")
    with pytest.raises(KeyboardInterrupt):
        failing(told, KeyboardInterrupt())
    with pytest.raises(SystemError):
        failing(told, ValueError())
    with pytest.raises(ValueError, match="wrong"):
        failing(ValueError("wrong"), KeyboardInterrupt())


def _decay(t, y, k):
    return (-k * y[0],)


def test_a_fit_is_interrupted_by_ctrl_c(monkeypatch):
    """As it comes out of compiled code whose call had failed."""

    def evaluate(*_):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("numbad.fit.problem.OdeProblem.evaluate", evaluate)
    with pytest.raises(KeyboardInterrupt):
        nd.fit.fit_ode(_decay, [0.0, 1.0, 2.0], [1.0, 0.6, 0.4], {"k": 0.4})


def test_a_fit_keeps_its_signature():
    assert list(inspect.signature(nd.fit.fit_ode).parameters)[:4] == ["fun", "t", "y", "p0"]
