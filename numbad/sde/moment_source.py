"""The code of simulated moments: series as the model draws them, their moments, the density of the data's."""

import math

import numpy as np
from numba import njit

from numbad.compilation.caching import jit
from numbad.random import fold_in, normals
from numbad.sde.filter_source import lower_root
from numbad.sde.model_names import function_of
from numbad.sde.particle_source import advance_of, first_of, steps_between
from numbad.sde.resampling import mean_and_cov


def log_likelihood_of(moments, functions, sizes, count, paths):
    """`log_likelihood(t, y, dt, key, p0, ...)`, of the moments of y; arguments as in `particle_source`."""
    parameters = "".join(f", p{k}" for k in range(count))
    compiled = jit(error_model="numpy")
    names = {
        "first": compiled(first_of(functions, sizes, parameters, paths)),
        "advance": compiled(advance_of(functions, sizes, parameters)),
        "record": compiled(_record(functions, sizes, parameters)),
        "moments": moments,
        "fold_in": fold_in,
        "normals": normals,
        "density": density,
    }
    m = sizes["m"]
    lines = [
        f"x, drawn, series = first(key{parameters}), 1, np.empty(({paths}, t.size, {m}))",
        "for k in range(t.size):",
        *steps_between(sizes, paths, parameters),
        f"    z = normals(fold_in(key, drawn), {m * paths}).reshape(({m}, -1))",
        "    drawn += 1",
        f"    record(t[k], y[k], x, z, series[:, k]{parameters})",
        "seen = moments(t, y)",
        f"found = np.empty((len(seen), {paths}))",
        f"for i in range({paths}):",
        "    values = moments(t, series[i])",
        "    for c in range(len(seen)):",
        "        found[c, i] = values[c]",
        "return density(seen, found)",
    ]
    return compiled(function_of(f"log_likelihood(t, y, dt, key{parameters})", lines, names))


def _record(functions, sizes, parameters):
    """What is observed of each path, with noise, into rows of `out`; NaN where the data are."""
    n, m, plain = sizes["n"], sizes["m"], parameters.removeprefix(", ")
    exact = functions["noise"] is None
    lines = [
        f"noise, state = {f'np.zeros({m})' if exact else f'noise_of({plain})'}, np.empty({n})",
        "for i in range(x.shape[1]):",
        *(f"    state[{c}] = x[{c}, i]" for c in range(n)),
        f"    seen = observe(t, state{parameters})",
    ]
    for j in range(m):
        value = f"seen[{j}] + noise[{j}] * z[{j}, i]"
        lines.append(f"    out[i, {j}] = {value} if row[{j}] == row[{j}] else math.nan")
    names = {"observe": functions["observe"], "noise_of": functions["noise"]}
    return function_of(f"record(t, row, x, z, out{parameters})", lines, names)


@njit(error_model="numpy")
def density(seen, found):
    """The log density of what is seen, a normal one of the moments found, shape (count, paths)."""
    count, paths = found.shape
    mean, cov = mean_and_cov(found, np.full(paths, 1.0 / paths))
    # Unbiased, and with the variance of the mean among so many paths.
    root = lower_root(cov * ((paths + 1.0) / (paths - 1.0)))
    gap, total = np.empty(count), 0.0
    for a in range(count):
        gap[a] = seen[a] - mean[a]
        for b in range(a):
            gap[a] = gap[a] - root[a, b] * gap[b]
        gap[a] = gap[a] / root[a, a]
        total -= 0.5 * (gap[a] * gap[a] + math.log(2.0 * math.pi)) + math.log(root[a, a])
    return total
