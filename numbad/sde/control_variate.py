"""Control variates: what is known of one number made of a path tells about another.

P. Glasserman, "Monte Carlo Methods in Financial Engineering" (2003), 4.1.
"""

import math
from functools import cache

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.sde.ensemble_source import reduced_type
from numbad.sde.model_names import function_of

# A control varies if its variance is more than this fraction of its mean square.
ROUNDING = 1e-14


@built_once(lambda payoff, _: payoff)
def with_control(payoff, control):
    """`reduce(ys)`: a payoff, its control, their product, and the control's square."""
    for name, function in (("reduce", payoff), ("control", control)):
        found = reduced_type(cpu_target.typing_context, function)
        if isinstance(found, types.BaseTuple):
            raise ArgumentError(f"with a control, {name}(ys) returns one float, not {found}")
    lines = ["f, h = payoff(ys), control(ys)", "return f, h, f * h, h * h"]
    functions = {"payoff": payoff, "control": control}
    return jit(error_model="numpy")(function_of("reduce(ys)", lines, functions))


@cache
def adjusting(statistics):
    """`adjust(found, mean)`: the mean of a payoff and its error, from the statistics of `with_control`.

    The mean is corrected by as much of what is off in the control's as goes with the payoff by least squares.
    Derivatives are those of the corrected mean as it is computed: they see that this factor changes.
    """

    @jit(error_model="numpy")
    def adjust(found, mean):
        payoff, control, product, square = found.mean
        of_payoff, of_control = found.error[0] ** 2, (square - control**2) / (found.paths - 1)
        together = (product - payoff * control) / (found.paths - 1)
        varies = (found.paths - 1) * of_control > ROUNDING * square
        factor = together / of_control if varies else 0.0
        left = of_payoff - 2.0 * factor * together + factor * factor * of_control
        error = 0.0 if left <= 0.0 else math.sqrt(left)  # NaN of a single path
        return statistics(payoff - factor * (control - mean), error, found.paths, found.failed)

    return adjust
