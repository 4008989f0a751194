"""What Python code may pass for a state, times and further arguments, and what is refused in plain words."""

import numpy as np
import pytest

import numbad as nd
from numbad.errors import ArgumentError, DataError, ModelError
from tests.ode.problems import decay

# What neither a state nor times nor further arguments may be, and what the message says of it.
UNTYPED = {
    "dict": ({"a": 1.0}, "class dict.*namedtuple"),
    "objects": (np.array([1.0, 2.0], dtype=object), r"array of Python objects.*\.astype"),
    "range": (range(3), "class range.*array"),
    "ragged": ([[1.0], [1.0, 2.0]], r"list of lists.*np\.array"),
    "empty": ([], r"empty list.*np\.array"),
    "masked": (np.ma.array([1.0, 2.0], mask=[False, True]), r"masked array.*\.filled"),
    "half": (np.ones(2, np.float16), "array of float16.*float64"),
    "swapped": (np.ones(2, ">f8"), r"array of >f8.*\.astype"),
}
# What is no state and no times either.
UNFIT = {
    "string": ("abc", "a string"),
    "set": ({1.0, 2.0}, "a set"),
    "None": (None, "None"),
    "strings": (np.array(["1", "2"]), "array of strings"),
    "plain": (np.array(1.0), "array of 0 dimensions"),
    "mixed": ((1.0, "x"), r"\[1\]"),
}
# Lists that are no arrays of numbers; others are taken for a state and for times.
LISTS = {
    "ragged": ([[1.0], [1.0, 2.0]], ModelError, "must be an array of numbers"),
    "strings in a list": (["a"], ModelError, "must be an array of numbers"),
    "empty": ([], (ModelError, DataError), "is empty"),
}
GIVEN = {"y0": np.array([1.0, 2.0]), "ts": (0.0, 1.0), "args": (2.0,)}


def wrong(*names):
    """Cases `(name, value, error, message)`: `names` are those of arguments."""
    for name in names:
        takes_lists = name != "args"
        for what, (value, told) in UNTYPED.items():
            # a call that has been compiled before does not tell which argument has a mask
            said = told if what == "masked" else f"'{name}' of .*{told}"
            if not (takes_lists and what in LISTS):
                yield pytest.param(name, value, ArgumentError, said, id=f"{name}-{what}")
        for what, (value, told) in UNFIT.items() if takes_lists else ():
            yield pytest.param(name, value, ModelError, f"{name}.*{told}", id=f"{name}-{what}")
        for what, (value, error, told) in LISTS.items() if takes_lists else ():
            yield pytest.param(name, value, error, f"{name} {told}", id=f"{name}-{what}")


@pytest.mark.parametrize(("name", "value", "error", "told"), list(wrong("y0", "ts", "args")))
def test_solver(name, value, error, told):
    with pytest.raises(error, match=told):
        nd.ode.solver(decay)(**GIVEN | {name: value})


def test_a_list_for_arguments():
    with pytest.raises(ModelError, match=r"A list is one argument: args=tuple\(...\)"):
        nd.ode.solver(decay)(1.0, (0.0, 1.0), [2.0])


@pytest.mark.parametrize(
    ("name", "value", "error", "told"),
    [
        *wrong("y0", "args"),
        ("args", "abc", ModelError, "cannot compile decay"),
        ("args", (1.0, 2.0), ModelError, "cannot compile decay.*\n.*\n.*4 arguments"),
    ],
)
def test_steady_state(name, value, error, told):
    given = GIVEN | {name: value}
    with pytest.raises(error, match=told):
        nd.ode.steady_state(decay, given["y0"], given["args"])


def test_steady_state_of_what_gives_no_slope():
    with pytest.raises(ModelError, match="the right-hand side must return"):
        nd.ode.steady_state(lambda t, y: "a", 1.0)


@pytest.mark.parametrize(
    ("name", "value", "error", "told"),
    [
        *(
            ("y0", value, ModelError, "y0 (must be an array of numbers|is a masked array)")
            for value in (
                {"a": 1.0},
                {1.0, 2.0},
                "abc",
                None,
                [[1.0], [1.0, 2.0]],
                np.array([1.0, "x"], dtype=object),
                np.array(["1", "2"]),
                np.array(["2020-01-01"], dtype="datetime64[D]"),
                UNTYPED["masked"][0],
            )
        ),
        ("y0", 1.0, ModelError, "y0 must be one-dimensional"),
        *(
            ("t_span", value, DataError, "t_span (must be|is a masked array)")
            for value in ({0.0, 1.0}, "ab", None, 1.0, (0.0, 1.0j), UNTYPED["masked"][0])
        ),
        ("t_eval", {0.5}, DataError, "t_eval must be an array of numbers"),
        ("t_eval", [0.5j], DataError, "t_eval must be an array of floats"),
        *(
            ("args", value, ArgumentError, "args must be a tuple")
            for value in ({"a": 1.0}, {1.0}, "a", 1.0)
        ),
        (
            "args",
            ({"a": 1.0},),
            ArgumentError,
            r"'args\[0\]' of solve_ivp .*class dict.*namedtuple",
        ),
        ("args", (UNTYPED["masked"][0],), ArgumentError, "masked array"),
        ("args", (range(3),), ArgumentError, "class range"),
    ],
)
def test_solve_ivp(name, value, error, told):
    given = {"t_span": (0.0, 1.0), "y0": [1.0], "args": (2.0,)} | {name: value}
    with pytest.raises(error, match=told):
        nd.ode.solve_ivp(decay, **given)


@pytest.mark.dear
def test_solve_ivp_takes_what_numpy_makes_an_array_of():
    """Integers, booleans, objects that are numbers, and what has `__array__`."""

    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    expected = nd.ode.solve_ivp(decay, (0.0, 1.0), [1.0, 2.0], args=(2.0,)).y
    for y0 in ([1, 2], np.array([1, 2], dtype=object), Column(), np.array([1.0, 2.0], ">f8")):
        assert (nd.ode.solve_ivp(decay, [0, 1], y0, args=[2.0]).y == expected).all()
