"""Functions of 64-bit ints: what their machine code gives is what Python gives."""

import ctypes

import pytest

from numbad.compilation.word_functions import WordFunction, emitted, i64, machine_code

SOME = -5, -1, 0, 1, 2, 7, 16, 2**40
LIMIT = 12


@emitted
def doubled(builder, x):
    return builder.mul(x, i64(2))


doubled_twin = {"doubled": lambda x: 2 * x}


@WordFunction
def rounded(n):
    return max(16, (n + 15) & -16)


def arithmetic(a, b):
    total = a * 3 - b
    total += a + b
    total *= 2
    total -= 1
    return total & -8


def choices(a, b):
    if a < b <= LIMIT or a == 7:
        return min(a, b) if b != 0 else LIMIT
    if a >= 0 and not b > 2:
        return max(a, b)
    return a < b


def loop(a, b):
    count = 0
    found = 0
    while count < 10:
        count += 1
        if count == a & 7:
            continue
        if count > b & 15:
            break
        found += count
    return found * 100 + count


def calls(a, b):
    return doubled(a) + rounded(b) - rounded(doubled(a if a < b else b))


def nothing(a, b):
    if a > b:
        return


def in_python(function, *args):
    """What the function gives where it is plain Python."""
    twins = doubled_twin | {"rounded": rounded.py_func, "LIMIT": LIMIT}
    return type(function)(function.__code__, twins)(*args)


@pytest.mark.parametrize("function", [arithmetic, choices, loop, calls, nothing])
def test_machine_code_gives_what_python_gives(function):
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    compiled = signature(machine_code(WordFunction(function)))
    for a in SOME:
        for b in SOME:
            assert compiled(a, b) == (in_python(function, a, b) or 0)


@pytest.mark.parametrize("function", [lambda a: a // 3, lambda a: abs(a), lambda a: a[0]])
def test_what_has_no_code_is_refused(function):
    with pytest.raises(NotImplementedError):
        machine_code(WordFunction(function))
