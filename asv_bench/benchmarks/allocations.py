"""What a step of an ODE solver takes from the heap: allocations of a long solution less those of a short one.

Numba counts them. Steps have one size, so that their number is known. Tables of a gradient grow by doubling:
some allocations however many steps there are, few of which show a step. What happens at an event is code that
is differentiated as a user's is, and allocates rows.

`python -m asv_bench.benchmarks.allocations` prints the table, `... Tsit5 BDF` that of some methods; exit
status 1 where other steps allocate.
"""

import math
import sys

import numba
import numpy as np

STEP = 0.01
SHORT, LONG = 1.0, 11.0  # ends of the solutions
STEPS = round((LONG - SHORT) / STEP)
EVENTS = 2 * round(LONG - SHORT)  # zeros of a component that turns round once a unit of time
DOUBLINGS = (
    3.0  # tables that hold SHORT / STEP rows hold LONG / STEP after so many, and a few have some
)
SIZE = 16

EXPLICIT = ("BS3", "DP5", "Tsit5", "Vern7", "DOP853", "Vern9")
EVEN = ("Euler", "Heun", "RK4", "VelocityVerlet", "McLachlanAtela4")
STIFF = ("Rosenbrock23", "Rodas4", "Rodas5P", "RadauIIA5", "KenCarp4", "BDF", "AutoTsit5")
METHODS = (*EXPLICIT, *EVEN, *STIFF)
CONTINUOUS = ("interpolating", "gauss", "quadrature", "backsolve")

AT_EVENTS = "an event (each time)"

SPEED = 2.0 * math.pi


@numba.njit
def turning(t, y, speed):
    """A component that turns round, and its derivative."""
    return speed * y[1], -speed * y[0]


@numba.njit
def turning_in_place(t, y, dy, speed):
    """The same of many components: positions, then momenta."""
    half = len(y) // 2
    for i in range(half):
        dy[i] = speed * y[half + i]
        dy[half + i] = -speed * y[i]


def pattern():
    """Where the Jacobian of `turning_in_place` is not zero."""
    half = SIZE // 2
    return np.eye(SIZE, k=half) + np.eye(SIZE, k=-half)


def crossing(bound):
    import numbad as nd

    return nd.ode.event(lambda t, y, speed: y[0] - bound)


def solver(method, state, **options):
    """A solver by steps of one size, for a state of a kind, and the initial state."""
    import numbad as nd

    options = dict(method=method, first_step=STEP, max_step=STEP, rtol=0.1, atol=0.1) | options
    if state == "tuple":
        return nd.ode.solver(turning, **options), (1.0, 0.0)
    if state == "sparse":
        options["jac_sparsity"] = pattern()
    start = np.zeros(SIZE)
    start[: SIZE // 2] = 1.0
    return nd.ode.solver(turning_in_place, inplace=True, **options), start


def count(call, *arguments):
    """Allocations of a call of a compiled function, after one that compiles."""
    from numba.core.runtime import rtsys

    call(*arguments)
    before = rtsys.get_allocation_stats().alloc
    call(*arguments)
    return rtsys.get_allocation_stats().alloc - before


def of_more_steps(call, start):
    """How many more allocations a solution of more steps takes."""
    short, long = (count(call, start, np.array([0.0, end]), SPEED) for end in (SHORT, LONG))
    return long - short


def gradient_of(solve):
    import numbad as nd

    def loss(y0, ts, speed):
        return solve(y0, ts, (speed,))[-1, 0]

    return nd.grad(loss, (0, 2), mode="reverse")


def cases(method, state):
    """Names, what is called, and the initial state."""
    solve, start = solver(method, state)
    yield "solution", solve, start
    yield "an event that never happens", solver(method, state, events=crossing(9.0))[0], start
    yield "discrete", gradient_of(solve), start
    if method not in ("VelocityVerlet", "McLachlanAtela4"):
        yield "discrete, 8 checkpoints", gradient_of(solver(method, state, checkpoints=8)[0]), start
    yield "forward", gradient_of(solver(method, state, adjoint="forward")[0]), start
    for adjoint in CONTINUOUS if method in ("Tsit5", "Rodas5P") else ():
        stiff = method in STIFF
        if (adjoint == "backsolve" and stiff) or (state == "sparse" and adjoint == "interpolating"):
            continue
        yield adjoint, gradient_of(solver(method, state, adjoint=adjoint)[0]), start


def table(methods=METHODS):
    """Lines of the table as they are found, each with allocations a step."""
    from numba.core.runtime import _nrt_python

    _nrt_python.memsys_enable_stats()
    for method in methods:
        for state in ("tuple", "array", "sparse") if method in STIFF else ("tuple", "array"):
            for name, call, start in cases(method, state):
                more = of_more_steps(call, start)
                yield method, state, name, more, more / STEPS
            happens = solver(method, state, events=crossing(0.0))[0]
            more = of_more_steps(happens, start)
            yield method, state, AT_EVENTS, more, more / EVENTS


def main(methods=()):
    print(f"Allocations of {STEPS} more steps, and those of each\n")
    print("| method | state | what | more | a step |\n| --- | --- | --- | --- | --- |")
    missed = 0
    for method, state, name, more, each in table(methods or METHODS):
        print(f"| {method} | {state} | {name} | {more} | {each:.3g} |", flush=True)
        missed += name != AT_EVENTS and round(each) > 0
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
