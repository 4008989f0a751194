"""Other packages behind one call: `solve(y0, ts, args, tolerance)` -> array of shape (len(ts), n).

Each builder imports its package, so that a benchmark can skip what is not installed.
"""

import os

import numpy as np
from numba import njit

MAX_STEPS = 100_000


def scipy_solver(fun, method):
    """`scipy.integrate.solve_ivp` on a plain Python function of (t, y, *args)."""
    from scipy.integrate import solve_ivp

    def solve(y0, ts, args, tolerance):
        options = {"method": method, "rtol": tolerance, "atol": tolerance, "args": args}
        return solve_ivp(fun, (ts[0], ts[-1]), y0, t_eval=ts, **options).y.T

    return solve


def cyrk_solver(fun, method="Tsit5"):
    """CyRK's C++ solver, called in Numba, on a C function compiled from `fun(dy, t, y, args)`."""
    from CyRK import nb_diffeq_addr, nbsolve2_ivp

    address = nb_diffeq_addr(fun)

    @njit
    def integrate(address, y0, ts, args, tolerance):
        sol = nbsolve2_ivp(
            address, (ts[0], ts[-1]), y0, method, ts, False, args, tolerance, tolerance
        )
        ys = sol.y.T.copy()
        sol.free()
        return ys

    return lambda y0, ts, args, tolerance: integrate(address, y0, ts, args, tolerance)


def import_jax():
    """JAX in double precision on one thread of the CPU."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def diffrax_integrate(fun, adjoint=None):
    """diffrax's Tsit5 as a function of JAX arrays (y0, ts, args, tolerance)."""
    import_jax()
    import diffrax

    options = {} if adjoint is None else {"adjoint": adjoint}

    def integrate(y0, ts, args, tolerance):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(fun),
            diffrax.Tsit5(),
            ts[0],
            ts[-1],
            None,
            y0,
            args,
            saveat=diffrax.SaveAt(ts=ts),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=MAX_STEPS,
            **options,
        )
        return solution.ys

    return integrate


def diffrax_solver(fun):
    """diffrax's Tsit5, compiled, on `fun(t, y, args)` over JAX arrays."""
    integrate = import_jax().jit(diffrax_integrate(fun))
    return lambda y0, ts, args, tolerance: np.asarray(integrate(y0, ts, args, tolerance))


def diffrax_misfit_gradient(fun, parameters):
    """Gradient by `jacfwd` of a sum of squares, by the parameters and the initial state."""
    jax = import_jax()
    import diffrax
    import jax.numpy as jnp

    integrate = diffrax_integrate(fun, diffrax.ForwardMode())

    def misfit(unknowns, ts, data, tolerance):
        ys = integrate(unknowns[parameters:], ts, unknowns[:parameters], tolerance)
        return jnp.sum((ys - data) ** 2)

    gradient = jax.jit(jax.jacfwd(misfit))
    return lambda *arguments: np.asarray(gradient(*arguments))
