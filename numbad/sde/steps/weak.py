"""Steps of Roessler's methods of weak order 2."""

from numbad.errors import ModelError
from numbad.sde.scheme import WeakRoessler
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
    return f"(0.5 * ({product} / root {sign} math.copysign(root, {writer.areas[min(k, other)]})))"
