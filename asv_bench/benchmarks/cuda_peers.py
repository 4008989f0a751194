"""The Lorenz ensemble in a kernel written by hand, in JAX and in diffrax, for the table of `cuda.py`."""

import importlib.util

import numpy as np

STEPS = 1000


def by_hand(precision, rhos):
    """A call that integrates by 1000 steps of RK4 in a kernel of numba-cuda's, and its result."""
    from numba import cuda, float32, float64

    real = {"float32": float32, "float64": float64}[precision]
    half, sixth, third, step = real(0.5), real(1.0 / 6.0), real(1.0 / 3.0), real(1.0 / STEPS)

    @cuda.jit(device=True)
    def slope(x, y, z, sigma, rho, beta):
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    @cuda.jit
    def kernel(rhos, sigma, beta, out):
        i = cuda.grid(1)
        if i < rhos.size:
            rho = rhos[i]
            x, y, z = real(1.0), real(0.0), real(0.0)
            for _ in range(STEPS):
                a, b, c = slope(x, y, z, sigma, rho, beta)
                h = half * step
                d, e, f = slope(x + h * a, y + h * b, z + h * c, sigma, rho, beta)
                p, q, r = slope(x + h * d, y + h * e, z + h * f, sigma, rho, beta)
                u, v, w = slope(x + step * p, y + step * q, z + step * r, sigma, rho, beta)
                x += step * (sixth * a + third * d + third * p + sixth * u)
                y += step * (sixth * b + third * e + third * q + sixth * v)
                z += step * (sixth * c + third * f + third * r + sixth * w)
            out[0, i], out[1, i], out[2, i] = x, y, z

    given, out = (
        cuda.to_device(rhos.astype(precision)),
        cuda.device_array((3, rhos.size), precision),
    )

    shared = [np.dtype(precision).type(number) for number in (10.0, 8.0 / 3.0)]

    def call():
        kernel[-(-rhos.size // 128), 128](given, *shared, out)
        cuda.synchronize()
        return out

    return call


def has_jax_on_gpu():
    """Whether JAX is here, with a GPU to run on; a word about it."""
    if importlib.util.find_spec("jax") is None:
        return False, "JAX is not installed: pip install 'jax[cuda12]'"
    import jax

    try:
        return bool(jax.devices("gpu")), "JAX"
    except RuntimeError:
        return False, "JAX is installed without its GPU part: pip install 'jax[cuda12]'"


def by_jax(name, precision, rhos):
    """A call that does "fixed" (RK4) or "adaptive" (odeint's DP5, 1e-8) by vmap of one trajectory."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    jax.config.update("jax_enable_x64", True)

    def lorenz(y, t, rho):
        return jnp.stack(
            [10.0 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]]
        )

    def step(y, rho, h):
        a = lorenz(y, 0.0, rho)
        b = lorenz(y + h / 2 * a, 0.0, rho)
        c = lorenz(y + h / 2 * b, 0.0, rho)
        d = lorenz(y + h * c, 0.0, rho)
        return y + h / 6 * (a + 2 * b + 2 * c + d)

    start, ends = jnp.array([1.0, 0.0, 0.0], precision), jnp.array([0.0, 1.0], precision)

    def fixed(rho):
        return jax.lax.fori_loop(0, STEPS, lambda _, y: step(y, rho, 1.0 / STEPS), start)

    def adaptive(rho):
        return odeint(lorenz, start, ends, rho, rtol=1e-8, atol=1e-8)[-1]

    solve = jax.jit(jax.vmap({"fixed": fixed, "adaptive": adaptive}[name]))
    given = jnp.asarray(rhos, precision)
    return lambda: solve(given).block_until_ready()


def has_diffrax():
    """Whether diffrax is installed."""
    return importlib.util.find_spec("diffrax") is not None


def by_diffrax(name, precision, rhos):
    """A call that does "fixed" (1000 steps) or "adaptive" (1e-8) by diffrax's Tsit5, under vmap."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    sigma, beta = jnp.asarray(10.0, precision), jnp.asarray(8.0 / 3.0, precision)

    def lorenz(t, y, rho):
        return jnp.stack(
            [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]]
        )

    start = jnp.array([1.0, 0.0, 0.0], precision)
    control = {
        "fixed": diffrax.ConstantStepSize(),
        "adaptive": diffrax.PIDController(rtol=1e-8, atol=1e-8),
    }[name]
    ends = jnp.asarray(0.0, precision), jnp.asarray(1.0, precision)
    first = jnp.asarray(1.0 / STEPS, precision)

    def one(rho):
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(lorenz),
            diffrax.Tsit5(),
            *ends,
            first,
            start,
            rho,
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=control,
            max_steps=2 * STEPS,
        )
        return found.ys[-1]

    solve = jax.jit(jax.vmap(one))
    given = jnp.asarray(rhos, precision)
    return lambda: solve(given).block_until_ready()
