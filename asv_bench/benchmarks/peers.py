"""Other packages behind one call: `solve(y0, ts, args, tolerance)` -> array of shape (len(ts), n).

Each builder imports its package, so that a benchmark can skip what is not installed.
"""

import os

import numpy as np
from numba import njit

from . import measure

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
    def integrate(address, y0, ts, args, rtol, atol):
        sol = nbsolve2_ivp(address, (ts[0], ts[-1]), y0, method, ts, False, args, rtol, atol)
        ys = sol.y.T.copy()
        sol.free()
        return ys

    def solve(y0, ts, args, tolerance, atol=None):
        return integrate(address, y0, ts, args, tolerance, tolerance if atol is None else atol)

    return solve


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


# -- stiff problems: `build(rhs, start, p, end)` -> `solve(rtol, atol)` -> the state at the end -------
#
# `rhs(y, p, out)` is compiled by Numba; its Python function runs on symbols as well.


def cvodes_solver(rhs, start, p, end):
    """SUNDIALS' CVODES through CasADi: BDF, Newton's method with CasADi's Jacobian."""
    import casadi

    y, out = casadi.SX.sym("y", len(start)), casadi.SX.zeros(len(start))
    rhs.py_func(y, p, out)
    problem, made = {"x": y, "ode": out}, {}

    def solve(rtol, atol):
        if rtol not in made:
            options = {"reltol": rtol, "abstol": atol, "max_num_steps": MAX_STEPS}
            made[rtol] = casadi.integrator("solve", "cvodes", problem, 0.0, end, options)
        return np.asarray(made[rtol](x0=start)["xf"])[:, 0]

    return solve


def cyrk_stiff_solver(rhs, start, p, end):
    """CyRK's BDF, called in Numba."""

    @njit
    def fun(dy, t, y, args):
        rhs(y, args, dy)

    solve = cyrk_solver(fun, "BDF")

    def to_the_end(rtol, atol):
        return solve(start, np.array([0.0, end]), p, rtol, atol)[-1]

    return to_the_end


class _Text:
    """An expression in the language of diffsol, by the operators that right-hand sides use."""

    def __init__(self, text):
        self.text = text

    def _joined(self, sign, other, turned=False):
        given = other.text if isinstance(other, _Text) else repr(float(other))
        left, right = (given, self.text) if turned else (self.text, given)
        return _Text(f"({left} {sign} {right})")

    def __add__(self, other):
        return self._joined("+", other)

    def __radd__(self, other):
        return self._joined("+", other, True)

    def __sub__(self, other):
        return self._joined("-", other)

    def __rsub__(self, other):
        return self._joined("-", other, True)

    def __mul__(self, other):
        return self._joined("*", other)

    def __rmul__(self, other):
        return self._joined("*", other, True)

    def __neg__(self):
        return _Text(f"(-{self.text})")


def diffsol_solver(rhs, start, p, end):
    """diffsol's BDF through pydiffsol, compiled by LLVM."""
    import pydiffsol

    names = [f"y{i}" for i in range(len(start))]
    out = [None] * len(start)
    rhs.py_func([_Text(name) for name in names], p, out)
    initial = ",\n".join(f"  {n} = {float(v)!r}" for n, v in zip(names, start, strict=True))
    slopes = ",\n".join(f"  {slope.text}" for slope in out)
    code = f"in_i {{ unused = 1.0 }}\nu_i {{\n{initial}\n}}\nF_i {{\n{slopes}\n}}\n"
    ode = pydiffsol.Ode(code, matrix_type=pydiffsol.nalgebra_dense, ode_solver=pydiffsol.bdf)

    def solve(rtol, atol):
        ode.rtol, ode.atol = rtol, atol
        return np.asarray(ode.solve(np.array([1.0]), end).ys)[:, -1]

    return solve


# -- their gradients: `build(rhs, start, p, end, rtol, atol)` -> `gradient()`, of the sum of squares of the
# state at the end, by the start and all of `p` in one array ------------------------------------------


def diffrax_stiff_gradient(rhs, start, p, end, rtol, atol):
    """diffrax's Kvaerno5 under RecursiveCheckpointAdjoint."""
    jax = import_jax()
    import diffrax
    import jax.numpy as jnp

    def fun(t, y, p):
        out = [None] * len(start)
        rhs.py_func(list(y), list(p), out)
        return jnp.stack(out)

    def loss(y0, p):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(fun),
            diffrax.Kvaerno5(),
            0.0,
            end,
            None,
            y0,
            p,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            max_steps=MAX_STEPS,
            adjoint=diffrax.RecursiveCheckpointAdjoint(),
        )
        return jnp.sum(solution.ys[-1] ** 2)

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))
    given = jnp.asarray(start), jnp.asarray(p)
    return lambda: np.concatenate([np.asarray(part) for part in gradient(*given)])


def diffsol_gradient(rhs, start, p, end, rtol, atol):
    """diffsol's BDF, by its discrete adjoint or by sensitivities, whichever takes less time."""
    import pydiffsol

    inputs = [f"s{i}" for i in range(len(start))] + [f"p{i}" for i in range(len(p))]
    states, out = [f"y{i}" for i in range(len(start))], [None] * len(start)
    given = np.concatenate([start, p])
    rhs.py_func([_Text(name) for name in states], [_Text(n) for n in inputs[len(start) :]], out)
    values = ", ".join(f"{n} = {float(v)!r}" for n, v in zip(inputs, given, strict=True))
    initial = ",\n".join(f"  y{i} = s{i}" for i in range(len(start)))
    slopes = ",\n".join(f"  {slope.text}" for slope in out)
    code = f"in_i {{ {values} }}\nu_i {{\n{initial}\n}}\nF_i {{\n{slopes}\n}}\n"
    ode = pydiffsol.Ode(code, matrix_type=pydiffsol.nalgebra_dense, ode_solver=pydiffsol.bdf)
    ode.rtol, ode.atol = rtol, atol
    times = np.array([end])

    def by_adjoint():
        solution, kept = ode.solve_adjoint_fwd(given, times)
        return ode.solve_adjoint_bkwd(solution, kept, 2.0 * np.asarray(solution.ys)).ravel()

    def by_sensitivities():
        found = ode.solve_fwd_sens(given, times)
        return 2.0 * np.asarray(found.ys)[:, -1] @ np.asarray(found.sens)[:, :, -1].T

    def seconds(call):
        try:
            call()
        except RuntimeError:  # its adjoint ends early where it is stiff at the end
            return np.inf
        return measure.sample(call, 3)

    return min((by_adjoint, by_sensitivities), key=seconds)
