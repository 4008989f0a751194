"""What `numbad` loads, and when."""

import subprocess
import sys

import pytest

import numbad as nd

MET = """
import numbad as nd
from numba import njit

def relaxation(t, y, level):
    return (level - y[0],)

@njit
def f(x):
    return {call}

print(f(1.5))
"""

CALLS = {
    "stop_gradient": ("nd.stop_gradient(x)", "1.5"),
    "random": ("nd.random.uniform(nd.random.key(3), 2) < x", "True"),
    "ode": ("nd.ode.steady_state(relaxation, (0.5,), (x,))[0]", "1.5"),
    "special": ("nd.special.gamma(x - 0.5)", "1.0"),
    "derivative": ("nd.derivative(lambda y: y * x)(2.0)", "1.5"),
}


@pytest.mark.deep(but=["stop_gradient"])
@pytest.mark.parametrize("name", CALLS)
def test_names_that_compiled_code_is_the_first_to_use(name):
    """They are loaded while Numba compiles, and have to be known to it at once."""
    call, expected = CALLS[name]
    script = MET.format(call=call)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [expected]


def test_completion_offers_what_is_public():
    assert {name for name in dir(nd) if not name.startswith("__")} == {*nd.__all__, "cuda"} - {
        "__version__"
    }


THREADS = """
import threading
{first}
import numbad as nd

errors = []

def use(name):
    try:
        getattr(nd, name)
    except Exception as error:
        errors.append(repr(error))

names = ["ode", "sde", "fit", "grad", "batch", "debug", "special"] * 2
threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(errors)
"""


@pytest.mark.parametrize("first", ["", "import numba"], ids=["alone", "after numba"])
def test_threads_that_load_at_once(first):
    script = THREADS.format(first=first)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stderr
