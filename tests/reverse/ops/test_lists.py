"""Typed lists, reflected lists and list comprehensions in reverse mode."""

import numpy as np
import pytest
from numba import njit, typed, types

from tests.forward.compare import Made, Programs
from tests.reverse.plain import PlainList, check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
FLOATS = Made(lambda: typed.List([2.0, 3.0, 5.0]))
ARRAYS = Made(lambda: typed.List([np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])]))


# -- lists as constants ----------------------------------------------------------------------


@programs.on(0.5, FLOATS, wrt=(0,))
def typed_list_argument(x, items):
    s = 0.0
    for i in range(len(items)):
        s += items[i] * x ** (i + 1)
    return s


@programs.on(0.5, ARRAYS, wrt=(0,))
def typed_list_of_arrays(x, rows):
    s = 1.0
    for row in rows:
        for v in row:
            s = s * x + v
    return s


@programs.on(0.5)
def constant_list_made_inside(x):
    items = [2.0, 3.0, 5.0]
    items.append(7.0)
    s = 0.0
    for v in items:
        s = s * x + v
    return s


@programs.on(0.5)
def indices_in_a_list(x):
    chosen = [i for i in range(10) if i % 3 == 1]
    s = 0.0
    for i in chosen:
        s += x**i
    return s


# -- lists that hold active floats -----------------------------------------------------------


@programs.on(0.5, 1.5)
def literal(x, y):
    items = [x, y, x * y]
    return items[0] * items[1] + items[2] * items[-1]


@programs.on(0.5, 1.5)
def of_array_types_named_within(x, y):
    rows = typed.List.empty_list(types.float64[:, ::1])
    rows.append(np.ones((2, 2)) * x)
    rows.append(np.eye(2) * y)
    tables = typed.List.empty_list(item_type=types.complex128[:])
    tables.append(np.ones(2) * (x + 1j * y))
    return rows[0][0, 1] * rows[1][1, 1] + (tables[0][1] ** 2).imag


@programs.on(0.5, 1.5, second=True)
def appended(x, y):
    items = [x]
    for i in range(4):
        items.append(items[-1] * y + i)
    s = 0.0
    for v in items:
        s += v * v
    return s


@programs.on(A)
def comprehension(a):
    squares = [v * v for v in a]
    return squares[0] * squares[1] + squares[3] * a[2]


@programs.on(A)
def filtered_comprehension(a):
    s = 0.0
    for v in [w * w for w in a if w > 0.0]:
        s = s * 0.5 + v
    return s


@programs.on(0.5, 1.5)
def array_of_comprehension(x, y):
    """Its size is asked of the iterator over a list, which the arrays made for each item might change."""
    items = [x, y, x * y]
    found = np.array([np.array([item])[0] ** 2 for item in items])
    return found[0] * found[1] + found[2]


@programs.on(0.5, 1.5)
def overwritten(x, y):
    items = [x, y, 1.0]
    items[2] = items[0] * items[1]
    items[0] = items[2] * items[2]
    items[1] += items[0]
    return items[0] * items[1] * items[2]


@programs.on(0.5, 1.5)
def overwritten_twice(x, y):
    items = [x, y]
    items[0] = items[1] * items[1]
    items[1] += items[0]
    items[0] = items[0] * items[1]
    return items[0] * items[1]


@programs.on(0.5, 1.5)
def overwritten_in_a_loop(x, y):
    items = [x] * 3
    for i in range(6):
        items[i % 3] = items[(i + 1) % 3] * y + items[i % 3]
    return items[0] * items[1] + items[2]


@programs.on(0.5, 1.5)
def popped(x, y):
    stack = [x, y]
    s = 0.0
    for i in range(3):
        stack.append(stack[-1] * x)
    while len(stack) > 1:
        s = s * y + stack.pop()
    return s + stack[0]


@programs.on(0.5, 1.5)
def popped_and_appended_in_turn(x, y):
    stack = [x, y]
    for i in range(4):
        v = stack.pop()
        stack.append(v * x)
        stack.append(v + y)
        if i % 2 == 0:
            w = stack.pop(0)
            stack[-1] *= w
    s = 0.0
    for v in stack:
        s += v * v
    return s


@programs.on(0.5, 1.5)
def inserted_removed_reversed(x, y):
    items = [x, y]
    items.insert(0, x * y)
    items.reverse()
    items.extend([x * x, 2.0])
    del items[1]
    return items[0] + 10.0 * items[1] * items[2] + 100.0 * items[-1] * items[0]


@programs.on(0.5, 1.5)
def list_shared_by_two_names(x, y):
    items = [x, y]
    other = items
    other[0] = y * y
    other.append(x)
    return items[0] * items[2] + items[1]


@programs.on(0.5, 1.5)
def list_copied(x, y):
    items = [x, y]
    other = items.copy()
    third = items[:]
    other[0] = y * y
    third[1] = x * x
    return items[0] * other[0] + items[1] * third[1]


@programs.on(0.5, 1.5)
def added_and_multiplied(x, y):
    items = [x, y] + [x * y] * 2
    return items[3] * items[0] + items[2] * items[1]


@njit
def push(items, v):
    items.append(v)
    items[0] *= v


@programs.on(0.5, 1.5)
def changed_by_a_callee(x, y):
    items = [x]
    push(items, y)
    push(items, x * y)
    return items[0] * items[1] + items[2]


@programs.on(0.5, 1.5, 3)
def made_in_a_loop(x, y, n):
    s = 0.0
    for i in range(n):
        items = [x * i, y]
        items.append(items[0] * items[1])
        s += items[2] * items[1]
    return s


@programs.on(0.55, 1.5)
def conditionally_appended(x, y):
    items = [x]
    for i in range(5):
        if items[-1] < 1.0:
            items.append(items[-1] + y * 0.25)
        else:
            items[-1] = items[-1] * x
    s = 0.0
    for i in range(len(items)):
        s += items[i] * (i + 1)
    return s


@programs.on(0.5, 1.5)
def of_tuples(x, y):
    items = [(x, 1), (y, 2)]
    items.append((x * y, 3))
    s = 0.0
    for v, n in items:
        s += v**n
    return s


@programs.on(0.5, 1.5)
def of_arrays(x, y):
    rows = [np.full(2, x), np.full(2, y)]
    rows[0][1] = y * y
    rows.append(rows[0] * 2.0)
    rows[1][0] = rows[2][1]
    return rows[0][0] * rows[1][0] + rows[2][0] * rows[1][1]


@programs.on(0.5, 1.5)
def of_arrays_that_share_memory(x, y):
    a = np.full(3, x)
    rows = [a, a[1:]]
    rows[1][0] = y
    a[2] = rows[0][1] * x
    return rows[1][1] * a[1]


@programs.on(0.5, 1.5)
def nested(x, y):
    rows = [[x, y], [x * y]]
    rows[1].append(x)
    rows[0][1] *= 2.0
    return rows[0][0] * rows[0][1] + rows[1][0] * rows[1][1]


# -- typed lists that hold active floats -----------------------------------------------------


@programs.on(0.5, 1.5)
def typed_appended(x, y):
    items = typed.List()
    items.append(x)
    for i in range(4):
        items.append(items[i] * y + i)
    s = 0.0
    for v in items:
        s += v * v
    return s


@programs.on(0.5, 1.5)
def typed_overwritten(x, y):
    items = typed.List()
    for i in range(3):
        items.append(x * (i + 1))
    for i in range(6):
        items[i % 3] = items[(i + 1) % 3] * y
    return items[0] * items[1] + items[2]


@programs.on(0.5, 1.5, second=False)
def typed_popped(x, y):
    items = typed.List.empty_list(types.float64)
    for i in range(3):
        items.append(x + i * y)
    last = items.pop()
    first = items.pop(0)
    return last * first + items[0]


@programs.on(0.5, 1.5)
def typed_of_arrays(x, y):
    rows = typed.List()
    for i in range(3):
        rows.append(np.full(2, x * i))
    rows[1][0] = y
    rows[2][1] *= rows[1][0]
    return rows[2][1] * rows[1][0] + rows[1][1]


@pytest.mark.deep(
    but=[
        "appended",
        "popped",
        "overwritten_twice",
        "list_shared_by_two_names",
        "of_arrays_that_share_memory",
        "comprehension",
        "array_of_comprehension",
        "typed_appended",
        "changed_by_a_callee",
    ]
)
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- lists of the caller's -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPendingDeprecationWarning")
def test_reflected_list_argument_is_a_constant():
    def polynomial(x, coefficients):
        s = 0.0
        for c in coefficients:
            s = s * x + c
        return s

    check(polynomial, 0.5, [2.0, 3.0, 5.0], wrt=(0,), plain_args=(0.5, PlainList([2.0, 3.0, 5.0])))
