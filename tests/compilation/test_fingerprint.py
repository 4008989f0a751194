"""Digests differ where code differs, though name, place and bytecode agree."""

import types
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.compilation.fingerprint import fingerprint
from numbad.fit import evaluate

Given = namedtuple("Given", "a b")


def with_globals(function, **names):
    return types.FunctionType(function.__code__, {**function.__globals__, **names}, "made")


def generated(value):
    """A function made as `exec` does without a module's name: it counts as one of `builtins`."""
    scope = {"value": value}
    exec("def made(x):\n    return value * x\n", scope)
    return scope["made"]


def with_default(value):
    return lambda x, y=value: x * y


def with_keyword(value):
    def function(x, *, y=value):
        return x * y

    return function


def trying(inside):
    """The same instructions but for what the `try` covers."""
    if inside:

        def function(x):
            try:
                y = 1.0 / x
            except Exception:
                y = 0.0
            return y
    else:

        def function(x):
            y = 1.0 / x
            return y

    return function


DIFFERENT = {
    "globals of a generated function": (generated(1.0), generated(2.0)),
    "globals in a library's place": (
        with_globals(evaluate._evaluate, curve=njit(lambda x: x)),
        with_globals(evaluate._evaluate, curve=njit(lambda x: -x)),
    ),
    "defaults": (with_default(1.0), with_default(2.0)),
    "keywords": (with_keyword(1.0), with_keyword(2.0)),
    "exceptions": (trying(True), trying(False)),
    "zeros": (generated(0.0), generated(-0.0)),
    "types": (generated(1), generated(1.0)),
    "truth": (generated(1), generated(True)),
    "precision": (generated(np.float32(1)), generated(np.float64(1))),
    "dtypes": (generated(np.dtype("f4")), generated(np.dtype("f8"))),
    "arrays": (generated(np.zeros(2000)), generated(np.r_[np.zeros(1999), 1.0])),
    "shapes": (generated(np.zeros((2, 3))), generated(np.zeros((3, 2)))),
    "nesting": (generated(((1, 2), 3)), generated((1, (2, 3)))),
    "options": (njit(generated(1.0)), njit(fastmath=True)(generated(1.0))),
    "sets of options": (
        njit(fastmath={"nnan"})(generated(1.0)),
        njit(fastmath={"contract"})(generated(1.0)),
    ),
    "checkpoints": (nd.checkpoint(njit(generated(1.0))), nd.checkpoint(njit(generated(2.0)))),
    "operators": (nd.grad(generated(1.0)), nd.grad(generated(2.0))),
    "modes": (nd.grad(generated(1.0), mode="reverse"), nd.grad(generated(1.0), mode="forward")),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_code_has_different_digests(name):
    first, second = map(fingerprint, DIFFERENT[name])
    assert first is not None
    assert second is not None
    assert first != second


def test_equal_code_has_equal_digests():
    for value in (1.0, (1.0, "a"), np.arange(3), Given, Given(1, 2), np.float32(2), {1, 2}):
        assert fingerprint(generated(value)) == fingerprint(generated(value)) is not None


def test_whether_equal_constants_are_one_object_does_not_matter():
    one, other = (1000.0, "long" * 10), (float("1000"), "".join(["long"] * 10))
    assert fingerprint((one, one)) == fingerprint((one, other))


def test_what_has_no_content_has_no_digest():
    assert fingerprint(generated(object())) is None
    assert fingerprint(generated(np.array([object()]))) is None
    assert fingerprint(generated(open)) is not None  # it has a name that others know
