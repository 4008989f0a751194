"""Gradients of stencils written in slices of whole arrays, over the function, and over JAX.

Steps of the heat equation in three dimensions, of Maxwell's equations on a staggered grid, of the flow in a
driven cavity, and diffusion with limited fluxes: problems of the kind that NPBench has (A. Ziogas et al.,
"NPBench: a benchmarking suite for high-performance NumPy", ICS 2021, doi:10.1145/3447818.3460360). Seconds of
compiling stand beside those of the function alone. JAX, compiled and in double precision, where it is
installed. One core.
"""

import functools
import time

import numpy as np
from numba import njit

import numbad as nd

from . import measure, peers

STEPS = 10
RATIO_BARS = {"heat": 1.0, "maxwell": 1.2, "cavity": 2.0, "limited": 2.0}
COMPILE_BAR = 2.2


def heated(u, source):
    """The inner numbers after an explicit step."""
    inner = u[1:-1, 1:-1, 1:-1]
    around = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
    around = around + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
    return inner + 0.1 * (around - 6.0 * inner) + source[1:-1, 1:-1, 1:-1]


def pressed(u, v, p):
    """The inner pressures after a sweep of Jacobi's."""
    by_x = (u[1:-1, 2:] - u[1:-1, :-2]) / 0.2
    by_y = (v[2:, 1:-1] - v[:-2, 1:-1]) / 0.2
    turning = (u[2:, 1:-1] - u[:-2, 1:-1]) * (v[1:-1, 2:] - v[1:-1, :-2]) / 0.04
    load = (by_x + by_y) / 0.002 - by_x * by_x - 2.0 * turning - by_y * by_y
    around = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
    return 0.25 * (around - 0.01 * load)


def carried(w, u, v, slope):
    """An inner velocity after an upwind step."""
    inner = w[1:-1, 1:-1]
    flow = u[1:-1, 1:-1] * (inner - w[1:-1, :-2]) + v[1:-1, 1:-1] * (inner - w[:-2, 1:-1])
    spread = w[1:-1, 2:] + w[1:-1, :-2] + w[2:, 1:-1] + w[:-2, 1:-1] - 4.0 * inner
    return inner - 0.02 * (flow + 0.5 * slope) + 0.02 * spread


def limited(field, weights):
    """A step of diffusion whose fluxes vanish where they go uphill."""
    inner = field[1:-1, 1:-1]
    curved = 4.0 * inner - field[2:, 1:-1] - field[:-2, 1:-1] - field[1:-1, 2:] - field[1:-1, :-2]
    along = curved[1:, 1:-1] - curved[:-1, 1:-1]
    along = along * (along * (inner[1:, 1:-1] - inner[:-1, 1:-1]) <= 0.0)
    across = curved[1:-1, 1:] - curved[1:-1, :-1]
    across = across * (across * (inner[1:-1, 1:] - inner[1:-1, :-1]) <= 0.0)
    gone = along[1:] - along[:-1] + across[:, 1:] - across[:, :-1]
    out = inner[1:-1, 1:-1] - weights * gone
    return (out * out).sum()


def problems():
    """The functions, as someone writes them for Numba."""
    new_heat, new_pressure, new_velocity = map(njit, (heated, pressed, carried))

    def heat(start, source):
        u = start.copy()
        for _ in range(STEPS):
            u[1:-1, 1:-1, 1:-1] = new_heat(u, source)
        return (u * u).sum()

    def maxwell(ex, ey, hz):
        ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
        for _ in range(STEPS):
            ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
            ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
            hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        return (hz * hz).sum()

    def cavity(u, v, p):
        u, v, p = u.copy(), v.copy(), p.copy()
        for _ in range(STEPS):
            p[1:-1, 1:-1] = new_pressure(u, v, p)
            new_u = new_velocity(u, u, v, p[1:-1, 2:] - p[1:-1, :-2])
            v[1:-1, 1:-1] = new_velocity(v, u, v, p[2:, 1:-1] - p[:-2, 1:-1])
            u[1:-1, 1:-1] = new_u
        return (u * u).sum() + (v * v).sum()

    return {"heat": heat, "maxwell": maxwell, "cavity": cavity, "limited": limited}


def jax_problems():
    """The same for JAX, whose arrays do not change."""
    jax = peers.import_jax()

    def stepped(step, state):
        return jax.lax.scan(lambda s, _: (step(*s), None), state, None, length=STEPS)[0]

    def heat(start, source):
        def step(u):
            return (u.at[1:-1, 1:-1, 1:-1].set(heated(u, source)),)

        (u,) = stepped(step, (start,))
        return (u * u).sum()

    def maxwell(ex, ey, hz):
        def step(ex, ey, hz):
            ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
            ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
            turning = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
            return ex, ey, hz.at[:-1, :-1].add(-0.7 * turning)

        hz = stepped(step, (ex, ey, hz))[2]
        return (hz * hz).sum()

    def cavity(u, v, p):
        def step(u, v, p):
            p = p.at[1:-1, 1:-1].set(pressed(u, v, p))
            new_u = carried(u, u, v, p[1:-1, 2:] - p[1:-1, :-2])
            new_v = carried(v, u, v, p[2:, 1:-1] - p[:-2, 1:-1])
            return u.at[1:-1, 1:-1].set(new_u), v.at[1:-1, 1:-1].set(new_v), p

        u, v, _ = stepped(step, (u, v, p))
        return (u * u).sum() + (v * v).sum()

    found = {"heat": heat, "maxwell": maxwell, "cavity": cavity, "limited": limited}
    return jax, {
        name: jax.jit(jax.grad(f, argnums=tuple(range(f.__code__.co_argcount))))
        for name, f in found.items()
    }


SHAPES = {
    "heat": [(40, 40, 40)] * 2,
    "maxwell": [(200, 200)] * 3,
    "cavity": [(60, 60)] * 3,
    "limited": [(260, 260), (256, 256)],
}


def arguments(name):
    rng = np.random.default_rng(0)
    return tuple(0.1 * rng.uniform(0.3, 1.2, shape) for shape in SHAPES[name])


def compiled(name):
    """Calls of the function and of its gradient, and the seconds that it took to compile each."""
    f, given = problems()[name], arguments(name)
    gradient = nd.grad(f, argnums=tuple(range(len(given))), mode="reverse")
    found = []
    for function in (njit(f), gradient):
        start = time.process_time()
        function(*given)
        found.append((functools.partial(function, *given), time.process_time() - start))
    return found


class Stencils:
    """The gradient over the function: time of a call, and of compiling."""

    params = tuple(SHAPES)
    param_names = ("problem",)
    timeout = 300

    def track_ratio(self, name):
        measure.pin()
        (base, _), (gradient, _) = compiled(name)
        return measure.beside(base, {"gradient": gradient})["gradient"].ratio

    def track_compile_ratio(self, name):
        (_, own), (_, of_gradient) = compiled(name)
        return of_gradient / own

    track_ratio.unit = track_compile_ratio.unit = "ratio"


def main():
    options = measure.options(__doc__)
    rows, compile_rows, peer_rows = [], [], []
    for name in SHAPES:
        (base, own), (gradient, of_gradient) = compiled(name)
        timing = measure.beside(base, {"": gradient}, samples=options.samples)[""]
        rows.append(measure.ratio_row(name, timing, RATIO_BARS[name]))
        note = f"{own:.3g} s -> {of_gradient:.3g} s"
        compile_rows.append(measure.Row(name, of_gradient / own, bar=COMPILE_BAR, note=note))
        if not options.no_peers:
            with measure.skipping("JAX"):
                peer_rows.append(_beside_jax(name, gradient, options.samples))
    met = [
        measure.print_table("Gradient over the function", rows),
        measure.print_table("Compile time of the gradient over the function's", compile_rows),
        not peer_rows or measure.print_table("Gradient over JAX's", peer_rows),
    ]
    return 0 if all(met) else 1


def _beside_jax(name, gradient, samples):
    jax, found = jax_problems()
    given = tuple(map(jax.numpy.asarray, arguments(name)))
    for ours, theirs in zip(gradient(), found[name](*given), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)

    def by_jax():
        return jax.block_until_ready(found[name](*given))

    timing = measure.beside(by_jax, {"": gradient}, samples=samples)[""]
    return measure.ratio_row(name, timing, 1.0)


if __name__ == "__main__":
    raise SystemExit(main())
