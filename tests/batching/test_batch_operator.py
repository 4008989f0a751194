"""`nd.batch` against the plain Python function, element by element, and its complex step."""

import numpy as np
import pytest

import numbad as nd
from tests.batching.programs import PROGRAMS
from tests.reverse import complex_step

LANES = 4  # the batches have 5 and 7 elements: a last block that is not full


def _members(result):
    return result if isinstance(result, tuple) else (result,)


def _weights(i, members):
    return np.array([1.0, -2.0][:members]) * (1.0 + 0.5 * i)


def _floats(args):
    return tuple(
        k
        for k, a in enumerate(args)
        if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
    )


def _expected_gradients(program):
    wrt = _floats(program.args)
    found = [np.zeros(np.shape(program.args[k])) for k in wrt]
    for i in range(program.count()):
        jacobian = complex_step.jacobian(program.f, program.element(i), wrt)
        for k, total, rows in zip(wrt, found, jacobian, strict=True):
            one = np.tensordot(_weights(i, len(rows)), rows, 1)
            if program.axes[k] is None:
                total += one
            else:
                np.moveaxis(total, program.axes[k], 0)[i] += one
    return found


@pytest.mark.deep(
    but=[
        "callee-together",
        "divided-together",
        "early-together",
        "nested-together",
        "short_circuit-together",
        "shared-one-by-one",
        "path-one-by-one",
    ]
)
@pytest.mark.parametrize("lanes", [LANES, None], ids=["together", "one-by-one"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.f.__name__)
class TestPrograms:
    def test_values(self, program, lanes):
        found = _members(nd.batch(program.f, program.axes, lanes=lanes)(*program.args))
        for i in range(program.count()):
            expected = _members(program.f(*program.element(i)))
            assert tuple(member[i] for member in found) == expected  # to the last bit
            plain = _members(program.f.py_func(*program.element(i)))
            np.testing.assert_allclose(expected, plain, rtol=1e-14)

    def test_gradient(self, program, lanes):
        wrt = _floats(program.args)
        batch = nd.batch(program.f, program.axes, lanes=lanes)
        members = len(_members(program.f(*program.element(0))))
        weights = np.array([_weights(i, members) for i in range(program.count())]).T
        cotangent = tuple(weights) if members > 1 else weights[0]
        _, found = nd.vjp(batch, wrt)(program.args, cotangent)
        for k, mine, expected in zip(wrt, found, _expected_gradients(program), strict=True):
            np.testing.assert_allclose(
                mine, expected, rtol=1e-12, atol=1e-14, err_msg=f"argument {k}"
            )
