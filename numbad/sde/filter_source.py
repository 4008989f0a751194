"""The code of a Gaussian filter: mean and covariance carried from observation to observation.

Between observations they solve ordinary differential equations, by Runge and Kutta's method of order 4 in
steps of at most dt; at an observation they are conditioned on it. S. Sarkka, A. Solin, "Applied Stochastic
Differential Equations" (2019), sections 9.1 and 10.8.
"""

import math

import numpy as np
from numba import njit

from numbad.compilation.caching import jit
from numbad.operators.first_order import jacobian
from numbad.sde.model_names import function_of


def log_likelihood_of(*given):
    """`log_likelihood(t, y, dt, p0, p1, ...)` of observations y, shape (k, m), NaN where there is none.

    Given `functions`, compiled: "drift", "diffusion", "observe" of (t, y, *p), "noise", "mean", "spread" of
    (*p); `sizes`, the numbers of components "n", of what is observed "m", of channels "q" (None: noise of its
    own in each component); how many parameters; whether the filter is unscented.
    """
    return _filter("log_likelihood", [], [], "total", *given)


def filtered_of(*given):
    """`filtered(t, y, dt, p0, p1, ...)`, for the same: means (k, n), covariances (k, n, n), log-likelihood.

    And what is expected of each observation before it is seen: means (k, m), covariances (k, m, m).
    """
    before = [
        "means, ahead = np.empty((t.size, mean.size)), np.empty((t.size, noise.size))",
        "covs = np.empty((t.size, mean.size, mean.size))",
        "scatters = np.empty((t.size, noise.size, noise.size))",
    ]
    each = [
        "put_moments(means, covs, k, mean, cov)",
        "put_moments(ahead, scatters, k, seen, scatter)",
    ]
    return _filter("filtered", before, each, "means, covs, total, ahead, scatters", *given)


@jit(error_model="numpy")
def first_moments(mean, spread, zero):
    """Mean and covariance at first, of the type that they keep: code for floats would be compiled in vain."""
    n = mean.size
    own, cov = np.empty(n), np.zeros((n, n))
    for i in range(n):
        own[i] = mean[i] + zero
        cov[i, i] = spread[i] * spread[i] + zero
    return own, cov


@jit
def put_moments(means, covs, k, mean, cov):
    """Put a mean and a covariance into row k, number by number.

    To assign a row takes Numba a second more to compile.
    """
    for i in range(mean.size):
        means[k, i] = mean[i]
        for j in range(mean.size):
            covs[k, i, j] = cov[i, j]


def _filter(name, before, each, returned, functions, sizes, count, by_points):
    parameters = "".join(f", p{k}" for k in range(count))
    names = _vectors(functions, sizes, parameters)
    compiled = jit(error_model="numpy")
    if by_points:
        names["slope"] = compiled(_slope_by_points(names, sizes, parameters))
        names["expected"] = compiled(_expected_by_points(names, sizes, parameters))
        seen, narrowed = "seen, cross, scatter", "without(cov, outer)"
    else:
        names["drift_jacobian"] = jacobian(names["drift_vector"], 1, mode="forward")
        names["observe_jacobian"] = jacobian(names["observe_vector"], 1, mode="forward")
        names["slope"] = compiled(_slope_by_jacobian(names, parameters))
        names["expected"] = compiled(_expected_by_jacobian(names, parameters))
        seen = "seen, cross, scatter, by_state"
        narrowed = "joseph(cov, places, root, outer, by_state, noise)"
    names["advance"] = compiled(_advance(names, parameters))
    names |= {
        "conditioned": conditioned,
        "without": without,
        "joseph": joseph,
        "put_moments": put_moments,
        "first_moments": first_moments,
    }
    plain = parameters.removeprefix(", ")
    zero = f"0.0 * ({plain.replace(',', ' +')})" if plain else "0.0"
    lines = [
        f"mean, cov = first_moments(mean_vector({plain}), spread_vector({plain}), {zero})",
        f"noise, total = noise_vector({plain}), 0.0",
        *before,
        "for k in range(t.size):",
        "    if k > 0:",
        "        steps = max(1, math.ceil((t[k] - t[k - 1]) / dt - 1e-9))",
        "        h = (t[k] - t[k - 1]) / steps",
        "        for step in range(steps):",
        f"            mean, cov = advance(t[k - 1] + step * h, h, mean, cov{parameters})",
        f"    {seen} = expected(t[k], mean, cov{parameters})",
        "    for j in range(noise.size):",
        "        scatter[j, j] = scatter[j, j] + noise[j] * noise[j]",
        "    mean, part, places, root, outer = conditioned(mean, y[k], seen, cross, scatter)",
        f"    cov = {narrowed}",
        "    total += part",
        *("    " + line for line in each),
        f"return {returned}",
    ]
    return compiled(function_of(f"{name}(t, y, dt{parameters})", lines, names))


def _vectors(functions, sizes, parameters):
    """The user's functions, as functions that return arrays of floats."""
    found = {}
    plain = parameters.removeprefix(", ")
    for name, length, given in (
        ("drift", "n", f"t, y{parameters}"),
        ("observe", "m", f"t, y{parameters}"),
        ("mean", "n", plain),
        ("spread", "n", plain),
        ("noise", "m", plain),
    ):
        lines = [f"found, out = {name}({given}), np.empty({sizes[length]})"]
        lines += [f"out[{i}] = found[{i}]" for i in range(sizes[length])] + ["return out"]
        vector = function_of(f"{name}_vector({given})", lines, {name: functions[name]})
        found[f"{name}_vector"] = jit(error_model="numpy")(vector)
    n, q = sizes["n"], sizes["q"]
    given = f"t, y{parameters}"
    lines = [f"found, out = diffusion({given}), np.zeros(({n}, {q or n}))"]
    for i in range(n):
        if q is None:
            lines.append(f"out[{i}, {i}] = found[{i}]")
        else:
            lines += [f"out[{i}, {j}] = found[{i}][{j}]" for j in range(q)]
    matrix = function_of(f"diffusion_matrix({given})", [*lines, "return out"], functions)
    found["diffusion_matrix"] = jit(error_model="numpy")(matrix)
    return found


def _advance(names, parameters):
    """One step of the mean and the covariance."""
    lines = [
        f"m1, c1 = slope(t, mean, cov{parameters})",
        f"m2, c2 = slope(t + 0.5 * h, mean + 0.5 * h * m1, cov + 0.5 * h * c1{parameters})",
        f"m3, c3 = slope(t + 0.5 * h, mean + 0.5 * h * m2, cov + 0.5 * h * c2{parameters})",
        f"m4, c4 = slope(t + h, mean + h * m3, cov + h * c3{parameters})",
        "mean = mean + h / 6.0 * (m1 + 2.0 * m2 + 2.0 * m3 + m4)",
        "return mean, cov + h / 6.0 * (c1 + 2.0 * c2 + 2.0 * c3 + c4)",
    ]
    return function_of(f"advance(t, h, mean, cov{parameters})", lines, names)


# -- extended: the drift and what is observed are taken to be linear near the mean ---------------------


def _slope_by_jacobian(names, parameters):
    lines = [
        f"rate, noise = drift_jacobian(t, mean{parameters}), diffusion_matrix(t, mean{parameters})",
        f"return drift_vector(t, mean{parameters}), spreading(rate, cov, noise)",
    ]
    head = f"slope(t, mean, cov{parameters})"
    return function_of(head, lines, {**names, "spreading": spreading})


def _expected_by_jacobian(names, parameters):
    lines = [
        f"seen, by_state = observe_vector(t, mean{parameters}), observe_jacobian(t, mean{parameters})",
        "cross, scatter = through(by_state, cov)",
        "return seen, cross, scatter, by_state",
    ]
    head = f"expected(t, mean, cov{parameters})"
    return function_of(head, lines, {**names, "through": through})


@njit(error_model="numpy")
def spreading(rate, cov, noise):
    """rate cov + cov rate^T + noise noise^T."""
    n = cov.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += rate[i, k] * cov[k, j] + cov[i, k] * rate[j, k]
            for k in range(noise.shape[1]):
                total += noise[i, k] * noise[j, k]
            out[i, j] = total
    return out


@njit(error_model="numpy")
def through(by_state, cov):
    """Covariances of the state with what is observed, (n, m), and of that, (m, m)."""
    m, n = by_state.shape
    cross, scatter = np.zeros((n, m)), np.zeros((m, m))
    for i in range(n):
        for j in range(m):
            for k in range(n):
                cross[i, j] += cov[i, k] * by_state[j, k]
    for i in range(m):
        for j in range(m):
            for k in range(n):
                scatter[i, j] += by_state[i, k] * cross[k, j]
    return cross, scatter


# -- unscented: both are taken at the 2 n points of the cubature rule of degree 3 -----------------------


def _slope_by_points(names, sizes, parameters):
    n = sizes["n"]
    lines = [
        f"root, out, change = lower_root(cov), np.zeros({n}), np.zeros(({n}, {n}))",
        f"weight, reach = {0.5 / n!r}, {math.sqrt(n)!r}",
        f"for p in range({2 * n}):",
        f"    away = (reach if p < {n} else -reach) * root[:, p % {n}]",
        f"    f = drift_vector(t, mean + away{parameters})",
        f"    g = diffusion_matrix(t, mean + away{parameters})",
        f"    for i in range({n}):",
        "        out[i] += weight * f[i]",
        f"        for j in range({n}):",
        "            part = away[i] * f[j] + f[i] * away[j]",
        "            for k in range(g.shape[1]):",
        "                part += g[i, k] * g[j, k]",
        "            change[i, j] += weight * part",
        "return out, change",
    ]
    head = f"slope(t, mean, cov{parameters})"
    return function_of(head, lines, {**names, "lower_root": lower_root})


def _expected_by_points(names, sizes, parameters):
    n, m = sizes["n"], sizes["m"]
    lines = [
        f"root, values = lower_root(cov), np.zeros(({2 * n}, {m}))",
        f"seen, cross, scatter = np.zeros({m}), np.zeros(({n}, {m})), np.zeros(({m}, {m}))",
        f"weight, reach = {0.5 / n!r}, {math.sqrt(n)!r}",
        f"for p in range({2 * n}):",
        f"    away = (reach if p < {n} else -reach) * root[:, p % {n}]",
        f"    value = observe_vector(t, mean + away{parameters})",
        f"    for j in range({m}):",
        "        values[p, j] = value[j]",
        "        seen[j] += weight * value[j]",
        f"for p in range({2 * n}):",
        f"    for j in range({m}):",
        f"        for i in range({n}):",
        f"            away = (reach if p < {n} else -reach) * root[i, p % {n}]",
        "            cross[i, j] += weight * away * (values[p, j] - seen[j])",
        f"        for i in range({m}):",
        "            scatter[i, j] += weight * (values[p, i] - seen[i]) * (values[p, j] - seen[j])",
        "return seen, cross, scatter",
    ]
    head = f"expected(t, mean, cov{parameters})"
    return function_of(head, lines, {**names, "lower_root": lower_root})


@njit(error_model="numpy")
def lower_root(a):
    """The lower triangular L with L L^T = a, NaN where a is not positive definite."""
    n = a.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= out[i, k] * out[j, k]
            out[i, j] = math.sqrt(total) if i == j else total / out[j, j]
    return out


@njit(error_model="numpy")
def conditioned(mean, row, seen, cross, scatter):
    """The mean given the entries of an observation that are not NaN, and their log density.

    And what the covariance is made from: their places, L with L L^T their covariance, and the covariances of
    the state with the observation whitened by L.
    """
    places = np.flatnonzero(~np.isnan(row))
    count, n = places.size, mean.size
    inner, gap, outer = np.zeros((count, count)), np.zeros(count), np.zeros((n, count))
    for a in range(count):
        gap[a] = row[places[a]] - seen[places[a]]
        for b in range(count):
            inner[a, b] = scatter[places[a], places[b]]
        for i in range(n):
            outer[i, a] = cross[i, places[a]]
    root, total = lower_root(inner), 0.0
    for a in range(count):  # gap and outer become those of the whitened observation
        for b in range(a):
            gap[a] = gap[a] - root[a, b] * gap[b]
            for i in range(n):
                outer[i, a] = outer[i, a] - root[a, b] * outer[i, b]
        gap[a] = gap[a] / root[a, a]
        for i in range(n):
            outer[i, a] = outer[i, a] / root[a, a]
        total -= 0.5 * (gap[a] * gap[a] + math.log(2.0 * math.pi)) + math.log(root[a, a])
    new_mean = mean.copy()
    for a in range(count):
        for i in range(n):
            new_mean[i] += outer[i, a] * gap[a]
    return new_mean, total, places, root, outer


@njit(error_model="numpy")
def without(cov, outer):
    """cov - outer outer^T: the covariance given the observation."""
    out = cov.copy()
    for i in range(outer.shape[0]):
        for j in range(outer.shape[0]):
            for a in range(outer.shape[1]):
                out[i, j] -= outer[i, a] * outer[j, a]
    return out


@njit(error_model="numpy")
def joseph(cov, places, root, outer, by_state, noise):
    """The same where the Jacobian H of what is observed is known.

    (I - K H) P (I - K H)^T + K R K^T is a sum of what is positive; P - K S K^T loses all digits where the
    state was known much less well than what is observed. R. Bucy, P. Joseph, "Filtering for Stochastic
    Processes with Applications to Guidance" (1968).
    """
    count, n = places.size, cov.shape[0]
    gain = outer.copy()  # K L = outer
    for i in range(n):
        for a in range(count - 1, -1, -1):
            for b in range(a + 1, count):
                gain[i, a] -= root[b, a] * gain[i, b]
            gain[i, a] /= root[a, a]
    left = np.zeros((n, n))
    for i in range(n):
        left[i, i] = 1.0
        for j in range(n):
            for a in range(count):
                left[i, j] -= gain[i, a] * by_state[places[a], j]
    half, out = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                half[i, j] += left[i, k] * cov[k, j]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                out[i, j] += half[i, k] * left[j, k]
            for a in range(count):
                error = noise[places[a]]
                out[i, j] += gain[i, a] * error * error * gain[j, a]
    return out
