"""`change_of_drift`: how likely the paths of one equation are under another drift."""

import inspect

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.ode.compiling import as_dispatcher
from numbad.sde.model_names import function_of


def change_of_drift(drift, other, diffusion, components=1):
    """An equation whose state holds, beside that of `drift`, what its paths are worth under another drift.

    Two components are added to the state, both 0 at the start. The first is the logarithm of the density of
    the path under `other` over that under `drift` (Girsanov's theorem): dL = u dW - |u|^2 dt / 2, where u is
    (other - drift) / diffusion. Weights exp(L) turn means over paths of `drift` into means over those of
    `other`. The second is the integral of |u|^2 / 2, whose mean is the Kullback-Leibler divergence of the law
    of paths of `drift` from that of `other` (`logqp` of torchsde).

    Parameters
    ----------
    drift, other, diffusion : function or Numba dispatcher
        As `nd.sde.solver` takes them, with the same further arguments, in Ito's calculus: floats for one
        component, else tuples; noise of its own in each component, nowhere zero.
    components : int
        How many numbers the state of `drift` has: 1, a float, or more, a tuple.

    Returns
    -------
    drift, diffusion : dispatchers
        For `nd.sde.solver(..., noise="general")`, with states of `components` + 2 numbers.

    Raises
    ------
    ArgumentError
        for parameters that differ, for a number of components that is none.

    Notes
    -----
    I. V. Girsanov, Theory Probab. Appl. 5 (1960) 285-301; for the divergence X. Li et al., "Scalable
    Gradients for Stochastic Differential Equations" (2020), arXiv:2001.01328, section 5.

    Examples
    --------
    The chance that a Brownian motion ends above 3, by paths that drift there:

    >>> import math
    >>> from numba import njit
    >>> import numbad as nd
    >>> pair = nd.sde.change_of_drift(lambda t, y: 3.0, lambda t, y: 0.0, lambda t, y: 1.0)
    >>> solve = nd.sde.solver(*pair, noise="general", dt=0.25)
    >>> above = njit(lambda ys: math.exp(ys[-1, 1]) if ys[-1, 0] > 3.0 else 0.0)
    >>> given = solve, (0.0, 0.0, 0.0), (0.0, 1.0), (), nd.random.key(1), 20_000
    >>> found = nd.sde.ensemble(*given, reduce=above)
    >>> abs(found.mean - 0.0013498980316) < 4.0 * found.error < 2e-4
    True
    """
    given = [
        as_dispatcher(function, name)
        for function, name in ((drift, "drift"), (other, "other"), (diffusion, "diffusion"))
    ]
    if not isinstance(components, int) or components < 1:
        raise ArgumentError(f"components is how many numbers the state has, not {components!r}")
    names = [tuple(inspect.signature(f.py_func).parameters) for f in given]
    if any(len(other) != len(names[0]) for other in names) or len(names[0]) < 2:
        told = "; ".join(", ".join(n) for n in names)
        raise ArgumentError(f"the functions take the same arguments (t, y, ...), not {told}")
    return _drift(*given, components), _diffusion(*given, components)


def _head(name, drift):
    """The head of a function with the parameters of a drift, and a call with its state cut out."""
    parameters = list(inspect.signature(drift.py_func).parameters.values())
    stars = ["*" if p.kind is p.VAR_POSITIONAL else "" for p in parameters[2:]]
    more = "".join(f", {star}{p.name}" for star, p in zip(stars, parameters[2:], strict=True))
    return f"{name}(t, y{more})", more


def _shifts(drift, components):
    """Lines that evaluate the functions: `f`, `g` and `u` of each component."""
    state = "y[0]" if components == 1 else f"({', '.join(f'y[{i}]' for i in range(components))})"
    _, more = _head("", drift)
    lines = [
        f"first, second = drift(t, {state}{more}), other(t, {state}{more})",
        f"noise = diffusion(t, {state}{more})",
    ]
    for i in range(components):
        at = "" if components == 1 else f"[{i}]"
        lines.append(f"f{i}, g{i} = first{at}, noise{at}")
        lines.append(f"u{i} = (second{at} - first{at}) / noise{at}")
    return lines


@built_once(lambda drift, *_: drift)
def _drift(drift, other, diffusion, components):
    half = " + ".join(f"u{i} * u{i}" for i in range(components))
    slopes = "".join(f"f{i}, " for i in range(components))
    lines = [*_shifts(drift, components), f"half = 0.5 * ({half})", f"return ({slopes}-half, half)"]
    return _made("changed_drift", drift, other, diffusion, lines)


@built_once(lambda drift, *_: drift)
def _diffusion(drift, other, diffusion, components):
    rows = [[f"g{i}" if i == j else "0.0" for j in range(components)] for i in range(components)]
    rows += [[f"u{j}" for j in range(components)], ["0.0"] * components]
    matrix = "".join(f"({''.join(entry + ', ' for entry in row)}), " for row in rows)
    lines = [*_shifts(drift, components), f"return ({matrix})"]
    return _made("changed_diffusion", drift, other, diffusion, lines)


def _made(name, drift, other, diffusion, lines):
    functions = {"drift": drift, "other": other, "diffusion": diffusion}
    return as_dispatcher(function_of(_head(name, drift)[0], lines, functions), name)
