"""Templates that are kept: how many, of which functions, and on disk."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

from numbad.compilation import template_cache
from tests.compilation.test_relinking import decay, oscillator, solve

pytestmark = pytest.mark.usefixtures("nothing_kept")


@pytest.mark.dear
def test_no_function_is_kept():
    first, second = oscillator("tuples"), decay("tuples")
    gone = [weakref.ref(first), weakref.ref(second)]
    solve(first, "tuples")
    solve(second, "tuples")
    del first, second
    gc.collect()
    assert template_cache._templates
    assert [function() for function in gone] == [None, None]


def test_the_oldest_go():
    known = template_cache._templates
    for k in range(template_cache.MOST + 5):
        template_cache._remember(k, [])
    assert list(known) == list(range(5, template_cache.MOST + 5))


SCRIPT = """
import numba, numpy as np, sys
import numbad as nd
from numbad.compilation import template_cache
rate = float(sys.argv[1])
relinked, found = template_cache.relinked, []

def noted(*given):
    found.append(relinked(*given))
    return found[-1]

template_cache.relinked = noted
fun = numba.njit(lambda t, y, a: (y[1], -rate * a * y[0]))
ys = nd.ode.solver(fun, method="Rodas5P", rtol=1e-10, atol=1e-10)((1.0, 0.0), (0.0, 1.0), (1.0,))
print(sum(one is not None for one in found), *ys[-1])
"""


@pytest.mark.dear
def test_another_process_takes_it_from_the_disk(tmp_path):
    def run(rate):
        environment = {**os.environ, "NUMBAD_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, str(rate)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        count, *end = map(float, done.stdout.split())
        np.testing.assert_allclose(
            end, [np.cos(rate**0.5), -(rate**0.5) * np.sin(rate**0.5)], rtol=1e-8
        )
        return count

    assert run(2.0) == 0
    assert run(3.0) == 1
    for entry in tmp_path.glob("integrate-*"):
        entry.write_bytes(entry.read_bytes()[:500])  # damaged
    assert run(5.0) == 0
    assert run(6.0) == 1
