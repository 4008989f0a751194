"""Special functions in nopython code as SciPy's: numbers, types, arrays; and what is refused."""

import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.special as sp

import numbad as nd
import numbad.special as ns
from numbad.source import define

from .cases import CASES

# SciPy reads these by other code: of its own, or in another order of operations.
OTHERWISE = {"lambertw": 1e-14, "polygamma": 1e-13, "zeta": 1e-14}


def together(cases, arguments):
    """A function that calls every case's function, at its first point."""
    namespace = {f"fn{i}": case.fn for i, case in enumerate(cases)}
    calls = "".join(f"fn{i}({arguments(i, case)}), " for i, case in enumerate(cases))
    return define(f"def together(args):\n    return ({calls})\n", namespace)


def of_tuple(i, case):
    return ", ".join(f"args[{i}][{k}]" for k in range(len(case.points[0])))


@pytest.mark.dear
def test_numbers_are_scipys():
    f = numba.njit(together(CASES, of_tuple))
    rows = zip(*(case.points[:2] for case in CASES), strict=True)
    for row in rows:
        points = tuple(tuple(map(float, point)) for point in row)
        for case, point, found in zip(CASES, points, f(points), strict=True):
            rtol = OTHERWISE.get(str(case), 1e-14)
            np.testing.assert_allclose(found, case.fn(*point), rtol, 0.0, err_msg=str(case))


def test_single_precision_stays_single():
    f = numba.njit(together(CASES, of_tuple))
    points = tuple(tuple(map(np.float32, case.points[0])) for case in CASES)
    signature = numba.typeof(points)
    f.compile((signature,))
    assert set(f.overloads[(signature,)].signature.return_type) == {numba.float32}
    for case, point, found in zip(CASES, points, f(points), strict=True):
        expected = case.fn(*map(float, point))
        np.testing.assert_allclose(found, expected, 1e-6, 1e-30, err_msg=str(case))


def test_integers_are_taken_as_doubles():
    f = numba.njit(lambda n, x: (sp.gamma(n), sp.jv(n, x), ns.polygamma(n, x), sp.xlogy(n, 3)))
    expected = sp.gamma(4), sp.jv(4, 2.5), sp.polygamma(4, 2.5), sp.xlogy(4, 3)
    np.testing.assert_allclose(f(4, 2.5), expected, 1e-14)


@numba.njit
def of_arrays(x, y, out):
    sp.erf(x, out)
    return sp.jv(y, x), ns.airy_ai(x) * 2.0 + sp.xlogy(1.5, x), ns.polygamma(1, x), out


def test_arrays_broadcast():
    x, y = np.linspace(0.2, 3.0, 5)[::-1], np.array([[0.0], [0.5], [3.0]])
    out = np.empty(5)
    found = of_arrays(x, y, out)
    expected = sp.jv(y, x), sp.airy(x)[0] * 2.0 + sp.xlogy(1.5, x), sp.polygamma(1, x), sp.erf(x)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-14)
    assert found[3] is out or found[3].ctypes.data == out.ctypes.data


def test_arrays_of_length_zero():
    assert numba.njit(lambda x: sp.gammaln(x))(np.empty(0)).shape == (0,)


@numba.njit
def summed(x, w):
    values = sp.gammaln(x) * ns.polygamma(1, x) + sp.jv(0.5, x)
    total = 0.0
    for k in range(x.size):
        total += w[k] * values[k]
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_arrays(mode):
    x, w = np.array([0.7, 1.9, 4.2]), np.array([1.0, -2.0, 0.5])
    slope = sp.psi(x) * sp.polygamma(1, x) + sp.gammaln(x) * sp.polygamma(2, x) + sp.jvp(0.5, x)
    np.testing.assert_allclose(nd.grad(summed, mode=mode)(x, w), w * slope, 1e-12)


@numba.njit
def written(x, w):
    """Results go into given arrays, and into the results of calls of constants."""
    out = np.empty(3)
    ns.airy_ai(x, out)
    kept = ns.polygamma(1, w)
    kept[0] = x[1] * sp.erf(w)[0]
    kept[1:] *= out[1:]
    sp.gammaln(x, out)
    return kept[0] * out[0] + kept[1] * out[1] + kept[2]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_what_is_written(mode):
    x, w, h = np.array([0.7, 1.9, 4.2]), np.array([1.0, 2.0, 0.5]), 1e-5
    steps = h * np.eye(3)
    quotient = [(written.py_func(x + s, w) - written.py_func(x - s, w)) / (2 * h) for s in steps]
    np.testing.assert_allclose(nd.grad(written, mode=mode)(x, w), quotient, 1e-8)


@numba.njit
def in_single(x):
    first = sp.erfcx(x) * sp.gammainc(2.5, x) + sp.jv(1.5, x) * ns.airy_bi(x)
    return first + sp.betaln(x, x * x) * sp.ellipk(x) + sp.boxcox(x, 2 * x) * sp.spence(x)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_in_single_precision(mode):
    gradient = nd.grad(in_single, mode=mode)
    found = gradient(np.float32(0.6))
    assert found == pytest.approx(gradient(float(np.float32(0.6))), rel=3e-6)


@numba.njit
def of_outputs(x):
    ai, aip, bi, bip = sp.airy(x)
    s, c = sp.fresnel(x)
    si, ci = ns.sici(x)
    shi, chi = sp.shichi(x)
    return (ai + 2 * aip) * (3 * bi - bip) + s * c + si * ci + shi * chi


def test_functions_of_several_results():
    x, h = 1.3, 1e-5
    assert of_outputs(x) == pytest.approx(of_outputs.py_func(x), rel=1e-13)
    quotient = (of_outputs.py_func(x + h) - of_outputs.py_func(x - h)) / (2 * h)
    for mode in ("forward", "reverse"):
        assert nd.grad(of_outputs, mode=mode)(x) == pytest.approx(quotient, rel=1e-8)


REFUSED = [
    (lambda v: sp.jv(v, 2.0), "jv by argument 1"),
    (lambda v: ns.polygamma(v, 2.0), "polygamma by argument 1"),
    (lambda a: sp.betainc(a, 1.0, 0.5), "betainc by argument 1"),
    (lambda a: sp.betainc(1.0, a, 0.5), "betainc by argument 2"),
    (lambda a: sp.hyp2f1(1.0, 2.0, a, 0.5), "hyp2f1 by argument 3"),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "told"), REFUSED, ids=[told for _, told in REFUSED])
def test_orders_and_parameters_are_refused(f, told, mode):
    with pytest.raises(nd.UnsupportedError, match=f"(?s){told}.*Way out: keep") as caught:
        nd.grad(f, mode=mode)(1.0)
    assert "test_ufunc_compiling.py" in str(caught.value)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_order_of_gammainc_twice_is_refused(mode):
    with pytest.raises(nd.UnsupportedError, match="by its order twice"):
        nd.jvp(nd.grad(lambda a: sp.gammainc(a, 2.0), mode=mode))((1.0,), (1.0,))


def test_complex_numbers_are_refused():
    with pytest.raises(numba.core.errors.TypingError):
        numba.njit(lambda z: sp.erf(z))(1j)


FIRST_USE = """
import numba
import numbad as nd

@numba.njit
def f(x):
    return nd.special.erfcx(x)

assert abs(f(0.5) - 0.6156903441929259) < 1e-15
"""

SCIPYS = """
import scipy.special as sp
import numbad as nd

assert abs(nd.grad(lambda x: sp.erfcx(x), mode="reverse")(0.5) + 0.5126888229025865) < 1e-14
"""


@pytest.mark.dear
@pytest.mark.parametrize("program", [FIRST_USE, SCIPYS], ids=["in compiled code", "of scipy"])
def test_the_first_use_of_a_process(program):
    subprocess.run([sys.executable, "-c", program], check=True)


def test_import_leaves_scipy_special_to_first_use():
    code = "import sys, numbad, numbad.operators; assert 'scipy.special' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_call_whose_result_is_not_used_is_left_out():
    def code_of(f):
        f(0.5)
        (text,) = f.inspect_llvm().values()
        return text

    assert "numbad.function.erf" in code_of(numba.njit(lambda x: sp.erf(x)))
    assert "numbad.function.erf" not in code_of(numba.njit(lambda x: (sp.erf(x), x)[1]))
