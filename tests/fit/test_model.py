from collections import namedtuple

import numpy as np
import pytest
from numba import njit

from numbad.errors import ModelError
from numbad.fit.model import Calling, check_right_hand_side, packed, read_parameters


def two(t, y, growth, loss):
    return (growth * y[0] - loss,)


def optional(t, y, growth, loss=2.0):
    return (growth * y[0] - loss,)


def one(t, y, p):
    return (p[0] * y[0] - p[1],)


def many(t, y, *p):
    return (p[0] * y[0] - p[1],)


def none(t, y):
    return (-y[0],)


Rates = namedtuple("Rates", "loss growth")


def read(fun, p0, names=None):
    names, values, calling = read_parameters(fun, p0, names)
    return names, values.tolist(), calling


@pytest.mark.parametrize(
    ("fun", "p0", "names", "values", "calling"),
    [
        (two, [1, 2], ("growth", "loss"), [1, 2], Calling(2, "separate")),
        (njit(two), (1, 2), ("growth", "loss"), [1, 2], Calling(2, "separate")),
        (two, {"loss": 2, "growth": 1}, ("growth", "loss"), [1, 2], Calling(2, "separate")),
        (two, Rates(loss=2, growth=1), ("growth", "loss"), [1, 2], Calling(2, "separate")),
        (optional, [1], ("growth",), [1], Calling(1, "separate")),
        (optional, {"growth": 1}, ("growth",), [1], Calling(1, "separate")),
        (one, [1, 2], ("p[0]", "p[1]"), [1, 2], Calling(2, "tuple")),
        (one, {"k": 1, "m": 2}, ("k", "m"), [1, 2], Calling(2, ("k", "m"))),
        (one, {"lambda": 1, "m": 2}, ("lambda", "m"), [1, 2], Calling(2, "tuple")),
        (one, {"k 1": 1, "m": 2}, ("k 1", "m"), [1, 2], Calling(2, "tuple")),
        (one, Rates(2, 1), ("loss", "growth"), [2, 1], Calling(2, ("loss", "growth"))),
        (one, 1.5, ("p",), [1.5], Calling(1, "separate")),
        (one, {"p": 1.5}, ("p",), [1.5], Calling(1, "separate")),
        (one, {"rate": 1.5}, ("rate",), [1.5], Calling(1, ("rate",))),
        (many, [1, 2], ("p[0]", "p[1]"), [1, 2], Calling(2, "separate")),
        (many, {"k": 1, "m": 2}, ("k", "m"), [1, 2], Calling(2, "separate")),
        (none, [], (), [], Calling(0, "separate")),
        (two, np.array([1, 2]), ("growth", "loss"), [1, 2], Calling(2, "separate")),
    ],
)
def test_parameters_are_bound_by_name_or_in_order(fun, p0, names, values, calling):
    assert read(fun, p0) == (names, values, calling)


def test_given_names_replace_the_others():
    assert read(two, [1, 2], ["a", "b"])[0] == ("a", "b")


@pytest.mark.parametrize(
    ("fun", "p0", "names", "said"),
    [
        (two, [1], None, "two takes 2 parameter\\(s\\) after \\(t, y\\): growth, loss; p0 has 1"),
        (two, [1, 2, 3], None, "p0 has 3"),
        (optional, [1, 2, 3], None, "takes 1 to 2 parameter"),
        (none, [1], None, "none takes 0 parameter"),
        (two, {"growth": 1, "lost": 2}, None, "two has no parameter lost; p0 gives no .* for loss"),
        (two, {"growth": 1, "loss": 2, "dose": 3}, None, r"y0=.*too: \(t, y, growth, loss, dose\)"),
        (two, [1, 2], ["a"], "names: 1 names for 2 parameters"),
        (two, [1, np.nan], None, "p0: loss starts at nan"),
        (two, [1, np.inf], None, "p0: loss starts at inf"),
        (two, ["a", 2], None, "p0: every parameter must be one real number"),
        (two, [[1, 2]], None, "p0: expected a flat list"),
        (lambda t: t, [1], None, r"must take \(t, y, \*parameters\); it takes 1"),
        (3, [1], None, "fun must be a function"),
    ],
)
def test_a_start_that_does_not_fit_the_function_is_refused(fun, p0, names, said):
    with pytest.raises(ModelError, match=said):
        read(fun, p0, names)


@pytest.mark.parametrize("form", ["tuple", ("k", "m")])
def test_source_and_arguments_agree(form):
    calling = Calling(2, form)
    scope = {"Parameters": type(packed(form, (0, 0)))}
    listed = [eval(one, scope) for one in calling.listed(["3.0", "4.0"])]
    assert tuple(listed) == calling.arguments([3, 4])


def test_one_set_of_names_is_one_class():
    assert type(packed(("k", "m"), (1, 2))) is type(packed(("k", "m"), (3, 4)))


@njit
def three(t, y, a):
    return (y[0], a, t)


@njit
def nothing(t, y, a):
    y[0] + a


@njit
def number(t, y, a):
    return a * y[0]


@njit
def undefined(t, y, a):
    return (a * missing(y[0]), 0.0)  # noqa: F821


@njit
def array(t, y, a):
    return np.array([y[0] * a, 1.0, 2.0])


@njit
def pole(t, y, a):
    return (1.0 / (a - 1.0), 0.0)


@njit
def negative_root(t, y, a):
    return (np.sqrt(-a), 0.0)


@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (three, "three returns 3 derivatives, but y has 2 components"),
        (array, "array returns 3 derivatives, but y has 2 components"),
        (number, "number returns 1 derivatives, but y has 2 components"),
        (nothing, "nothing must return a tuple or 1-D array of 2 derivatives"),
        (undefined, "(?s)Numba cannot compile undefined.*test_model.py.*missing"),
        (pole, "pole (fails|returns inf)"),
        (negative_root, "negative_root returns nan for component 0 at the start, t = 0"),
    ],
)
def test_a_right_hand_side_that_cannot_be_used_is_told_in_its_own_terms(fun, said):
    with pytest.raises(ModelError, match=said) as caught:
        check_right_hand_side(fun, 0.0, (1.0, 2.0), (1.0,))
    assert "numbad/fit" not in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 12
