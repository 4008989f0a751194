"""exp, log, sin, ... in loops: with `nd.vector_math()` over the C library's, and their errors.

`--arguments 100000000` takes as many random arguments of each function and prints the largest distance
from the C library's `long double` functions (64 bits on x86), in units in the last place of a double.
"""

import argparse
import ctypes
import functools
import math
from functools import cache

import numpy as np
from llvmlite import binding
from numba import njit, types
from numba.extending import intrinsic

from . import measure

SIZE = 4096
CHUNK = 2**20
NAMES = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "pow")
BARS = {"exp": 0.4}
GRADIENT_BARS = {"tanh": 0.5}


# -- loops --------------------------------------------------------------------------------------------


def _ours(name):
    from numbad.elementary.replacing import call_in_place

    def codegen(context, builder, sig, args):
        return call_in_place(context, builder, name, args)

    double = types.float64
    if name == "pow":
        return intrinsic(lambda typingctx, x, y: (double(double, double), codegen))
    return intrinsic(lambda typingctx, x: (double(double), codegen))


def _filling(name, function):
    if name == "pow":

        def fill(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i], y[i])
    else:

        def fill(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i])

    return njit(fill)


@cache
def loops(name):
    """Loops `(x, y, out)` over the C library's function and over ours; `y` is for powers."""
    return _filling(name, getattr(math, name)), _filling(name, _ours(name))


def loop_calls(name):
    x, y = np.random.default_rng(0).uniform(0.1, 3.0, (2, SIZE))
    libm, ours = loops(name)
    out = np.empty(SIZE)
    return functools.partial(libm, x, y, out), functools.partial(ours, x, y, out)


def gradient_calls(name):
    """The gradient of a sum of products with `f(x)`, without and with `nd.vector_math()`."""
    import numbad as nd

    function = math.pow if name == "pow" else getattr(math, name)
    if name == "pow":

        def weighted(x, w):
            out = np.empty_like(x)
            for i in range(x.size):
                out[i] = function(x[i], 1.7)
            return np.dot(out, w)
    else:

        def weighted(x, w):
            out = np.empty_like(x)
            for i in range(x.size):
                out[i] = function(x[i])
            return np.dot(out, w)

    arguments = np.random.default_rng(0).uniform(0.1, 3.0, (2, SIZE))
    plain = nd.value_and_grad(weighted, mode="reverse")
    with nd.vector_math():
        vectors = nd.value_and_grad(weighted, mode="reverse")
    return functools.partial(plain, *arguments), functools.partial(vectors, *arguments)


class Loops:
    """Ratios of loops over our functions to those over the C library's."""

    params = NAMES
    param_names = ("function",)

    def track_ratio(self, name):
        measure.pin()
        libm, ours = loop_calls(name)
        return measure.beside(libm, {"ours": ours})["ours"].ratio

    def track_gradient_ratio(self, name):
        measure.pin()
        plain, vectors = gradient_calls(name)
        return measure.beside(plain, {"vectors": vectors})["vectors"].ratio

    track_ratio.unit = track_gradient_ratio.unit = "ratio"


def rows(calls, bars, samples):
    found = []
    for name in NAMES:
        base, own = calls(name)
        timing = measure.beside(base, {"own": own}, samples=samples)["own"]
        note = f"{min(timing.base) / SIZE * 1e9:.3g} -> {timing.best / SIZE * 1e9:.3g} ns a number"
        found.append(
            measure.Row(name, timing.ratio, bar=bars.get(name), best=timing.best_ratio, note=note)
        )
    return found


# -- errors -------------------------------------------------------------------------------------------

_DISTANCES = """
declare x86_fp80 @{name}l({types})
define void @distances(ptr %x, ptr %y, ptr %found, ptr %out, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr double, ptr %x, i64 %i
  %x1 = load double, ptr %px
  %lx = fpext double %x1 to x86_fp80
  %py = getelementptr double, ptr %y, i64 %i
  %y1 = load double, ptr %py
  %ly = fpext double %y1 to x86_fp80
  %pf = getelementptr double, ptr %found, i64 %i
  %f1 = load double, ptr %pf
  %lf = fpext double %f1 to x86_fp80
  %truth = call x86_fp80 @{name}l({given})
  %difference = fsub x86_fp80 %lf, %truth
  %d = fptrunc x86_fp80 %difference to double
  %po = getelementptr double, ptr %out, i64 %i
  store double %d, ptr %po
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}}
"""


@cache
def _distances(name):
    """A C function: what is found less the truth."""
    given = "x86_fp80 %lx, x86_fp80 %ly" if name == "pow" else "x86_fp80 %lx"
    kinds = ", ".join(["x86_fp80"] * (1 + (name == "pow")))
    module = binding.parse_assembly(_DISTANCES.format(name=name, types=kinds, given=given))
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
    call = prototype(engine.get_function_address("distances"))
    call.engine = engine  # which owns the code
    return call


def _arguments(name, rng, n):
    """A half from the middle of the domain, a half spread over it."""
    half = n // 2
    wide = rng.choice([-1.0, 1.0], n - half) * 10.0 ** rng.uniform(-18, 2.8, n - half)
    positive = 10.0 ** rng.uniform(-300, 300, n - half)
    middle, rest = {
        "exp": (rng.uniform(-1, 1, half), rng.uniform(-700, 709, n - half)),
        "log": (rng.uniform(0.5, 2, half), positive),
        "log1p": (rng.uniform(-1, 2, half), 10.0 ** rng.uniform(-20, 300, n - half)),
        "sin": (rng.uniform(-10, 10, half), rng.uniform(-1e6, 1e6, n - half)),
        "cos": (rng.uniform(-10, 10, half), rng.uniform(-1e6, 1e6, n - half)),
        "pow": (rng.uniform(0.2, 4, half), positive),
    }.get(name, (rng.uniform(-2, 2, half), wide))
    x = np.concatenate([middle, rest])
    y = rng.uniform(-1, 1, n) * 707.0 / np.maximum(abs(np.log(abs(x))), 1e-3)
    return x, y


def largest_errors(name, count):
    """The largest error in units in the last place, of our function and of the C library's."""
    rng, worst = np.random.default_rng(1), [0.0, 0.0]
    for start in range(0, count, CHUNK):
        x, y = _arguments(name, rng, min(CHUNK, count - start))
        found, out = np.empty_like(x), np.empty_like(x)
        for k, loop in enumerate(loops(name)):
            loop(x, y, found)
            addresses = (a.ctypes.data for a in (x, y, found, out))
            _distances(name)(*addresses, x.size)
            errors = abs(out) / np.spacing(abs(found))
            worst[k] = max(worst[k], float(errors.max()))
    libm, ours = worst
    return ours, libm


def error_rows(count):
    found = []
    for name in NAMES:
        ours, libm = largest_errors(name, count)
        found.append(measure.Row(name, ours, "ulp", 1.0, note=f"the C library's {libm:.3g}"))
    return found


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--arguments", type=int, default=0)
    count = parser.parse_known_args()[0].arguments
    if count:
        return (
            0 if measure.print_table(f"Errors of {count:.0e} arguments", error_rows(count)) else 1
        )
    options = measure.options(__doc__)
    met = [
        measure.print_table("Loops, over the C library's", rows(loop_calls, BARS, options.samples)),
        measure.print_table(
            "Gradients with nd.vector_math(), over those without",
            rows(gradient_calls, GRADIENT_BARS, options.samples),
        ),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
