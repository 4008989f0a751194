"""The code that LLVM is given grows with what a loop records, and not with a power of it."""

import numpy as np
import pytest
from numba.core import codegen, types

import numbad as nd
from numbad.source import define


def recording(arrays):
    """A function whose loop records so many arrays an iteration."""
    names = [f"a{k}" for k in range(arrays)]
    states = "".join(f"    {name} = x\n" for name in names)
    steps = "".join(f"        {name} = {name} * np.sin({name})\n" for name in names)
    total = " + ".join(f"{name}[0]" for name in names)
    source = f"def f(x, n):\n{states}    for _ in range(n):\n{steps}    return {total}\n"
    return define(source, {"np": np})


def code_of_sweep(monkeypatch, arrays):
    """The size of the sweeps' code as it was lowered, and the gradient."""
    found = []
    optimise = codegen.CPUCodeLibrary._optimize_functions

    def noting(library, module):
        if "sweep_f" in library.name:
            found.append(len(str(module)))
        optimise(library, module)

    monkeypatch.setattr(codegen.CPUCodeLibrary, "_optimize_functions", noting)
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
    gradient = nd.grad(recording(arrays), mode="reverse")
    gradient.compile((types.float64[::1], types.int64))
    monkeypatch.undo()
    return max(found), gradient


@pytest.mark.dear
def test_frames(monkeypatch):
    """Twice the arrays on the tape, twice the code: 1.9 times, and 2.9 with a tuple of each frame."""
    few, gradient = code_of_sweep(monkeypatch, 6)
    many, _ = code_of_sweep(monkeypatch, 12)
    assert many < 2.3 * few
    f, x, step = recording(6), np.array([0.7, 0.2]), 1e-6
    up, down = f(x + step, 3), f(x - step, 3)
    np.testing.assert_allclose(gradient(x, 3).sum(), (up - down) / (2 * step), rtol=1e-7)
