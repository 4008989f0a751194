"""Lists that are rearranged, sorted, nested, and changed while a loop goes through them."""

import re

import numpy as np
import pytest
from numba import njit, typed

import numbad as nd
from tests.forward.compare import Made, Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])


@programs.on(0.5, 1.5)
def nested_and_rearranged(x, y):
    rows = [[x]]
    for i in range(4):
        rows[-1].append(rows[0][0] * y)
        if i % 2:
            rows.insert(0, rows[-1][:])
        else:
            rows.append([y * v for v in rows[0]])
        if len(rows) > 3:
            row = rows.pop(1)
            rows[0][0] *= row[-1]
    s = 0.0
    for row in rows:
        for v in row:
            s = s * 0.5 + v
    return s


@programs.on(0.5, 1.5)
def of_tuples_with_arrays(x, y):
    items = [(x, np.full(2, y), 1)]
    items.append((y * x, np.full(2, x), 2))
    items.insert(0, (y, items[0][1] * items[1][0], 3))
    items.reverse()
    taken = items.pop(1)
    taken[1][0] *= items[0][0]
    s = 0.0
    for v, b, n in items:
        b[1] *= v
        s += v * b[0] * n + b[1]
    return s + taken[0] * taken[1][0]


@programs.on(0.5, 1.5)
def of_complex_numbers(x, y):
    items = [x + 0j, complex(x, y)]
    items.insert(0, items[0] * items[1])
    items[1] = x
    del items[2]
    z = items[0] * items[1]
    return z.real * z.imag


@programs.on(0.5, 1.5)
def slices_deleted_and_cleared(x, y):
    items = [x, y, x * y, x + y, x - y, x / y]
    del items[1:3]
    others = items[::-1]
    others += items
    others *= 2
    items.clear()
    items.append(others[3])
    others.remove(others[2])
    s = 0.0
    for k, v in enumerate(others):
        s += v * (k + 1)
    return s * items[0]


@programs.on(0.5, 1.5)
def made_by_list(x, y):
    members = x, y, x * y
    items = list(members)
    others = list(np.array([x, y]))
    return items[0] * items[2] * others[1]


@programs.on(A, 1.5)
def sorted_in_a_loop(a, y):
    t = 0.0
    for k in range(3):
        items = [v * y for v in a]
        items.append(t)
        items.sort(reverse=k % 2 == 0)
        t = items[0] * items[1] + items[4] * items[3]
        a[k] = items[2] * y
    return t * a[0]


@njit
def square(v):
    return v * v


@programs.on(0.5, 1.5)
def sorted_by_key(x, y):
    items = [x * x, -1.0 * y, 0.3]
    items.sort(key=square)
    others = sorted(items, reverse=True)
    return items[0] * items[1] + items[2] * x + others[0] * others[0] * others[2]


# -- lists that change while they are gone through -------------------------------------------


@programs.on(1.5)
def appended_while_iterated(x):
    items = [x, 2 * x]
    s = 0.0
    for v in items:
        if len(items) < 6:
            items.append(v * x)
        s = s * 0.5 + v
    return s


@programs.on(1.5)
def popped_while_zipped(x):
    items = [x, 2 * x, 3 * x, 4 * x]
    s = 0.0
    for k, (v, w) in enumerate(zip(items, [1.0, 2.0, 3.0, 4.0])):  # noqa: B905 (Numba)
        items.pop()
        s = s * 0.5 + v * w * k
    return s + items[0] * items[1]


@programs.on(0.5, 1.5)
def typed_changed_and_copied(x, y):
    items = typed.List()
    items.append(x)
    items.append(y)
    items.append(x * y)
    items.insert(1, y * y)
    items.reverse()
    others = items.copy()
    others.extend(items[1:])
    del others[0]
    others.remove(y)
    return others[0] * others[1] * others[2] + others[-1] * items[0]


@programs.on(0.5, Made(lambda: typed.List([1.0, 2.0])), wrt=(0,), second=False)
def given_and_written_to(x, items):
    items[0] = x * items[1]
    items.append(items[0] * x)
    v = items.pop() * items[0]
    items[0] = 1.0
    return v


@njit
def filled(items, x, n):
    if n == 0:
        return x
    items.append(x * n)
    items[0] *= x
    return filled(items, x * items[-1], n - 1) + items[0]


@programs.on(0.6, 1.7)
def filled_by_a_recursion(x, y):
    items = [x, y]
    return filled(items, x, 2) * items[1] + items[0]


@programs.on(0.5, 1.5)
def of_repeated_numbers(x, y):
    items, pairs, base = [0.0, 0.5] * 3, 2 * [(0.0, 1.0)], [0.25]
    others = base * 2
    base[0] = x
    others[1] = base[0] * y
    items[2] = x * y
    pairs[1] = (x, items[2] * items[1])
    items.append(items[2] * items[2])
    items.insert(0, y * items[-1])
    s = items[-1] * items[3] * items[3] + pairs[1][0] * pairs[1][1] * pairs[0][1]
    for k in range(3):
        again = [0.5] * 3
        kept = again
        kept[k] = x * k
        s += again[k] * again[k] * s + again[0] * y
    return s + others[0] * others[1]


@pytest.mark.deep(
    but=[
        "of_repeated_numbers",
        "appended_while_iterated",
        "popped_while_zipped",
        "given_and_written_to",
    ]
)
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


@nd.checkpoint
@njit
def appended(items, x):
    items.append(x * items[0])
    return items[-1]


def test_list_as_an_argument_of_a_checkpointed_function():
    def program(x):
        return appended([x, x], x)

    with pytest.raises(nd.UnsupportedError, match="a list of differentiated values"):
        nd.grad(program, mode="reverse")(1.5)


def test_given_list_in_second_order():
    def program(x, items):
        items[0] = x * x
        return items[0] * items[1]

    gradient = nd.grad(program, 0, mode="reverse")
    with pytest.raises(
        nd.UnsupportedError, match="into an argument of type ListType.*in second order"
    ):
        nd.jvp(gradient, 0)((1.5, typed.List([1.0, 2.0])), (1.0,))


def test_typed_list_mutated_while_iterated():
    def program(x):
        items = typed.List()
        items.append(x)
        for v in items:
            items.append(v * x)
        return items[0]

    with pytest.raises(RuntimeError, match="mutated"):
        njit(program)(1.5)
    with pytest.raises(RuntimeError, match="mutated"):
        nd.grad(program, mode="reverse")(1.5)


def test_numbers_repeated_are_a_list_at_once():
    """And what is read twice is recorded once; its place is the index."""

    def program(x, n):
        items = [0.0] * n
        for i in range(n):
            items[i] = x * i
        s = 0.0
        for i in range(n):
            s += items[i] * items[i]
        return s

    listing = nd.inspect_adjoint(program, 0.5, 3)
    assert "append" not in listing
    assert len(re.search(r"reload (.*)", listing)[1].split(", ")) == 1
