"""Steps of methods with Levy areas, for general noise."""

from numbad.sde.scheme import ITO, LevyMilstein, LogODE
from numbad.sde.steps.writer import scaled, write_step


@write_step.register
def _(scheme: LevyMilstein, writer):
    g = writer.diffusion("t", writer.y)
    last = [scaled(1.0, writer.drift("t", writer.y)), writer.noise(g, writer.w)]
    writer.lines.append("root = math.sqrt(h)")
    less = "h" if writer.calculus == ITO else "0.0"
    if writer.form.is_array:
        last.append([_of_array(writer, g[0], less)])
        return writer.end(last)
    for k in range(writer.form.channels):
        weights = [_integral(writer, j, k, less) for j in range(writer.form.channels)]
        moved = writer.name("v", [f"({source}) / root" for source in writer.noise(g, weights)])
        ends = []
        for sign in "+-":
            beside = [f"{y} {sign} {v}" for y, v in zip(writer.y, moved, strict=True)]
            ends.append(writer.diffusion("t", writer.name("s", beside)))
        pairs = zip(*ends, strict=True)
        last.append([f"0.5 * root * ({up}[{k}] - {down}[{k}])" for up, down in pairs])
    return writer.end(last)


def _pair(writer, j, k):
    """The number of a pair of channels j < k."""
    return j * (2 * writer.form.channels - j - 1) // 2 + k - j - 1


def _integral(writer, j, k, less):
    """Source of the integral of W_j dW_k."""
    w, a = writer.w, writer.areas
    if j == k:
        return f"0.5 * ({w[j]} * {w[j]} - {less})"
    sign, pair = ("+", _pair(writer, j, k)) if j < k else ("-", _pair(writer, k, j))
    return f"(0.5 * {w[j]} * {w[k]} {sign} {a[pair]})"


def _of_array(writer, g, less):
    """Lines of the double integrals' term for arrays; its name."""
    y, found, j = writer.y[0], writer.fresh("v"), writer.fresh("j")
    more = writer.form.arguments()
    writer.lines += [
        f"integrals = double_integrals({writer.w[0]}, {writer.areas[0]}, {less})",
        f"{found} = np.zeros({y}.size)",
        f"for {j} in range({g}.shape[1]):",
        f"    along = matrix_times({g}, np.ascontiguousarray(integrals[:, {j}])) / root",
        f"    up, down = diffusion(t, {y} + along{more}), diffusion(t, {y} - along{more})",
        f"    {found} = {found} + 0.5 * root * (up[:, {j}] - down[:, {j}])",
    ]
    return found


@write_step.register
def _(scheme: LogODE, writer):
    first = _field(writer, "t", writer.y)
    middle = writer.combined([[f"0.5 * ({source})" for source in first]], "s")
    return writer.end([_field(writer, "t + 0.5 * h", middle)])


def _field(writer, t, y):
    """Names of h f + sum_k g_k W_k + sum_(j<k) A_jk [g_j, g_k], the vector field of a step.

    The sum of the brackets is that over k of the slope of g_k along sum_j A_jk g_j.
    """
    drift, g = writer.drift(t, y), writer.diffusion(t, y)
    terms = [scaled(1.0, drift), writer.noise(g, writer.w)]
    if writer.form.is_array:
        terms.append([_brackets_of_array(writer, t, y[0], g[0])])
    else:
        terms += _brackets(writer, t, y, g)
    return writer.name("v", [" + ".join(row) for row in zip(*terms, strict=True)])


def _brackets(writer, t, y, g):
    channels = range(writer.form.channels)
    for k in channels if len(channels) > 1 else ():
        weights = [
            "0.0"
            if j == k
            else writer.areas[_pair(writer, j, k)]
            if j < k
            else f"-{writer.areas[_pair(writer, k, j)]}"
            for j in channels
        ]
        direction = writer.name("v", writer.noise(g, weights))
        yield [f"{row}[{k}]" for row in writer._along(t, y, direction)]


def _brackets_of_array(writer, t, y, g):
    found, k = writer.fresh("v"), writer.fresh("j")
    given = f"({t}, {y}{writer.form.arguments()})"
    writer.lines += [
        f"integrals = double_integrals(0.0 * {writer.w[0]}, {writer.areas[0]}, 0.0)",
        f"{found} = np.zeros({y}.size)",
        f"for {k} in range({g}.shape[1]):",
        f"    along = matrix_times({g}, np.ascontiguousarray(integrals[:, {k}]))",
        f"    _, slope = diffusion_jvp({given}, (along,))",
        f"    {found} = {found} + slope[:, {k}]",
    ]
    return found
