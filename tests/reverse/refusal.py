"""What a refusal has to tell: the construct, the file, the line, the source line and the way out."""

import linecache
import re

import pytest
from numba import njit

import numbad as nd

_PLACE = re.compile(r'cannot differentiate (.+?): File "([^"]+)", line (\d+)', re.DOTALL)


def assert_clear(error, file=None, construct=None, source=None):
    """All five parts, and that the line named is the line shown."""
    message = str(error)
    found = _PLACE.search(message)
    assert found, f"no construct, file and line in: {message}"
    named, path, line = found[1], found[2], int(found[3])
    shown = linecache.getline(path, line).strip()
    assert shown, f"no such line: {message}"
    assert f"\n    {shown}" in message, f"line {line} is not shown: {message}"
    assert re.search(r"[Ww]ay out: \S", message), f"no way out: {message}"
    if file is not None:
        assert path == file, f"another file: {message}"
    if construct is not None:
        assert re.search(construct, named), f"construct {named!r} does not match {construct!r}"
    if source is not None:
        assert source in shown, f"line {line} is {shown!r}, not {source!r}"


def slope_or_refusal(f, x, *args):
    """The derivative by the first argument in reverse mode; None where it is clearly refused."""
    try:
        return nd.grad(f, 0, mode="reverse")(x, *args)
    except nd.UnsupportedError as error:
        assert_clear(error)
        return None


class Slopes(list):
    """Programs of one float that tempt a compiler into a silent zero: a test's parameters."""

    def __init__(self, x):
        self.x = x

    def __call__(self, expected):
        """Register the decorated function with its derivative at `x`."""

        def register(f):
            self.append(pytest.param(f, expected, id=f.__name__))
            return f

        return register

    def check(self, f, expected):
        """Right or refused; the expectation is held against differences of the compiled program."""
        h, primal = 1e-5, njit(f)
        difference = (primal(self.x + h) - primal(self.x - h)) / (2 * h)
        assert difference == pytest.approx(expected, rel=1e-6, abs=1e-8), "wrong expectation"
        found = slope_or_refusal(f, self.x)
        assert found is None or found == pytest.approx(expected, rel=1e-12, abs=1e-300), (
            f"{found}, not {expected}"
        )
