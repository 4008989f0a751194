"""`nd.batch` against the plain Python function, element by element, and its complex step."""

import numba
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


@numba.njit
def _scaled(x, p):
    s = p[0]
    s *= x  # a number: nothing of p is written to
    return s


def _energy(x, p):
    s = _scaled(x, p)
    s += p[1]
    return s * s


def _row(x, m):
    r = m[0]
    r *= x
    return r[0]


def _first_a_number(x, p):
    s = p[0]
    s *= x
    t = s
    s = p
    s[1] = t
    return s[1]


@numba.njit
def _put(*rest):
    rest[0][0] = 2.0


def _handed_on(x, p):
    _put(p)
    return p[0] * x


def test_a_number_from_an_array_is_changed_alone():
    """By its types: without them `s` might be a row of `p`."""
    batch = nd.batch(_energy, (0, None))
    x, p = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    np.testing.assert_allclose(batch(x, p), [3.5**2, 6.5**2])
    _, (by_x, by_p) = nd.vjp(batch)((x, p), np.ones(2))
    np.testing.assert_allclose(by_x, [2 * 3.5 * 3.0, 2 * 6.5 * 3.0])
    np.testing.assert_allclose(by_p, [2 * 3.5 + 2 * 6.5 * 2.0, 2 * 3.5 + 2 * 6.5])
    for f, shared in ((_row, np.ones((2, 2))), (_first_a_number, p), (_handed_on, p)):
        with pytest.raises(nd.UnsupportedError, match="may change its argument"):
            nd.batch(f, (0, None))(x, shared)


@pytest.mark.parametrize(
    ("operator", "by_a"),
    [
        (lambda a, x: nd.root(lambda y, b: y * y - b, 1.0, (a,)) * x, 0.5 / 0.49**0.5),
        (lambda a, x: nd.grad(lambda y: y * y * y)(a) * x, 6 * 0.49),
    ],
    ids=["root", "grad"],
)
def test_operators_of_what_is_shared_go_one_by_one(operator, by_a):
    """Their results are numbers, but the cotangents of these are lanes."""
    x = np.arange(1.0, 6.0)
    batch = nd.batch(operator, (None, 0))
    for mode in ("forward", "reverse"):
        found = nd.grad(lambda a: batch(a, x).sum(), mode=mode)(0.49)
        assert found == pytest.approx(by_a * x.sum(), rel=1e-12)
    in_lanes = nd.batch(operator, (None, 0), lanes=LANES)
    with pytest.raises(nd.UnsupportedError, match=f"cannot run in {LANES} lanes"):
        nd.grad(lambda a: in_lanes(a, x).sum(), mode="reverse")(0.49)


@numba.njit
def cubed(x):
    return x * x * x


nd.scalar_rule(cubed, lambda ans, x: 7.0 * x * x)


@pytest.mark.parametrize("lanes", ["auto", None])
def test_the_rule_of_the_function_itself(lanes):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    batch = nd.batch(cubed, lanes=lanes)
    np.testing.assert_array_equal(batch(x), x**3)
    for mode in ("forward", "reverse"):
        found = nd.grad(lambda x: batch(x).sum(), mode=mode)(x)
        np.testing.assert_array_equal(found, 7.0 * x * x)
    of_gradients = nd.batch(nd.value_and_grad(cubed), lanes=lanes)(x)
    np.testing.assert_array_equal(of_gradients[1], 7.0 * x * x)


def test_a_function_with_a_rule_does_not_run_in_lanes():
    with pytest.raises(nd.UnsupportedError, match="cubed cannot run in 16 lanes"):
        nd.batch(cubed, lanes=16)(np.ones(4))
