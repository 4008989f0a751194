"""Forward mode: ratio to the primal on Lotka-Volterra RK4, cost of a call, heap allocations."""

import functools
import math

import numpy as np
from numba import njit

from . import measure
from .reference import lotka_volterra

FLOAT_BARS = {1: 1.35, 2: None, 4: None, 6: 1.9}
ARRAY_BARS = {8: None, 16: None, 32: 8.0}
OVERHEAD_BAR = 1.0  # microseconds
OVERHEAD_CASES = ("float", "six floats", "tuple of six", "array of six", "three arrays")
OVERHEAD_ARGNUMS = {"six floats": tuple(range(6)), "three arrays": tuple(range(3))}


def float_calls(inputs):
    """Primal, and its gradient by the first `inputs` floats, as calls without arguments."""
    import numbad as nd

    arguments = lotka_volterra.arguments()
    primal = njit(lotka_volterra.misfit)
    gradient = nd.grad(primal, argnums=tuple(range(inputs)), mode="forward")
    return functools.partial(primal, *arguments), functools.partial(gradient, *arguments)


def array_calls(inputs):
    """Primal with piecewise constant rates, and its `jacobian` by the array of rates."""
    import numbad as nd

    arguments = lotka_volterra.piecewise_arguments(inputs)
    primal = njit(lotka_volterra.piecewise_misfit)
    jacobian = nd.jacobian(primal, argnums=0, mode="forward")
    return functools.partial(primal, *arguments), functools.partial(jacobian, *arguments)


def calls(inputs):
    return float_calls(inputs) if inputs in FLOAT_BARS else array_calls(inputs)


def hand_tangent():
    """The six derivatives by hand."""
    return functools.partial(lotka_volterra.tangent, *lotka_volterra.arguments())


def smooth(x):
    return math.sin(x) * x


def six_floats(a, b, c, d, e, f):
    return a * b + c * d + e * f


def six_in_sequence(x):
    return x[0] * x[1] + x[2] * x[3] + x[4] * x[5]


def three_arrays(x, y, z):
    return x[0] * x[1] + y[0] * y[1] + z[0] * z[1]


def overhead_calls(case):
    """A cheap primal and its derivative, as calls without arguments."""
    import numbad as nd

    six = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    function, arguments = {
        "float": (smooth, (0.7,)),
        "six floats": (six_floats, six),
        "tuple of six": (six_in_sequence, (six,)),
        "array of six": (six_in_sequence, (np.array(six),)),
        "three arrays": (three_arrays, tuple(np.array(six).reshape(3, 2))),
    }[case]
    primal = njit(function)
    argnums = OVERHEAD_ARGNUMS.get(case, 0)
    operator = nd.grad(primal, argnums=argnums, mode="forward")
    if case == "float":
        operator = nd.derivative(primal)
    return functools.partial(primal, *arguments), functools.partial(operator, *arguments)


def allocations(call):
    """Allocations of Numba's run-time in a call (raw blocks and reference-counted objects)."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    call()
    before = rtsys.get_allocation_stats()
    result = call()
    after = rtsys.get_allocation_stats()
    del result
    return after.alloc - before.alloc + after.mi_alloc - before.mi_alloc


def allocation_calls():
    """Derivatives of scalar functions of scalars, by name; none may allocate."""
    import numbad as nd

    second = nd.derivative(nd.derivative(smooth))
    six = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    return {
        "derivative": functools.partial(nd.derivative(smooth), 0.7),
        "second derivative": functools.partial(second, 0.7),
        "grad, six floats": overhead_calls("six floats")[1],
        "grad, tuple of six": overhead_calls("tuple of six")[1],
        "value_and_grad, tuple of six": functools.partial(nd.value_and_grad(six_in_sequence), six),
        "jvp": functools.partial(nd.jvp(smooth), (0.7,), (1.0,)),
        "grad of grad": functools.partial(nd.grad(nd.grad(smooth)), 0.7),
    }


class LotkaVolterra:
    """Gradient over primal by the number of inputs: floats up to six, an array beyond."""

    params = (*FLOAT_BARS, *ARRAY_BARS)
    param_names = ("inputs",)

    def setup(self, inputs):
        measure.pin()
        self.primal, self.gradient = calls(inputs)
        self.gradient()

    def time_gradient(self, inputs):
        self.gradient()

    def track_ratio_to_primal(self, inputs):
        return measure.beside(self.primal, {"gradient": self.gradient})["gradient"].ratio

    track_ratio_to_primal.unit = "ratio"


class Overhead:
    """Microseconds that a derivative's call from Python takes over the primal's."""

    params = OVERHEAD_CASES
    param_names = ("arguments",)

    def setup(self, case):
        measure.pin()
        self.primal, self.operator = overhead_calls(case)

    def track_excess(self, case):
        return measure.beside(self.primal, {"own": self.operator})["own"].excess * 1e6

    track_excess.unit = "us"


class Allocations:
    """Heap allocations in derivatives of scalar functions."""

    def track_scalar_functions(self):
        return sum(allocations(call) for call in allocation_calls().values())

    track_scalar_functions.unit = "allocations"


def ratio_rows(options):
    rows = []
    for inputs, bar in (FLOAT_BARS | ARRAY_BARS).items():
        primal, gradient = calls(inputs)
        contenders = {"gradient": gradient}
        if inputs == 6:
            contenders["hand"] = hand_tangent()
        timings = measure.beside(primal, contenders, samples=options.samples)
        kind = "floats, grad" if inputs in FLOAT_BARS else "in an array, jacobian"
        rows.append(measure.ratio_row(f"{inputs} {kind}", timings["gradient"], bar))
        if inputs == 6:
            rows.append(measure.ratio_row("6 tangents by hand", timings["hand"]))
    return rows


def overhead_rows(options):
    rows = []
    for case in OVERHEAD_CASES:
        primal, operator = overhead_calls(case)
        timing = measure.beside(primal, {"own": operator}, samples=options.samples)["own"]
        excess, best = timing.excess * 1e6, (timing.best - min(timing.base)) * 1e6
        note = f"primal {np.median(timing.base) * 1e6:.3g} us"
        rows.append(measure.Row(case, excess, "us", OVERHEAD_BAR, best=best, note=note))
    return rows


def allocation_rows():
    return [
        measure.Row(name, allocations(call), "allocs", bar=0)
        for name, call in allocation_calls().items()
    ]


def main():
    options = measure.options(__doc__)
    title = "Lotka-Volterra RK4, 10,000 steps, over the primal"
    met = [
        measure.print_table(title, ratio_rows(options)),
        measure.print_table("A call from Python, over the primal's", overhead_rows(options)),
        measure.print_table("Heap allocations a call", allocation_rows()),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
