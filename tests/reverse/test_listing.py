"""What `nd.inspect_adjoint` tells: by hand, and by running it against dual numbers."""

import inspect

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.compilation.caching import SWITCHED_OFF
from numbad.reverse.ops.array import Load
from numbad.reverse.switches import without
from numbad.source import define
from tests.reverse import listed_functions as functions
from tests.reverse.callees import NAMES
from tests.reverse.listed import run
from tests.reverse.programs import random_program
from tests.reverse.three_way import PLAIN, arguments

SETTLED = """\
adjoint of settled, listed_functions.py line 15

arguments
    x        float64  adjoint: x_bar, returned
    y        float64  adjoint: y_bar, returned
    n        int64    constant
    returns  float64  cotangent: seed

loops
    line 17  as a whole  over its range  an iteration needs y, x of the one before

tape
    loop at line 17  16 bytes an iteration  y, %1

values needed on the way back
    recorded  y

without derivative
    n, i

forward sweep
    # 17  for i in range(n):
    for _ in range(n):
        if y > 1.0:    # 18
            # 19  y = y * math.exp(-x)
            %1 = math.exp(-x)
            y.1 = y * %1
        else:
            y.1 = y
        # 20  x += 0.5 * y
        x = x + 0.5 * y.1
        record y, %1    # 16 bytes
        y = y.1
    # 21  return x
    result = x

reverse sweep
    # 21  return x
    result_bar = seed
    x_bar = result_bar
    # 17  for i in range(n):
    for _ in range(n):
        reload y, %1
        y_bar.1 = y_bar
        # 20  x += 0.5 * y
        y_bar.1 += x_bar * 0.5
        if y > 1.0:    # came from line 19
            # 19  y = y * math.exp(-x)
            y_bar = y_bar.1 * %1
            x_bar -= y_bar.1 * y * %1
        else:
            y_bar = y_bar.1
    return (result, (x_bar, y_bar, None))"""


def plain(f):
    return f.py_func if hasattr(f, "py_func") else f


def by_name(f, args):
    return dict(zip(inspect.signature(plain(f)).parameters, args, strict=True))


def lines(listing, part):
    """The numbers of the source lines that a part of a listing mentions."""
    start = listing.index(f"\n{part}\n")
    end = listing.find("\nreverse sweep\n", start + 1)
    found = set()
    for line in listing[start : end if end > start else None].splitlines():
        mark = line.partition("# ")[2].split()
        found |= {int(mark[0])} if mark and mark[0].isdigit() else set()
    return found


# -- by hand -----------------------------------------------------------------------------------


def test_listing_that_was_checked_by_hand(monkeypatch):
    monkeypatch.delenv(SWITCHED_OFF, raising=False)
    assert nd.inspect_adjoint(functions.settled, 0.7, 3.0, 5) == SETTLED


def test_linear_loop_records_nothing():
    with without("fused"):
        listing = nd.inspect_adjoint(functions.weighted, np.ones(3), 2.0)
    assert "loop at line 27  0 bytes an iteration" in listing
    assert "record " not in listing
    assert "w_bar += s_bar * a[i]" in listing


def test_recorded_values_are_those_of_the_frames():
    listing = nd.inspect_adjoint(functions.backwards, np.ones(5), 5)
    assert "8 bytes an iteration  s\n" in listing
    assert "record s    # 8 bytes" in listing
    assert "reload s\n" in listing
    assert "recorded  s\n" in listing


def test_every_active_line_is_in_both_sweeps():
    with without("fused"):
        listing = nd.inspect_adjoint(functions.in_place, np.ones(3), 0.5)
    assert lines(listing, "forward sweep") >= {75, 77, 80}
    assert lines(listing, "reverse sweep") >= {75, 77, 80}


def test_inactive_lines_are_not_in_the_reverse_sweep():
    listing = nd.inspect_adjoint(functions.early, 1.1, 9)
    assert {60, 62} <= lines(listing, "forward sweep")
    assert not {60, 62} & lines(listing, "reverse sweep")


def test_argnums_makes_others_constant():
    listing = nd.inspect_adjoint(functions.weighted, np.ones(3), 2.0, argnums=1)
    assert "a        array(float64, 1d, C)  constant" in listing
    assert "a_bar" not in listing
    assert "return (result, (None, w_bar))" in listing


def test_callees_are_marked_with_their_calls():
    listing = nd.inspect_adjoint(functions.calls, 1.2, 0.7)
    assert "# 40 > helper:34  w = u * v" in listing
    assert "# 41 > helper:34  w = u * v" in listing


def test_checkpointed_rules_and_recursive_calls_are_named():
    assert "pullback[step]((x,)," in nd.inspect_adjoint(functions.stepped, 1.2)
    listing = nd.inspect_adjoint(functions.factorial, 1.5, 4)
    assert "forward[factorial](" in listing
    assert "reverse[factorial](" in listing


def test_a_checkpointed_function_is_listed_itself():
    assert "adjoint of step," in nd.inspect_adjoint(functions.recomputed, 1.2)


def test_plain_functions_and_functions_as_arguments():
    def applied(f, x):
        return f(x) * x

    listing = nd.inspect_adjoint(applied, functions.step, 2.0)
    assert "> step:" in listing
    assert "return (result, (None, x_bar))" in listing


def test_defaults_and_any_number_of_arguments():
    def scaled(x, factor=3.0):
        return x * factor

    assert "factor   float64  adjoint: factor_bar" in nd.inspect_adjoint(scaled, 1.0)

    def summed(x, *rest):
        for y in rest:
            x += y * y
        return x

    listing = nd.inspect_adjoint(summed, 1.0, 3.0, 4.0)
    assert "return (result, (x_bar, (rest_bar[0], rest_bar[1])))" in listing


# -- run ---------------------------------------------------------------------------------------


@pytest.mark.deep(
    but=[
        "backwards",
        "calls",
        "early",
        "fields",
        "in_place",
        "nested",
        "raising",
        "skipping",
        "swapped",
    ]
)
@pytest.mark.parametrize("f", functions.RUN, ids=lambda f: f.__name__)
def test_running_the_listing_gives_the_derivative(f):
    args = functions.RUN[f]
    value, adjoints = run(nd.inspect_adjoint(f, *args), by_name(f, args))
    wrt = tuple(k for k, v in enumerate(args) if not isinstance(v, int))
    expected, derivative = nd.value_and_grad(f, wrt, mode="forward")(*map(copied, args))
    assert value == pytest.approx(expected, rel=1e-14)
    for k, wanted in zip(wrt, derivative, strict=True):
        found = adjoints[list(adjoints)[k]]
        np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=1e-12, atol=1e-15)


def copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def test_running_the_listing_of_a_complex_function():
    value, adjoints = run(nd.inspect_adjoint(functions.modulus, 1 + 2j), {"z": 1 + 2j})
    assert value == functions.modulus(1 + 2j)
    h = 1e-6
    by_real, by_imag = (
        (functions.modulus(1 + 2j + d) - functions.modulus(1 + 2j - d)) / (2 * h)
        for d in (h, h * 1j)
    )
    assert adjoints["z"] == pytest.approx(by_real - 1j * by_imag, rel=1e-8)


def test_running_the_listing_of_fields():
    class Zeros:
        k = 0.0

    k, x = 2.0, 3.0
    listing = nd.inspect_adjoint(functions.stiffened, k, x)
    value, adjoints = run(listing, {"k": k, "x": x}, namespace={"allocate": Zeros, "new": Zeros})
    assert value == k * x**3 + k * x
    assert adjoints == {"k": x**3 + x, "x": 3 * k * x**2 + k}


@pytest.mark.shows
def test_long_types_are_cut():
    listing = nd.inspect_adjoint(functions.records, np.zeros(3, functions.RECORD), 2.0)
    assert max(map(len, listing.splitlines())) <= 110
    assert "r_bar[i].m += s_bar * x" in listing


def test_a_wrong_listing_is_found():
    args = functions.RUN[functions.settled]
    listing = nd.inspect_adjoint(functions.settled, *args)
    for right, wrong in [
        ("x_bar -=", "x_bar +="),
        ("reload y, %1", "reload %1, y"),
        ("0.5", "0.25"),
    ]:
        assert right in listing
        changed = run(listing.replace(right, wrong), by_name(functions.settled, args))
        assert changed != run(listing, by_name(functions.settled, args))


def test_the_listing_is_that_of_the_code(monkeypatch):
    def forgetful(op, e):
        if e.pending((op.target, ())):
            e.take((op.target, ()))

    monkeypatch.setattr(Load, "reverse", forgetful)
    assert "a_bar[" not in nd.inspect_adjoint(functions.weighted, np.ones(3), 2.0)


@pytest.mark.deep(but=["1", "15"])
@pytest.mark.parametrize("seed", [1, 2, 10, 15])
def test_running_the_listing_of_a_random_program(seed):
    f = numba.njit(define(random_program(seed).text, NAMES))
    names = ["x", "y", "a", "m", "k", "p"]
    listing = nd.inspect_adjoint(f, *arguments())
    value, adjoints = run(listing, dict(zip(names, arguments(), strict=True)), namespace=NAMES)
    expected, gradient = nd.value_and_grad(f, PLAIN.wrt, mode="reverse")(*arguments())
    assert value == pytest.approx(expected, rel=1e-12)
    for k, wanted in zip(PLAIN.wrt, gradient, strict=True):
        found = np.array(adjoints[names[k]])
        np.testing.assert_allclose(found, np.array(wanted), rtol=1e-9, atol=1e-12)


# -- refusals ----------------------------------------------------------------------------------


def test_refusal():
    with pytest.raises(nd.UnsupportedError, match=r"(?s)as_strided.*listed_functions.py.*Way out"):
        nd.inspect_adjoint(functions.refused, np.eye(2))


def test_result_of_an_operator():
    with pytest.raises(
        nd.UnsupportedError, match="inspect the function that the operator was given"
    ):
        nd.inspect_adjoint(nd.grad(functions.step), 1.0)


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((1, 2.0, 3), {"argnums": 0}, "argument 0 holds no floats"),
        ((1, 2, 3), {}, "no argument holds floats"),
        ((1.0,), {}, "do not fit settled"),
        ((object(), 1.0, 2), {}, "object"),
    ],
)
def test_arguments_that_cannot_be_meant(args, options, message):
    with pytest.raises(nd.ArgumentError, match=message):
        nd.inspect_adjoint(functions.settled, *args, **options)


def test_what_is_no_function():
    with pytest.raises(nd.ArgumentError, match="takes a Python function"):
        nd.inspect_adjoint(3.0, 1.0)
