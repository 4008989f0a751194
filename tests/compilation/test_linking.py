"""What compiled derivatives leave to their callers can be called, printed from and kept on its own."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit, types
from numba.core.registry import cpu_target
from numba.experimental import jitclass
from numba.extending import intrinsic

import numbad as nd
from numbad.compilation.linking import LinkedLibrary, waits

MODES = "forward", "reverse"


@pytest.fixture(autouse=True)
def _compiled_here(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")


def _libraries(dispatcher):
    return [cres.library for cres in dispatcher.overloads.values()]


def _with_helper():
    @njit
    def helper(n, scale):
        return 3.0 * n + scale

    @njit
    def f(x, n):
        return x * x * helper(n, 0.5)  # of constants: the helper is compiled as it is

    return f, helper


def test_a_helper_waits_and_is_called_from_python():
    f, helper = _with_helper()
    assert nd.grad(f, 0, mode="reverse")(2.0, 4) == 4.0 * 12.5
    assert _libraries(helper)
    assert all(map(waits, _libraries(helper)))
    compiled = len(helper.overloads)
    assert [helper(n, 0.5) for n in (4, 5, 6)] == [12.5, 15.5, 18.5]
    assert len(helper.overloads) == compiled
    assert not any(map(waits, _libraries(helper)))
    assert helper(1, 2) == 5.0  # other types than those that waited
    assert f(2.0, 4) == 50.0
    assert nd.grad(f, 0, mode="reverse")(3.0, 4) == 6.0 * 12.5


def test_several_signatures_wait():
    @njit
    def half(x):
        return 0.5 * x

    @njit
    def f(x, n, y):
        return x * half(n) * half(np.float32(y))

    assert nd.grad(f, 0, mode="reverse")(1.0, 4, 3.0) == 3.0
    assert len(half.overloads) >= 2
    assert all(map(waits, _libraries(half)))
    assert half(np.float32(3.0)) == 1.5
    assert half(4) == 2.0
    assert half(1.0) == 0.5


def test_what_python_calls_has_machine_code():
    f, _ = _with_helper()
    gradient = nd.grad(f, 0, mode="reverse")
    gradient(2.0, 4)
    assert not any(map(waits, _libraries(gradient)))


def test_a_waiting_function_is_passed_as_a_pointer():
    f, helper = _with_helper()
    nd.grad(f, 0, mode="reverse")(2.0, 4)
    assert any(map(waits, _libraries(helper)))

    @njit(types.float64(types.FunctionType(types.float64(types.int64, types.float64)), types.int64))
    def apply(function, n):
        return function(n, 1.0)

    assert apply(helper, 3) == 10.0


@pytest.mark.parametrize("mode", MODES)
def test_printing_from_a_helper(mode, capfd):
    @njit
    def told(n):
        print("told", n)
        return n + 1

    def make():
        @njit
        def f(x, n):
            return x * told(n)

        return f

    for k in range(2):  # the second caller links what the first one linked
        assert nd.grad(make(), 0, mode=mode)(1.0, 5 + k) == 6.0 + k
    assert "told 5" in capfd.readouterr().out


@pytest.mark.parametrize("mode", MODES)
def test_a_helper_raises_with_values(mode):
    @njit
    def checked(n):
        if n > 3:
            raise ValueError("too many", n)
        return n

    @njit
    def f(x, n):
        return x * checked(n)

    @njit
    def g(x, n):
        return math.sin(x) * checked(n)

    for function in (f, g):
        assert nd.grad(function, 0, mode=mode)(0.0, 3) == 3.0
        with pytest.raises(ValueError, match="too many") as error:
            nd.grad(function, 0, mode=mode)(0.0, 7)
        assert error.value.args == ("too many", 7)
    with pytest.raises(ValueError, match="too many"):
        checked(8)


@pytest.mark.parametrize("mode", MODES)
def test_recursive_helpers(mode):
    @njit
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    @njit
    def even(n):
        return True if n == 0 else odd(n - 1)

    @njit
    def odd(n):
        return False if n == 0 else even(n - 1)

    even(2)

    @njit
    def f(x, n):
        return x * factorial(n) if even(n) else -x

    assert nd.grad(f, 0, mode=mode)(1.0, 6) == 720.0
    assert nd.grad(f, 0, mode=mode)(1.0, 5) == -1.0
    assert factorial(5) == 120


def test_recursive_helpers_of_what_is_refused():
    """Of ints it calls itself of floats, by an address that has to be there for others as well."""

    @njit
    def climb(x, n):
        return 1.0 * x if n <= 0 else math.sin(climb(0.5 * x + 0.1, n - 1)) + x

    @intrinsic
    def sine(typingctx, x):
        def codegen(context, builder, signature, args):
            return builder.call(builder.module.declare_intrinsic("llvm.sin", [args[0].type]), args)

        return x(x), codegen

    @njit
    def f(x, n):
        return x * climb(n, 2) * sine(x)

    with pytest.raises(nd.UnsupportedError):
        nd.grad(f, 0, mode="reverse")(0.5, 3)
    assert njit(lambda n: climb(n, 2))(3) == climb.py_func(3, 2)


def test_numba_compiles_as_ever_afterwards():
    f, _ = _with_helper()
    nd.grad(f, 0)(2.0, 4)
    library = cpu_target.target_context.codegen().create_library("any")
    assert not isinstance(library, LinkedLibrary)

    @njit
    def g(x):
        return x + 1.0

    assert g(1.0) == 2.0
    assert not any(map(waits, _libraries(g)))


def _with_nested_helpers(table):
    @njit
    def looked_up(n):
        return table[n]

    @njit
    def doubled(n):
        return 2.0 * looked_up(n)

    @njit
    def f(x, n):
        return x * doubled(n) * looked_up(n)

    return f, doubled


@pytest.mark.parametrize("entries", [4, 200_000])  # in the code, and by address
def test_what_waits_knows_of_addresses_in_its_parts(entries):
    f, doubled = _with_nested_helpers(np.arange(1.0, entries + 1.0))
    assert nd.grad(f, 0, mode="reverse")(1.0, 2) == 2.0 * 9.0
    (library,) = _libraries(doubled)
    assert waits(library)
    assert library.has_dynamic_globals == (entries > 4)
    library.finish()
    assert library.has_dynamic_globals == (entries > 4)


def test_numbas_own_code_links_what_waits_with_its_parts():
    f, doubled = _with_nested_helpers(np.arange(1.0, 5.0))
    nd.grad(f, 0, mode="reverse")(1.0, 2)
    assert all(map(waits, _libraries(doubled)))

    @njit
    def caller(n):
        return doubled(n) + 1.0

    assert caller(3) == 9.0
    assert all(map(waits, _libraries(doubled)))
    assert doubled(3) == 8.0
    assert nd.grad(f, 0, mode="reverse")(1.0, 3) == 32.0
    assert not any(map(waits, _libraries(doubled)))


def test_each_part_is_linked_once(monkeypatch):
    """A chain of helpers, each of which calls all that come after it."""
    linked = []
    link = LinkedLibrary._link_parts

    def link_parts(library):
        linked.append(library.name)
        link(library)

    monkeypatch.setattr(LinkedLibrary, "_link_parts", link_parts)
    f, doubled = _with_nested_helpers(np.arange(1.0, 5.0))
    nd.grad(f, 0, mode="reverse")(1.0, 2)
    assert linked
    assert not any("doubled" in name or "looked_up" in name for name in linked)


@jitclass([("rate", types.float64)])
class Rate:
    def __init__(self, rate):
        self.rate = rate

    def __add__(self, other):
        return Rate(self.rate + other.rate)


def test_fields_are_read_in_python_where_a_derivative_has_met_the_class_first():
    def sum_times(x):
        return (Rate(x) + Rate(x * x)).rate * x

    assert nd.value_and_grad(sum_times, mode="reverse")(0.5) == (0.375, 1.75)
    assert (Rate(1.0) + Rate(2.0)).rate == 3.0


CHOSEN = """
import numbad as nd
from numba import njit

square, double = njit(lambda x: x * x), njit(lambda x: 2.0 * x)

@njit
def f(x, y, first):
    g = square if first else double
    return g(x)

@njit
def of_a_constant(x, y, first):
    g = square if first else double
    return g(y) * x

print(nd.grad(f, mode="forward")(3.0, 0.5, True), nd.grad(f, mode="forward")(3.0, 0.5, False))
print(nd.grad(of_a_constant, mode="reverse")(3.0, 0.5, True))
"""


@pytest.mark.dear
def test_functions_chosen_at_run_time_without_optimisation():
    """LLVM ends the process where it finds no address for what C would call of them."""
    environment = {**os.environ, "NUMBA_OPT": "0", "NUMBAD_CACHE_DIR": "off"}
    command = [sys.executable, "-W", "ignore", "-c", CHOSEN]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["6.0", "2.0", "0.25"], ran.stderr


INTERRUPTED = """
import math, os, signal, sys
import numpy as np
import numbad as nd
from numbad.compilation import linking

original = linking.LinkedLibrary._optimize_final_module
planted = []


def optimize(library):
    original(library)
    if library.name == "grad_f" and not planted:
        planted.append(library)
        {plant}


linking.LinkedLibrary._optimize_final_module = optimize


def f(x):
    return math.sin(x[0]) * x[1]


signal.signal(signal.SIGINT, signal.default_int_handler)  # shells' background jobs ignore Ctrl-C
gradient = nd.grad(f, mode="{mode}")
x = np.array([0.0, 2.0])
try:
    gradient(x)
except BaseException as error:
    print(type(error).__name__)
print(planted != [], gradient(x).tolist(), nd.jacobian(f)(x).tolist())
"""


@pytest.mark.dear
@pytest.mark.deep(but=["*KeyboardInterrupt-forward", "*MemoryError-reverse"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("plant", "told"),
    [
        ("os.kill(os.getpid(), signal.SIGINT)", "KeyboardInterrupt"),
        ("raise MemoryError", "MemoryError"),
    ],
)
def test_an_operator_whose_first_call_was_interrupted(mode, plant, told):
    """Whoever presses Ctrl-C while machine code is generated calls the same operator again."""
    code = INTERRUPTED.format(mode=mode, plant=plant)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [told, "True [2.0, 0.0] [2.0, 0.0]"]
