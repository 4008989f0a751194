"""Values that are read again in the array that holds them, and what only looks as if it did."""

import numpy as np
import pytest

import numbad as nd
from asv_bench.benchmarks.problems import network
from numbad.reverse import switches
from tests.reverse.oracle import Programs, check_gradient, check_second_order
from tests.reverse.stages import sweep_of

X = np.array([0.5, -1.25, 0.75, 1.5, -0.3])
M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6], [-1.2, 0.7, 0.2], [0.1, 0.6, -0.4]])
S = np.array([[2.1, 0.3, 0.7], [0.4, 1.5, 0.2], [0.9, 0.1, 3.1]])

programs = Programs()
spared = {}  # name -> whether its innermost loops need record nothing


def recording(nothing, *runs):
    def mark(f):
        spared[f.__name__] = nothing
        return programs.on(*runs)(f)

    return mark


@recording(True, (M, X), (M[:0], X))
def elements_of_their_own(m, x):
    waves = np.empty(m.shape)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            waves[i, j] = np.tanh(m[i, j] * x[j])
    return (waves * waves).sum()


@recording(True, (X,), (X[:1],))
def turned_numbers(x):
    waves = np.zeros(x.size)
    for i in range(x.size - 1, -1, -1):
        waves[i] = np.exp(x[i])
    return waves.sum() * waves[-1]


@recording(False, (X,))
def one_element_for_two(x):
    waves = np.empty(3)
    for i in range(-2, 3):  # the last two from the end are 1 and 2 again
        waves[i] = np.exp(x[i])
    return waves[0] * waves[1] + waves[2] * waves[2]


@recording(False, (X,))
def written_again(x):
    waves = np.empty(x.size)
    for i in range(x.size):
        waves[i] = np.exp(x[i])
    y = waves[1] * waves[2]
    waves[2] = y
    return waves.sum() * y


@recording(False, (X,))
def written_by_another_name(x):
    waves = np.empty(x.size)
    for i in range(x.size):
        waves[i] = np.exp(x[i])
    y = waves[1] * waves[2]
    shown = waves[1:]
    shown *= y
    return waves.sum() * y


@recording(False, (M,))
def a_row_for_all(m):
    last = np.empty(m.shape[1])
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            last[j] = np.exp(m[i, j])
    return last[0] * last[1] + last[2]


@recording(False, (X,))
def another_loop_round(x):
    waves, y = np.empty(x.size), 1.0
    for k in range(3):
        for i in range(x.size):
            waves[i] = np.exp(0.1 * x[i] * y)
        y = waves[0] * waves[1] + 0.1 * k
    return waves.sum() * y


@recording(False, (X, M))
def swapped_handles(x, m):
    a, b = np.empty(3), np.empty(3)
    for i in range(m.shape[0]):
        for j in range(3):
            a[j] = np.sin(m[i, j] * x[j])
        a, b = b, a
    return a[0] * b[1] + a[2] * b[2]


@programs.on((S, M[:2]), (S.T, M[::-2]))
def products_of_what_changes(w, x):
    """The first factor of the second product is made anew, that of the last is written to."""
    h = np.tanh(x @ w)
    h = np.tanh(h @ w)
    z = h @ w
    h *= z
    return (h @ w).sum() * z.sum()


@pytest.mark.deep(but=["a_row_for_all", "elements_of_their_own", "written_by_another_name"])
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@pytest.mark.deep(but=["a_row_for_all", "written_again"])
@pytest.mark.shows("stored", "counted")
@pytest.mark.parametrize("name", spared)
def test_what_is_recorded(name):
    (program,) = (p for p in programs if p.f.__name__ == name)

    def frames():
        return sum(map(len, sweep_of(program.f, program).plan.frames.values()))

    with switches.without("stored"):
        before = frames()
    assert before > 0
    assert (frames() == 0) == spared[name]


def test_single_precision_is_not_read_for_double():
    def rounded(x):
        held = np.empty(x.size, np.float32)
        total = 0.0
        for i in range(x.size):
            wave = np.exp(x[i])
            held[i] = wave
            total += wave * wave
        return total * total + held[0]

    found = nd.grad(rounded, mode="reverse")(X)
    exact = 4.0 * np.exp(2.0 * X) * np.exp(2.0 * X).sum()
    exact[0] += np.exp(X[0])
    np.testing.assert_allclose(found, exact, rtol=1e-14)


# -- a network, whose products read what earlier layers made ----------------------------------------


@pytest.mark.deep(but=["tanh"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_gradient_of_a_network(activation):
    *weights, x, labels = network.draw(np.random.default_rng(0))
    arguments = *weights, x[:5], labels[:5]
    loss = getattr(network, f"with_{activation}")
    value, gradient = nd.value_and_grad(loss, network.ARGNUMS, mode="reverse")(*arguments)
    exact, by_hand = network.by_hand(activation)(*arguments)
    assert value == pytest.approx(exact, rel=1e-13)
    for found, expected in zip(gradient, by_hand, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-15)
