"""What the compiler is given of a solver, which is what a first solve waits for."""

import re

import numpy as np
import pytest

import numbad as nd
from numbad.compilation.linking import waits
from numbad.ode.integrate import make_integrate


def compiled_integration(monkeypatch, method):
    """The compiled integration of a new solver of a problem in arrays."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")

    def decay(t, y, dy, rate):
        dy[0] = -rate * y[0]
        dy[1] = rate * y[0] - y[1]

    solve = nd.ode.solver(decay, method=method, inplace=True)
    end = solve(np.array([1.0, 0.0]), (0.0, 1.0), 2.0)[-1]
    exact = np.exp(-2.0), 2.0 * (np.exp(-1.0) - np.exp(-2.0))
    np.testing.assert_allclose(end, exact, rtol=1e-4)
    (found,) = make_integrate(solve.origin[1][0]).overloads.values()
    return found


METHODS = [
    "Tsit5",
    *(pytest.param(m, marks=pytest.mark.deep) for m in ("Rodas5P", "BDF", "RadauIIA5", "KenCarp4")),
]


@pytest.mark.dear
@pytest.mark.parametrize("method", METHODS)
def test_an_integration_is_optimised_once_and_counts_few_references(monkeypatch, method):
    found = compiled_integration(monkeypatch, method)
    assert waits(found.library)  # its solution operator has the machine code
    counts = re.findall(r"call void @NRT_(?:in|de)cref", str(found.library._final_module))
    assert len(counts) < 60  # those of the table of outputs and of what a call allocates
