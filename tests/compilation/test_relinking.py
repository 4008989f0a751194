"""Code around users' functions that was compiled for others is the code that would be compiled afresh."""

import inspect
import re

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.compilation import template_cache
from numbad.ode.methods import METHODS

pytestmark = pytest.mark.usefixtures("nothing_kept")
Y0 = 1.0, 0.5
RATES = 1.3, 0.2


def oscillator(form):
    if form == "arrays":

        def fun(t, y, dy, a, b):
            dy[0] = y[1]
            dy[1] = -a * y[0] - b * y[1]

    elif form == "lists":

        def fun(t, y, a, b):
            return [y[1], -a * y[0] - b * y[1]]

    else:

        def fun(t, y, a, b):
            return y[1], -a * y[0] - b * y[1]

    return numba.njit(fun)


def decay(form):
    """Nothing that the oscillator has: not linear, it reads the time, branches, calls, holds an array."""
    table = np.array([0.5, 0.25])

    @numba.njit
    def rate(t, b):
        total = 0.0
        for k in range(len(table)):
            total += table[k] * b
        return total + 0.1 * t if t > 0.5 else total

    if form == "arrays":

        def fun(t, y, dy, a, b):
            for i in range(len(y)):
                dy[i] = -rate(t, b) * a * y[i] ** 2

    elif form == "lists":

        def fun(t, y, a, b):
            return [-rate(t, b) * y[0], -rate(t, a) * y[1]]

    else:

        def fun(t, y, a, b):
            return -rate(t, b) * y[0], -rate(t, a) * y[1]

    return numba.njit(fun)


def start(form):
    return np.array(Y0) if form == "arrays" else Y0


def solve(fun, form, **options):
    options = {"first_step": 0.01, "inplace": form == "arrays", **options}
    return nd.ode.solver(fun, **options)(start(form), (0.0, 0.7, 1.0), RATES)


def jacobian(fun, form, **options):
    solution = nd.ode.solver(fun, inplace=form == "arrays", first_step=0.01, **options)
    y0 = start(form)

    def end(rates):
        return solution(y0, (0.0, 1.0), (rates[0], rates[1]))[-1]

    return nd.jacobian(end, mode="forward")(np.array(RATES))


def gradient(fun, form, **options):
    solution = nd.ode.solver(fun, inplace=form == "arrays", first_step=0.01, **options)
    y0 = start(form)

    def end(rates):
        return solution(y0, (0.0, 1.0), (rates[0], rates[1]))[-1, 0]

    return nd.grad(end, mode="reverse")(np.array(RATES))


def falls(fun, form, **options):
    @numba.njit
    def low(t, y, a, b):
        return y[0] - 0.9 - 0.01 * a

    return solve(fun, form, events=nd.ode.event(low, terminal=True), **options)


def steps(fun, form, **options):
    found = nd.ode.solve_ivp(fun, (0.0, 1.0), Y0, args=RATES, dense_output=True, **options)
    return found.sol(np.array([0.3, 0.6]))


NUMBERED = re.compile(
    r"pickle(?:buf|data)\.[0-9a-f]+(\.\d+)*|B\d+v\d+|array_expr_0x[0-9a-f]+|(?<=\w)\.\d{19}\b"
)
COUNTED = re.compile(
    r'(\.const\.[\w.]+?)(\.\d+)*(?![\w.])|%[\w.]+|%"[^"]+"|^B\d+[\w.]*:.*$|!\S+|#\d+', re.M
)


def definitions(text):
    """The functions in a module's text, without the numbers of names, and the constants."""
    text = COUNTED.sub(lambda found: found[1] or "", NUMBERED.sub("", text))
    text = re.sub(r" ; preds.*$", "", text, flags=re.M)
    return sorted(re.findall(r"^define.*?^}", text, re.M | re.S))


def check_that_it_is_the_same(do, form, came, names, **options):
    """`do` on a second function takes what was compiled for the first, and gives what it would without."""
    do(oscillator(form), form, **options)
    assert "relinked" not in [how for how, _, _ in came]
    came.clear()
    result = do(decay(form), form, **options)
    taken = {name: text for how, name, text in came if how == "relinked"}
    assert names <= {name.rpartition(".")[2] for name in taken}
    template_cache._templates.clear()
    came.clear()
    expected = do(decay(form), form, **options)
    afresh = {name: text for how, name, text in came if how == "afresh"}
    for name, text in taken.items():
        assert definitions(text) == definitions(afresh[name])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.deep(but=["Tsit5-tuples"])
@pytest.mark.parametrize("form", ["tuples", "arrays", "lists"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_solutions(method, form, came):
    if method in ("VelocityVerlet", "McLachlanAtela4"):
        pytest.skip("the second function is not separable")
    check_that_it_is_the_same(solve, form, came, {"integrate"}, method=method)


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5-tuples"])
@pytest.mark.parametrize("form", ["tuples", "arrays"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "RadauIIA5", "BDF", "AutoTsit5"])
def test_partials(method, form, came):
    check_that_it_is_the_same(jacobian, form, came, {"integrate"}, method=method)


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5-tuples-None"])
@pytest.mark.parametrize("checkpoints", [None, 4])
@pytest.mark.parametrize("form", ["tuples", "arrays"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "KenCarp4", "BDF"])
def test_records_and_the_way_back(method, form, checkpoints, came):
    names = {"sweep", "stretch" if checkpoints else "integrate"}
    options = {"method": method, "checkpoints": checkpoints, "adjoint": "discrete"}
    check_that_it_is_the_same(gradient, form, came, names, **options)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["interpolating", "gauss", "quadrature", "backsolve"])
def test_continuous_adjoints(adjoint, came):
    names = {"backwards", "integrate" if adjoint == "backsolve" else "record"}
    check_that_it_is_the_same(gradient, "tuples", came, names, adjoint=adjoint)


@pytest.mark.deep
def test_events(came):
    check_that_it_is_the_same(falls, "tuples", came, {"integrate", "search"})


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_dense_output(method, came):
    check_that_it_is_the_same(steps, "tuples", came, {"record"}, method=method)


def with_jacobian(fun, form, **options):
    return solve(fun, form, jac=numba.njit(jacobian_of(fun)), **options)


def jacobian_of(fun):
    if len(inspect.getclosurevars(fun.py_func).nonlocals) == 0:
        return lambda t, y, a, b: np.array([[0.0, 1.0], [-a, -b]])
    rate = inspect.getclosurevars(fun.py_func).nonlocals["rate"]
    return lambda t, y, a, b: np.array([[-rate(t, b), 0.0], [0.0, -rate(t, a)]])


@pytest.mark.dear
@pytest.mark.deep(but=["BDF"])
@pytest.mark.parametrize("method", ["BDF", "RadauIIA5", "KenCarp4"])
def test_given_jacobians(method, came):
    check_that_it_is_the_same(with_jacobian, "tuples", came, {"integrate"}, method=method)


@pytest.mark.dear
def test_a_given_jacobian_of_a_rosenbrock_method(came):
    """Its code depends on whether the right-hand side reads the time."""

    def run(fun, jac):
        came.clear()
        got = solve(numba.njit(fun), "tuples", jac=numba.njit(jac), method="Rosenbrock23")
        return got[-1], [how for how, *_ in came]

    run(lambda t, y, a, b: (y[1], -a * y[0]), lambda t, y, a, b: np.array([[0.0, 1.0], [-a, 0.0]]))
    decays = lambda t, y, a, b: np.array([[-a, 0.0], [0.0, -b]])  # noqa: E731
    assert run(lambda t, y, a, b: (-a * y[0], -b * y[1]), decays)[1] == ["relinked"]
    got, how = run(lambda t, y, a, b: (-a * y[0] + b * t, -b * y[1]), decays)
    assert how == ["afresh"]
    a, b = RATES
    exact = (Y0[0] + b / a**2) * np.exp(-a) + b / a - b / a**2
    np.testing.assert_allclose(got, [exact, Y0[1] * np.exp(-b)], 1e-4)


@pytest.mark.deep
def test_patterns_and_masses(came):
    options = {"method": "Rodas5P", "jac_sparsity": np.array([[1, 1], [1, 1]])}
    check_that_it_is_the_same(solve, "tuples", came, {"integrate"}, **options)
    options = {"method": "Rodas5P", "mass_matrix": np.array([[2.0, 0.0], [0.0, 1.0]])}
    check_that_it_is_the_same(solve, "tuples", came, {"integrate"}, **options)


@pytest.mark.dear
def test_what_returns_other_types_is_compiled_afresh(came):
    @numba.njit
    def whole(t, y, a, b):
        return y[1], 1

    solve(oscillator("tuples"), "tuples")
    came.clear()
    got = solve(whole, "tuples")
    assert [how for how, _, _ in came] == ["afresh"]
    np.testing.assert_allclose(got[-1], [1.0 + 0.5 + 0.5, 1.5], rtol=1e-12)
    came.clear()
    solve(decay("tuples"), "tuples")  # what was compiled first is still there
    assert [how for how, _, _ in came] == ["relinked"]


@pytest.mark.dear
def test_divisions_are_those_of_the_solver(came):
    """A function without an error model of its own has that of the code around it: 1 / 0 is inf."""

    @numba.njit
    def divides(t, y, a, b):
        return y[1], -a * y[0] + min(1.0 / (t - t), 0.0)

    steps(oscillator("tuples"), "tuples")
    came.clear()
    assert steps(divides, "tuples").shape == (2, 2)
    assert [how for how, _, _ in came] == ["relinked"]


@pytest.mark.dear
def test_errors_are_those_of_the_second_function(came):
    solve(oscillator("tuples"), "tuples")

    @numba.njit
    def stops(t, y, a, b):
        if t > 0.5:
            raise ValueError("past the end of the road")
        return y[1], -a * y[0]

    @numba.njit
    def short(t, y, a, b):
        return (y[0],)

    came.clear()
    with pytest.raises(ValueError, match="past the end of the road"):
        solve(stops, "tuples")
    assert [how for how, _, _ in came] == ["relinked"]
    with pytest.raises(nd.ModelError, match="2 in all; it returns 1"):
        solve(short, "tuples")
    with pytest.raises(nd.ModelError, match="undefined_name"):
        solve(numba.njit(lambda t, y, a, b: (undefined_name, a)), "tuples")  # noqa: F821


def test_numbers_in_errors_of_a_later_function():
    """They are put in as it raises, with what Numba keeps for the function that does."""

    def unpacked(t, y, rate):
        x, v, w = y
        return v, -rate * x, w

    def read(t, y, rate):
        return y[1], -rate * y[0], rate

    def solve(fun):
        return nd.ode.solver(fun)(np.ones(2), np.arange(3.0), (0.5,))

    with pytest.raises(ValueError):  # noqa: PT011 (Numba says nothing)
        solve(unpacked)
    with pytest.raises(nd.ModelError, match="2 in all; it returns 3"):
        solve(read)


@pytest.mark.dear
def test_a_jump_is_warned_of_in_the_second_function():
    @numba.njit
    def dosed(t, y, a, b):
        return y[1], (-a * y[0] if t > b else 0.0)

    jacobian(oscillator("tuples"), "tuples")
    with pytest.warns(nd.ControlDependenceWarning, match="if t > b"):
        jacobian(dosed, "tuples")


def test_what_prints_is_printed(capfd, came):
    @numba.njit
    def tells(t, y, a, b):
        if t == 0.0:
            print("begins with", a)
        return y[1], -a * y[0]

    solve(oscillator("tuples"), "tuples")
    came.clear()
    solve(tells, "tuples")
    assert [how for how, _, _ in came] == ["relinked"]
    assert "begins with 1.3" in capfd.readouterr().out
