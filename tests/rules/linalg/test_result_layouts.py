"""Results of arrays of dual numbers lie in memory as those of floats: views and copies are taken alike."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numba.extending import overload

import numbad as nd
from numbad.forward.layout import in_layout


def layout_of(a):
    """The letter of an array's layout, as its type tells it, as a number."""
    raise NotImplementedError


@overload(layout_of)
def _layout_of(a):
    letter = float(ord(a.layout))
    return lambda a: letter


def layouts(p):
    a = np.array([[2.0 + p, p, 0.3], [p, 1.5, p], [0.1, p * p, 1.0]])
    q, r = np.linalg.qr(a)
    turned = layout_of(a.T.conj()), layout_of(np.exp(a.T)), layout_of(a.T + a.T)
    return layout_of(np.linalg.inv(a)), layout_of(q), layout_of(r), *turned


@pytest.mark.dear
def test_results_of_duals_lie_as_those_of_floats():
    found, _ = nd.jvp(layouts)((0.5,), (1.0,))
    assert "".join(map(chr, map(int, found))) == "".join(map(chr, map(int, njit(layouts)(0.5))))


def of_an_inverse(p):
    u = np.linalg.inv(np.array([[p, 1.0], [0.0, 1.0]]))
    return np.asfortranarray(u)[0, 1] ** 2 + np.ascontiguousarray(u.T)[1, 0] * u.T.reshape(4)[2]


def of_a_triangle(p):
    s = np.ascontiguousarray(np.linalg.qr(np.array([[1.0, p], [0.0, 1.0]]))[1].T)
    return s[1, 0] ** 2


def of_a_turned_conjugate(p):
    z = np.array([[p + 1j, p * p], [1.0 + 0.0j, p * 1j]])
    return (
        np.asfortranarray(z.T.conj())[0, 1].real ** 2
        + np.ascontiguousarray(z.T.conj().T)[0, 1].real
    )


@pytest.mark.deep(but=["of_an_inverse*", "of_a_turned*"])
@pytest.mark.parametrize(
    ("f", "first", "second"),
    [
        (of_an_inverse, -4 / 0.5**3, 12 / 0.5**4),
        (of_a_triangle, 2 * 0.5, 2.0),
        (of_a_turned_conjugate, 2 * 0.5, 2.0),
    ],
)
def test_second_derivatives_through_views_of_results(f, first, second):
    assert nd.grad(f, mode="forward")(0.5) == pytest.approx(first, rel=1e-12)
    assert nd.hessian(f, mode="reverse")(0.5) == pytest.approx(second, rel=1e-12)


def test_a_known_layout_is_not_taken_for_another():
    fortran = in_layout("F")
    with pytest.raises(TypingError, match="whose derivatives are in C's order"):
        njit(lambda a: fortran(a)[0, 1])(np.ones((2, 2)))
    assert njit(lambda a: fortran(a)[0])(np.ones(2)) == 1.0
