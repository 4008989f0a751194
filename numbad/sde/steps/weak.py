"""Steps of Roessler's and Komori's methods of weak order 2."""

from numbad.errors import ModelError
from numbad.sde.scheme import WeakKomori, WeakRoessler
from numbad.sde.steps.writer import scaled, weighted, write_step

NO_MATRICES_IN_ARRAYS = (
    "method {!r} takes a diffusion that is a matrix for states in tuples, not in arrays. Ways out: a tuple; "
    "method='EulerMaruyama'"
)


@write_step.register
def _(scheme: WeakRoessler, writer):
    writer.lines.append("root = math.sqrt(h)")
    if not writer.form.is_matrix:
        return _of_vectors(scheme, writer)
    if writer.form.is_array:
        raise ModelError(NO_MATRICES_IN_ARRAYS.format(scheme.name))
    return _of_matrices(scheme, writer)


def _own_weights(scheme, stage, w):
    """Of the first family of stages, for a channel."""
    squared = f"(({w} * {w} - h) / (2.0 * root))"
    return weighted((scheme.betas[0][stage], w), (scheme.betas[1][stage], squared)) or "0.0"


def _drift_stage(scheme, writer, f, noises):
    """The next stage of the drift, given those before and the terms of the noise in it."""
    i = len(f)
    known = [scaled(x, f[j]) for j, x in enumerate(scheme.a0[i]) if x]
    return writer.drift(writer.time(scheme.c0[i]), writer.combined(known + noises, "s"))


def _beside(scheme, writer, f, columns):
    """The state at which the diffusion of the next stage is taken: of one channel, or of each its own."""
    i = len(columns)
    drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a1[i]) if x]
    noises = [scaled(x, columns[j], "root") for j, x in enumerate(scheme.b1[i]) if x]
    return writer.combined(drifts + noises, "s")


def _of_vectors(scheme, writer):
    """One channel, or one for each component; mixed integrals have no part in either."""
    f, g = [], []
    for i in range(len(scheme.alpha)):
        noises = [
            writer.noise(g[j], [f"{x!r} * {w}" for w in writer.w])
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        f.append(_drift_stage(scheme, writer, f, noises))
        beside = _beside(scheme, writer, f, g)
        g.append(writer.diffusion(writer.time(scheme.c1[i]), beside))
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha)]
    last += [
        writer.noise(column, [_own_weights(scheme, i, w) for w in writer.w])
        for i, column in enumerate(g)
    ]
    return writer.end(last)


def _of_matrices(scheme, writer):
    """Several channels; `g[k][i]` is column k of the diffusion at stage i of channel k."""
    channels, stages = range(len(writer.w)), range(len(scheme.alpha))
    f, g = [], [[] for _ in channels]
    for i in stages:
        noises = [
            [f"{x!r} * {writer.w[k]} * {entry}" for entry in g[k][j]]
            for k in channels
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        f.append(_drift_stage(scheme, writer, f, noises))
        for k in channels:
            beside = _beside(scheme, writer, f, g[k])
            rows = writer.diffusion(writer.time(scheme.c1[i]), beside)
            g[k].append([f"{row}[{k}]" for row in rows])
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha)]
    for k, w in enumerate(writer.w):
        for i in stages:
            weight = _own_weights(scheme, i, w)
            last.append([f"({weight}) * {entry}" for entry in g[k][i]])
            mixed = [
                [f"{x!r} * {_mixed(writer, k, other)} * {entry}" for entry in g[other][j]]
                for other in channels
                for j, x in enumerate(scheme.b2[i])
                if x and other != k
            ]
            column = [f"{row}[{k}]" for row in writer.diffusion("t", writer.combined(mixed, "s"))]
            weight = weighted((scheme.betas[2][i], w), (scheme.betas[3][i], "root"))
            last.append([f"({weight}) * {entry}" for entry in column])
    return writer.end(last)


def _mixed(writer, k, other):
    """Source of the mixed integral of two channels, over sqrt h."""
    product = f"{writer.w[k]} * {writer.w[other]}"
    sign = "-" if k < other else "+"
    return f"(0.5 * ({product} / root {sign} {two_point(writer, k, other)}))"


def two_point(writer, k, other):
    """Source of the variable of a pair of channels, sqrt h or -sqrt h with equal chances.

    Roessler, as Komori, has one for each channel but the last. Pairs with a channel in common would then
    share it, their areas be correlated, and the weak order of three channels that do not commute be 1.
    Products of two signs are uncorrelated from pair to pair.
    """
    return f"math.copysign(root, {writer.areas[k]} * {writer.areas[other]})"


@write_step.register
def _(scheme: WeakKomori, writer):
    is_matrix = writer.form.is_matrix
    writer.lines.append("root = math.sqrt(h)")
    if is_matrix and writer.form.is_array:
        raise ModelError(NO_MATRICES_IN_ARRAYS.format(scheme.name))
    channels = range(len(writer.w) if is_matrix else 1)  # a vector's components go side by side
    f, k = [], [[] for _ in channels]
    for i, time in enumerate(scheme.c1):
        before = [scaled(x, f[j]) for j, x in enumerate(scheme.a1[i]) if x]
        states = [before + _noise_terms(scheme, k, i, c) for c in channels]
        drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a0[i]) if x]
        drifts += [_times(x, k[c][j]) for c in channels for j, x in enumerate(scheme.b0[i]) if x]
        f.append(writer.drift(writer.time(scheme.c0[i]), writer.combined(drifts, "s")))
        for c, terms in enumerate(states):
            k[c].append(_noise(writer, writer.time(time), writer.combined(terms, "s"), c))
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha)]
    last += [_times(x, column[i]) for column in k for i, x in enumerate(scheme.beta)]
    return writer.end(last + (_areas(writer, k) if is_matrix else []))


def _noise_terms(scheme, k, i, channel):
    """What the noise before stage i of a channel adds to its state."""
    terms = [_times(x, k[channel][j]) for j, x in enumerate(scheme.b1[i]) if x]
    others = [column for c, column in enumerate(k) if c != channel]
    return terms + [
        _times(x, column[j]) for column in others for j, x in enumerate(scheme.b2[i]) if x
    ]


def _times(x, names):
    return [f"{x} * {name}" for name in names]


def _column(writer, state, channel):
    """Column of the diffusion at the beginning of the step."""
    return [f"{row}[{channel}]" for row in writer.diffusion("t", state)]


def _noise(writer, time, state, channel):
    """Names of W times the diffusion, of one channel where it is a matrix."""
    g = writer.diffusion(time, state)
    if not writer.form.is_matrix:
        return writer.name("k", writer.noise(g, writer.w))
    return writer.name("k", [f"{writer.w[channel]} * {row}[{channel}]" for row in g])


def _areas(writer, k):
    """Terms for the areas of pairs p < q, with a two-point variable Z: about W_p Z (g_p' g_q - g_q' g_p) / 2.

    W_p (g_p(y + Z g_q / 2) - g_p(y - Z g_q / 2)) / 2 - Z (g_q(y + W_p g_p) - g_q(y)) / 2.
    """
    terms = []
    for p, w in enumerate(writer.w[:-1]):
        moved = writer.combined([k[p][0]], "s")
        for q in range(p + 1, len(writer.w)):
            z = writer.fresh("z")
            writer.lines.append(f"{z} = {two_point(writer, p, q)}")
            along = _column(writer, writer.y, q)
            for sign in ("0.5", "-0.5"):
                beside = writer.combined([_times(f"{sign} * {z}", along)], "s")
                terms.append(_times(f"{sign} * {w}", _column(writer, beside, p)))
            terms.append(_times(f"-0.5 * {z}", _column(writer, moved, q)))
            terms.append(_times(f"0.5 * {z}", along))
    return terms
