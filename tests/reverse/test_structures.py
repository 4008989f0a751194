"""Tuples, namedtuples, None, optionals, strings and dictionaries in reverse mode."""

from collections import namedtuple

import numpy as np
import pytest
from numba import literal_unroll, njit, typed, types

import numbad as nd
from tests.forward.compare import Made, Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
Pair = namedtuple("Pair", "first second")
Model = namedtuple("Model", "rates scale name steps")


# -- tuples ----------------------------------------------------------------------------------


@programs.on((0.5, 1.5, 2.5))
def homogeneous(p):
    return p[0] * p[1] + p[1] * p[2] * p[2]


@programs.on((0.5, 3, True, A), second=True)
def heterogeneous(p):
    x, n, flag, a = p
    return x**n * a[1] + (a[n] * x if flag else x)


@programs.on((0.5, 1.5, 2.5))
def indexed_by_a_variable(p):
    s = 0.0
    for i in range(3):
        s += p[i] * p[i] * p[(i + 1) % 3]
    return s


@programs.on((0.5, 1.5, 2.5))
def indexed_from_the_end(p):
    s = 0.0
    for i in range(-3, 0):
        s += p[i] * p[-1] * i
    return s


@programs.on((0.5, 1.5, 2.5))
def iterated(p):
    s = 1.0
    for v in p:
        s = s * v + v
    return s


@programs.on((0.5, 1.5, 2.5), (2.0, 3.0, 5.0))
def iterated_together(p, q):
    s = 1.0
    for i, (u, v) in enumerate(zip(p, q)):  # noqa: B905
        s += u * v * s * (i + 1)
    return s


@programs.on((0.5, 2, 1.5))
def unrolled(p):
    s = 1.0
    for v in literal_unroll(p):
        s = s * v + v
    return s


@programs.on(((0.5, 1.5), (2.5, (A, 0.25))))
def nested(p):
    (x, y), (z, (a, w)) = p
    return x * y * z + a[0] * a[1] * w + p[1][1][0][2] * p[0][1]


@programs.on((A, A + 1.0, A * 2.0))
def arrays_indexed_by_a_variable(rows):
    s = 0.0
    for i in range(3):
        row = rows[i]
        for j in range(4):
            s += row[j] * rows[(i + 1) % 3][3 - j]
    return s


@programs.on((A, A + 1.0))
def one_array_of_a_tuple_overwritten(rows):
    rows[1][0] = rows[0][1] * rows[1][0]
    for i in range(2):
        rows[i][2] *= rows[1 - i][0]
    return rows[0][2] * rows[1][2] * rows[1][0]


@programs.on(0.5, 1.5)
def built_and_taken_apart(x, y):
    p = (x * y, x)
    q = (p, y, p[0] + 1.0)
    (a, b), c, d = q
    return a * b * c * d


@programs.on(0.5, 1.5, 4)
def carried_round_a_loop(x, y, n):
    state = (x, y)
    for i in range(n):
        state = (state[0] + 0.1 * state[1], state[1] - 0.2 * state[0] * state[0])
    return state[0] * state[1]


@programs.on(0.5, 1.5, 5)
def members_swapped_in_a_loop(x, y, n):
    p = (x, y)
    for i in range(n):
        p = (p[1] * 0.75, p[0] + i)
    return p[0] - p[1] * p[1]


@programs.on(0.5, 1.5)
def chosen_by_branch(x, y):
    p = (x, y * y)
    if x < y:
        p = (y * x, x)
    return p[0] * p[1] + p[0]


@programs.on(0.5, 1.5)
def joined_and_sliced(x, y):
    p = (x, y) + (x * y, 2.0)  # noqa: RUF005
    q = p[1:3]
    return q[0] * q[1] + p[-2] * len(p) + sum_of(p[:2])


@njit
def sum_of(p):
    s = 0.0
    for v in p:
        s += v * v
    return s


@programs.on((0.5, 1.5), (1.5, 0.5))
def compared(p, q):
    return p[0] * q[0] if p < q else p[1] * q[1] * q[1]


@programs.on(0.5, 1.5)
def tuple_of_arrays_made_inside(x, y):
    work = (np.zeros(2), np.empty(3))
    work[0][0] = x
    work[1][:] = y
    work[1][1] *= work[0][0]
    a, b = work
    a[1] = b[1] * x
    return work[0][1] * work[1][2] + a[0]


@programs.on(0.5, 1.5, 5)
def tuple_of_arrays_swapped_in_a_loop(x, y, n):
    p = (np.full(2, x), np.full(2, y))
    for i in range(n):
        p[0][0] = p[1][1] * p[0][1]
        p[1][1] = p[0][0] + 0.5
        p = (p[1], p[0])
    return p[0][0] * p[1][1]


@programs.on((0.5, 1.5, 2.5, 3.5))
def tuple_to_array(p):
    a = np.array(p)
    a[1] *= a[0]
    return a[1] * a[2] + a[3]


@programs.on((np.float32(0.5), 1.5, 2), rtol=1e-6)
def of_both_precisions(p):
    return p[0] * p[1] * p[2] + p[1]


# -- namedtuples -----------------------------------------------------------------------------


@programs.on(Pair(0.5, 1.5))
def by_name(p):
    return p.first * p.second + p.first**3


@programs.on(Model((0.5, 1.5), 2.0, "logistic", 3), A)
def members_of_all_kinds(m, a):
    s = a[0]
    for i in range(m.steps):
        s = s + m.rates[i % 2] * s * (1.0 - s / m.scale)
    return s if m.name == "logistic" else s * s


@programs.on(Pair(Pair(A, 0.5), Pair(A * A, 2)))
def namedtuples_nested(p):
    return p.first.first[0] * p.second.first[1] * p.first.second + p[0][0][3] * p.second.second


@programs.on(0.5, 1.5)
def namedtuple_made_inside(x, y):
    p = Pair(x * y, second=np.full(3, y))
    p.second[1] = p.first * x
    q = Pair(p, y)
    return q.first.second[1] * q.second + q[0].first


@njit
def advance(p):
    return Pair(p.first * p.second, p.second + 0.25)


@programs.on(Pair(0.5, 1.5), 4)
def namedtuple_carried_through_calls(p, n):
    for _ in range(n):
        p = advance(p)
    return p.first - p.second * p.second


# -- None and optionals ----------------------------------------------------------------------


@programs.on(A, None)
def argument_is_none(a, weights):
    s = 0.0
    for i in range(len(a)):
        if weights is None:
            s += a[i] * a[i]
        else:
            s += a[i] * weights[i]
    return s


@programs.on(A, A + 2.0)
def argument_is_not_none(a, weights):
    s = 0.0
    for i in range(len(a)):
        if weights is None:
            s += a[i] * a[i]
        else:
            s += a[i] * weights[i]
    return s


@njit
def positive_root(x):
    if x > 1.0:
        return x * x
    return None


@programs.on(0.5, 1.5)
def optional_results(x, y):
    s, first, second = x * y, positive_root(x), positive_root(y)
    if first is not None:
        s += 100.0 * first
    if second is not None:
        s += second * x
    return s


@njit
def clipped(x, lower=None, upper=None):
    if lower is not None and x < lower:
        return lower * x
    if upper is not None:
        return x * upper
    return x


@programs.on(0.5, 1.5)
def optional_arguments(x, y):
    return clipped(x) + clipped(x, y) * clipped(x, upper=y) + clipped(y, None, x)


@programs.on(0.5, 1.5, 4)
def optional_carried_round_a_loop(x, y, n):
    last = None
    s = 0.0
    for i in range(n):
        if last is not None:
            s += last * y
        last = x * (i + 1)
    return s


# -- strings and dictionaries ----------------------------------------------------------------


@programs.on(0.5, "cubic")
def string_argument(x, kind):
    if kind == "linear":
        return x
    if kind == "cubic":
        return x**3
    return 0.0


@njit
def kernel(x, kind="linear"):
    return x if kind == "linear" else x * x * len(kind)


@programs.on(0.5)
def strings_passed_on(x):
    s = kernel(x) * 10.0
    for kind in ("linear", "square"):
        s += kernel(x, kind)
    return s


def typed_dictionary(kinds, items):
    made = typed.Dict.empty(*kinds)
    made.update(items)
    return made


@Made
def rates():
    kinds = types.unicode_type, types.float64
    return typed_dictionary(kinds, {"birth": 0.5, "death": 0.25})


@Made
def terms():
    return typed_dictionary((types.int64, types.float64[:]), {3: np.array([1.0, 2.0])})


@programs.on(1.5, rates, plain_args=(1.5, {"birth": 0.5, "death": 0.25}))
def dictionary_argument(x, rates):
    s = x
    for k in ("birth", "death"):
        if k in rates:
            s += rates[k] * s * x
    return s


@programs.on(1.5, terms, plain_args=(1.5, {3: np.array([1.0, 2.0])}))
def dictionary_of_arrays(x, terms):
    s = 0.0
    for key, term in terms.items():
        s += term[0] * x**key + term[1] * x
    return s


@programs.on(1.5)
def constant_dictionary_made_inside(x):
    d = {"a": 2.0, "b": 0.5}
    e = {1: 3, 2: 4}
    d["c"] = 4.0
    return d["a"] * x**3 + d["c"] * x * e[2] + len(d) * x


@programs.on(1.5, 5)
def dictionary_that_counts(x, n):
    counts = {0: 0}
    for i in range(n):
        counts[i % 2] = counts.get(i % 2, 0) + 1
    s = 0.0
    for key in range(2):
        s += counts[key] * x ** (key + 1)
    return s


@pytest.mark.dear
@pytest.mark.deep(
    but=[
        "argument_is_none",
        "homogeneous",
        "heterogeneous",
        "carried_round_a_loop",
        "dictionary_argument",
        "dictionary_that_counts",
        "namedtuples_nested",
        "optional_results",
        "members_swapped_in_a_loop",
        "tuple_to_array",
    ]
)
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- structure of gradients ------------------------------------------------------------------


def weighted(p, q):
    return p[0] * q.first[1] * p[1]


def test_constants_within_a_gradient_are_zeros_of_their_type():
    gradient = nd.grad(weighted, (0, 1), mode="reverse")
    by_p, by_q = gradient((2.0, 3), Pair(A, "name"))
    assert by_p == (4.5, 0)
    assert type(by_p[1]) is int
    assert isinstance(by_q, Pair)
    np.testing.assert_array_equal(by_q.first, [0.0, 6.0, 0.0, 0.0])
    assert by_q.second is None


def test_members_that_share_memory():
    """Each array of the gradient holds what its own entries contribute."""
    a = np.array([2.0, 3.0])
    f = njit(lambda p: p[0][0] * p[1][1])
    first, second = nd.grad(f, mode="reverse")((a, a))
    assert (first[0] + second[0], first[1] + second[1]) == (3.0, 2.0)


def test_reverse_inside_compiled_code_returns_the_structure():
    gradient = nd.grad(weighted, (0, 1), mode="reverse")

    @njit
    def use(p, q):
        by_p, by_q = gradient(p, q)
        return by_p[0] + by_q.first[1]

    assert use((2.0, 3), Pair(A, 1)) == 4.5 + 6.0


def test_a_set_of_differentiated_numbers_names_the_other_mode():
    def products(x):
        product = 1.0
        for power in {x, x * x}:
            product *= power
        return product

    with pytest.raises(nd.UnsupportedError, match=r"a set in products(.|\n)*Way out: forward mode"):
        nd.grad(products, mode="reverse")(1.3)
    assert nd.grad(products, mode="forward")(1.3) == pytest.approx(3 * 1.3**2, rel=1e-15)
