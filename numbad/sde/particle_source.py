"""The code of a particle filter: particles carried from observation to observation, weighed, resampled."""

import math

from numbad.compilation.caching import jit
from numbad.random import fold_in, normals
from numbad.sde.filter_source import put_moments
from numbad.sde.model_names import function_of
from numbad.sde.resampling import mean_and_cov, normalized, resampled

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def log_likelihood_of(*given):
    """`log_likelihood(t, y, dt, key, p0, p1, ...)` of observations y, shape (k, m), NaN where there is none.

    Given `functions`, compiled, and `sizes`, as in `filter_source`; how many parameters; how many particles;
    the width of the kernels.
    """
    return _filter("log_likelihood", [], [], "total", *given)


def filtered_of(*given):
    """`filtered(t, y, dt, key, p0, p1, ...)`, likewise: means (k, n), covariances (k, n, n), likelihood."""
    n = given[1]["n"]
    before = [f"means, covs = np.empty((t.size, {n})), np.empty((t.size, {n}, {n}))"]
    each = ["put_moments(means, covs, k, *mean_and_cov(x, weights))"]
    return _filter("filtered", before, each, "means, covs, total", *given)


def _filter(name, before, each, result, functions, sizes, count, particles, width):
    parameters = "".join(f", p{k}" for k in range(count))
    compiled = jit(error_model="numpy")
    names = {
        "first": compiled(first_of(functions, sizes, parameters, particles)),
        "advance": compiled(advance_of(functions, sizes, parameters)),
        "weigh": compiled(_weigh(functions, sizes, parameters)),
        "fold_in": fold_in,
        "normals": normals,
        "normalized": normalized,
        "mean_and_cov": mean_and_cov,
        "put_moments": put_moments,
        "resampled": resampled,
    }
    lines = [
        f"x, total, drawn = first(key{parameters}), 0.0, 1",
        f"weights = np.full({particles}, {1.0 / particles!r})",
        *before,
        "for k in range(t.size):",
        *steps_between(sizes, particles, parameters),
        f"    weights = np.full({particles}, {1.0 / particles!r})",
        "    seen = not np.isnan(y[k]).all()",
        "    if seen:",
        f"        weights, part = normalized(weigh(t[k], y[k], x{parameters}))",
        "        total += part",
        *("    " + line for line in each),
        "    if seen and k < t.size - 1:",
        f"        x, drawn = resampled(x, weights, {width!r}, fold_in(key, drawn)), drawn + 1",
        f"return {result}",
    ]
    return compiled(function_of(f"{name}(t, y, dt, key{parameters})", lines, names))


def first_of(functions, sizes, parameters, particles):
    """The particles at the first observation, shape (n, particles)."""
    n, plain = sizes["n"], parameters.removeprefix(", ")
    known = functions["spread"] is None
    lines = [
        f"mean, x = mean_of({plain}), np.empty(({n}, {particles}))",
        f"spread = {f'np.zeros({n})' if known else f'spread_of({plain})'}",
        f"z = normals(fold_in(key, 0), {n * particles}).reshape(({n}, -1))",
        f"for i in range({particles}):",
        *(f"    x[{c}, i] = mean[{c}] + spread[{c}] * z[{c}, i]" for c in range(n)),
        "return x",
    ]
    names = {"mean_of": functions["mean"], "spread_of": functions["spread"]}
    names |= {"normals": normals, "fold_in": fold_in}
    return function_of(f"first(key{parameters})", lines, names)


def steps_between(sizes, particles, parameters):
    """Lines that carry the particles `x` from the observation before, if any, to observation `k`."""
    channels = sizes["q"] or sizes["n"]
    return [
        "    if k > 0:",
        "        steps = max(1, math.ceil((t[k] - t[k - 1]) / dt - 1e-9))",
        "        h = (t[k] - t[k - 1]) / steps",
        "        for step in range(steps):",
        f"            z = normals(fold_in(key, drawn), {channels * particles}).reshape(({channels}, -1))",
        f"            x, drawn = advance(t[k - 1] + step * h, h, x, z{parameters}), drawn + 1",
    ]


def advance_of(functions, sizes, parameters):
    """A step of Euler and Maruyama."""
    n, q = sizes["n"], sizes["q"]
    given = f"(t, state{parameters})"
    lines = [
        f"root, new, state = math.sqrt(h), np.empty(x.shape), np.empty({n})",
        "for i in range(x.shape[1]):",
        *(f"    state[{c}] = x[{c}, i]" for c in range(n)),
        f"    f, g = drift{given}, diffusion{given}",
    ]
    for c in range(n):
        noise = f"g[{c}] * z[{c}, i]"
        if q is not None:
            noise = " + ".join(f"g[{c}][{j}] * z[{j}, i]" for j in range(q))
        lines.append(f"    new[{c}, i] = x[{c}, i] + h * f[{c}] + root * ({noise})")
    return function_of(f"advance(t, h, x, z{parameters})", [*lines, "return new"], functions)


def _weigh(functions, sizes, parameters):
    """The log density of an observation, given each particle."""
    n, m, plain = sizes["n"], sizes["m"], parameters.removeprefix(", ")
    lines = [
        f"noise, out, state = noise_of({plain}), np.zeros(x.shape[1]), np.empty({n})",
        "for i in range(x.shape[1]):",
        *(f"    state[{c}] = x[{c}, i]" for c in range(n)),
        f"    seen = observe(t, state{parameters})",
    ]
    for j in range(m):
        lines += [
            f"    if row[{j}] == row[{j}]:",
            f"        gap = (row[{j}] - seen[{j}]) / noise[{j}]",
            f"        out[i] -= 0.5 * gap * gap + {_HALF_LOG_2PI!r} + math.log(noise[{j}])",
        ]
    names = {"observe": functions["observe"], "noise_of": functions["noise"]}
    return function_of(f"weigh(t, row, x{parameters})", [*lines, "return out"], names)
