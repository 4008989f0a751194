"""Stiff problems (O3 POLLU and the Brusselator in two dimensions, O4 Robertson), with Jacobians by hand.

`rhs(y, p, out)` and `jac(y, p, J)` are compiled. POLLU: J. G. Verwer, "Gauss-Seidel iteration for stiff
ODEs from chemical kinetics", SIAM J. Sci. Comput. 15 (1994), and the Bari test set of initial value problems.
"""

import numpy as np
from numba import njit

# Each reaction: the species that it takes, one or two, and what it changes of each species.
REACTIONS = (
    (0, None, {0: -1, 1: 1, 2: 1}),
    (1, 3, {0: 1, 1: -1, 3: -1}),
    (4, 1, {0: 1, 1: -1, 4: -1, 5: 1}),
    (6, None, {4: 2, 6: -1, 7: 1}),
    (6, None, {6: -1, 7: 1}),
    (6, 5, {4: 1, 5: -1, 6: -1, 7: 1}),
    (8, None, {4: 1, 7: 1, 8: -1, 9: 1}),
    (8, 5, {5: -1, 8: -1, 10: 1}),
    (10, 1, {0: 1, 1: -1, 9: 1, 10: -1, 11: 1}),
    (10, 0, {0: -1, 10: -1, 12: 1}),
    (12, None, {0: 1, 10: 1, 12: -1}),
    (9, 1, {0: 1, 1: -1, 9: -1, 13: 1}),
    (13, None, {4: 1, 6: 1, 13: -1}),
    (0, 5, {0: -1, 5: -1, 14: 1}),
    (2, None, {2: -1, 3: 1}),
    (3, None, {3: -1, 15: 1}),
    (3, None, {2: 1, 3: -1}),
    (15, None, {5: 2, 15: -1}),
    (15, None, {2: 1, 15: -1}),
    (16, 5, {4: 1, 5: -1, 16: -1, 17: 1}),
    (18, None, {1: 1, 18: -1}),
    (18, None, {0: 1, 2: 1, 18: -1}),
    (0, 3, {0: -1, 3: -1, 18: 1}),
    (18, 0, {0: -1, 18: -1, 19: 1}),
    (19, None, {0: 1, 18: 1, 19: -1}),
)
RATES = np.array(
    [
        0.35,
        26.6,
        12300.0,
        0.00086,
        0.00082,
        15000.0,
        0.00013,
        24000.0,
        16500.0,
        9000.0,
        0.022,
        12000.0,
        1.88,
        16300.0,
        4800000.0,
        0.00035,
        0.0175,
        100000000.0,
        444000000000.0,
        1240.0,
        2.1,
        5.78,
        0.0474,
        1780.0,
        3.12,
    ]
)
POLLU_START = np.zeros(20)
POLLU_START[[1, 3, 6, 7, 8, 16]] = 0.2, 0.04, 0.1, 0.3, 0.01, 0.007
POLLU_END = np.array(
    [  # at t = 60, published
        0.05646255480022769,
        0.1342484130422339,
        4.139734331099427e-09,
        0.005523140207484359,
        2.018977262302196e-07,
        1.464541863493966e-07,
        0.07784249118997964,
        0.3245075353396018,
        0.007494013383880406,
        1.622293157301561e-08,
        1.135863833257075e-08,
        0.002230505975721359,
        0.000208716288279863,
        1.396921016840158e-05,
        0.008964884856898295,
        4.352846369330103e-18,
        0.006899219696263405,
        0.0001007803037365946,
        1.772146513969984e-06,
        5.682943292316392e-05,
    ]
)


def _compiled(name, lines, parameters="y, p, out"):
    scope = {}
    exec("\n".join([f"def {name}({parameters}):", *(f"    {line}" for line in lines)]), scope)
    return njit(error_model="numpy")(scope[name])


def pollu():
    """`rhs` and `jac` of the pollution problem, 20 species, written out."""
    rhs = [
        f"r{m} = p[{m}] * y[{a}]" + ("" if b is None else f" * y[{b}]")
        for m, (a, b, _) in enumerate(REACTIONS)
    ]
    jac = ["out[:, :] = 0.0"]
    for i in range(20):
        terms = [
            f"{change[i]:+d} * r{m}" for m, (*_, change) in enumerate(REACTIONS) if i in change
        ]
        rhs.append(f"out[{i}] = {' '.join(terms)}")
    for m, (a, b, changes) in enumerate(REACTIONS):
        for i, change in changes.items():
            other = "" if b is None else f" * y[{b}]"
            jac.append(f"out[{i}, {a}] += {change} * p[{m}]{other}")
            if b is not None:
                jac.append(f"out[{i}, {b}] += {change} * p[{m}] * y[{a}]")
    return _compiled("rhs", rhs), _compiled("jac", jac)


def pollu_pulls():
    """`pull` and `pull_moved` of the pollution problem, see `rodas5p.build_adjoint`."""
    pull, moved = [], []
    for m, (a, b, changes) in enumerate(REACTIONS):
        both = f"w = {' '.join(f'{change:+d} * v[{i}]' for i, change in changes.items())}"
        pull.append(both)
        moved.append(both)
        if b is None:
            pull += [f"by_p[{m}] += w * y[{a}]", f"by_y[{a}] += w * p[{m}]"]
            moved.append(f"by_p[{m}] += w * k[{a}]")
            continue
        pull += [f"by_p[{m}] += w * y[{a}] * y[{b}]", f"w *= p[{m}]"]
        pull += [f"by_y[{a}] += w * y[{b}]", f"by_y[{b}] += w * y[{a}]"]
        moved += [f"by_p[{m}] += w * (y[{a}] * k[{b}] + y[{b}] * k[{a}])", f"w *= p[{m}]"]
        moved += [f"by_y[{a}] += w * k[{b}]", f"by_y[{b}] += w * k[{a}]"]
    return (
        _compiled("pull", pull, "y, p, v, by_y, by_p"),
        _compiled("pull_moved", moved, "y, p, k, v, by_y, by_p"),
    )


# The Brusselator on 5 x 5 cells, periodic: p holds A, B and the two diffusivities of each cell.
SIDE = 5
CELLS = SIDE * SIDE
BRUSSELATOR = np.concatenate([np.full(CELLS, 3.4), np.ones(CELLS), np.full(2 * CELLS, 10.0)])
PER_AREA = float((SIDE - 1) ** 2)
NEIGHBOURS = np.array(
    [
        [
            (i + 1) % SIDE + SIDE * j,
            (i - 1) % SIDE + SIDE * j,
            i + SIDE * ((j + 1) % SIDE),
            i + SIDE * ((j - 1) % SIDE),
        ]
        for j in range(SIDE)
        for i in range(SIDE)
    ]
)


def brusselator_start():
    x = np.linspace(0.0, 1.0, SIDE)
    bump = (x * (1.0 - x)) ** 1.5
    return np.concatenate([np.repeat(22.0 * bump, SIDE), np.tile(27.0 * bump, SIDE)])


@njit(error_model="numpy")
def brusselator(y, p, out):
    for c in range(CELLS):
        u, v = y[c], y[CELLS + c]
        spread_u, spread_v = -4.0 * u, -4.0 * v
        for k in range(4):
            spread_u += y[NEIGHBOURS[c, k]]
            spread_v += y[CELLS + NEIGHBOURS[c, k]]
        out[c] = (
            p[2 * CELLS + c] * spread_u * PER_AREA + p[CELLS + c] + u * u * v - (p[c] + 1.0) * u
        )
        out[CELLS + c] = p[3 * CELLS + c] * spread_v * PER_AREA + p[c] * u - u * u * v


@njit(error_model="numpy")
def brusselator_jacobian(y, p, out):
    out[:, :] = 0.0
    for c in range(CELLS):
        u, v = y[c], y[CELLS + c]
        a, b = p[2 * CELLS + c] * PER_AREA, p[3 * CELLS + c] * PER_AREA
        for k in range(4):
            out[c, NEIGHBOURS[c, k]] += a
            out[CELLS + c, CELLS + NEIGHBOURS[c, k]] += b
        out[c, c] += -4.0 * a + 2.0 * u * v - (p[c] + 1.0)
        out[c, CELLS + c] += u * u
        out[CELLS + c, c] += p[c] - 2.0 * u * v
        out[CELLS + c, CELLS + c] += -4.0 * b - u * u


@njit(error_model="numpy")
def brusselator_pull(y, p, v, by_y, by_p):
    for c in range(CELLS):
        d = CELLS + c
        a, b = p[2 * CELLS + c] * PER_AREA * v[c], p[3 * CELLS + c] * PER_AREA * v[d]
        spread_u, spread_v = -4.0 * y[c], -4.0 * y[d]
        for k in range(4):
            near = NEIGHBOURS[c, k]
            by_y[near] += a
            by_y[CELLS + near] += b
            spread_u += y[near]
            spread_v += y[CELLS + near]
        both = 2.0 * y[c] * y[d]
        by_y[c] += -4.0 * a + (both - p[c] - 1.0) * v[c] + (p[c] - both) * v[d]
        by_y[d] += -4.0 * b + y[c] * y[c] * (v[c] - v[d])
        by_p[c] += y[c] * (v[d] - v[c])
        by_p[d] += v[c]
        by_p[2 * CELLS + c] += spread_u * PER_AREA * v[c]
        by_p[3 * CELLS + c] += spread_v * PER_AREA * v[d]


@njit(error_model="numpy")
def brusselator_pull_moved(y, p, k, v, by_y, by_p):
    for c in range(CELLS):
        d = CELLS + c
        spread_u, spread_v = -4.0 * k[c], -4.0 * k[d]
        for j in range(4):
            spread_u += k[NEIGHBOURS[c, j]]
            spread_v += k[CELLS + NEIGHBOURS[c, j]]
        w = v[c] - v[d]
        by_y[c] += w * 2.0 * (y[d] * k[c] + y[c] * k[d])
        by_y[d] += w * 2.0 * y[c] * k[c]
        by_p[c] -= k[c] * w
        by_p[2 * CELLS + c] += spread_u * PER_AREA * v[c]
        by_p[3 * CELLS + c] += spread_v * PER_AREA * v[d]


@njit(error_model="numpy")
def robertson(y, p, out):
    a, b, c = p[0] * y[0], p[1] * y[1] * y[1], p[2] * y[1] * y[2]
    out[0], out[1], out[2] = c - a, a - c - b, b


@njit(error_model="numpy")
def robertson_jacobian(y, p, out):
    out[0, 0], out[0, 1], out[0, 2] = -p[0], p[2] * y[2], p[2] * y[1]
    out[1, 0], out[1, 1], out[1, 2] = p[0], -p[2] * y[2] - 2.0 * p[1] * y[1], -p[2] * y[1]
    out[2, 0], out[2, 1], out[2, 2] = 0.0, 2.0 * p[1] * y[1], 0.0
