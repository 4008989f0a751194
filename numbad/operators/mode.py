"""Which mode an operator differentiates in: asked for, or chosen from the types when it is compiled."""

from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import base_scalar
from .results import scalar_of
from .structure import Leaf, leaves

MODES = ("auto", "forward", "reverse")

# Lotka-Volterra by a Runge-Kutta loop of 1000 steps whose growth rate is a sum of n inputs (12 us);
# cost of the gradient over that of the function (AVX-512, best of 30):
#
#     n         1     2     4     6     8    10    12    16    24    32    64
#     forward  1.22  1.19  1.19  1.65  1.58  2.38  2.18  1.80  4.68  3.60  7.09
#     reverse  2.13  2.13  2.13  2.17  2.14  2.29  1.92  2.04  2.06  2.07  2.08
#
# Compiling takes 1.0 to 1.4 s in forward mode up to n = 8, 9.9 s for 64; 0.8 to 3.3 s in reverse.
CROSSOVER = 8
"""The largest number of scalars by which a scalar result is differentiated in forward mode."""


def check_mode(name, mode, chunk=None):
    """Refuse modes that do not exist, and options that a mode has no use for."""
    if mode not in MODES:
        raise ArgumentError(f'nd.{name}: mode is "auto", "forward" or "reverse", not {mode!r}')
    if mode == "reverse" and chunk is not None:
        raise ArgumentError(
            f"nd.{name}: chunk= is the number of partials a pass of forward mode; "
            'mode="reverse" has none'
        )
    return mode


def cheaper(inputs, result=None):
    """The mode that should cost less, for the structures of the inputs.

    `result()` is the structure of the result; without it the result is a scalar. Array to array
    goes forward: which is cheaper depends on sizes that types do not tell.
    """
    found = [leaf for tree in inputs for leaf in leaves(tree) if leaf.kind != "constant"]
    if any(isinstance(base_scalar(scalar_of(leaf)), types.Complex) for leaf in found):
        return "reverse"  # forward mode has no gradient by complex numbers
    if len(found) <= CROSSOVER and all(leaf.kind == "scalar" for leaf in found):
        return "forward"
    tree = None if result is None else result()
    scalar = tree is None or (isinstance(tree, Leaf) and not isinstance(tree.type, types.Array))
    return "reverse" if scalar else "forward"


class Choice:
    """The mode for each signature of one operator: what was chosen, and what was refused."""

    def __init__(self, mode):
        self.mode = mode
        self._taken = {}  # argument types -> modes tried, in order
        self._refused = {}  # argument types -> the first refusal

    def __reduce__(self):
        return Choice, (self.mode,)

    def take(self, argtypes, preferred):
        """The mode to generate code in; `preferred()` tells the better one where both may do."""
        if self.mode != "auto":
            return self.mode
        tried = self._taken.setdefault(argtypes, [])
        if argtypes not in self._refused:
            tried[:] = [preferred()]
        elif len(tried) == 1:
            tried.append("forward" if tried[0] == "reverse" else "reverse")
        return tried[-1]

    def fall_back(self, argtypes, error):
        """Whether the other mode is left to try, now that the one taken is refused."""
        if self.mode != "auto" or argtypes not in self._taken:
            return False
        first = self._refused.setdefault(argtypes, error)
        tried = self._taken[argtypes]
        if len(tried) == 1:
            return True
        del self._taken[argtypes], self._refused[argtypes]
        raise UnsupportedError(
            f"{first.plain_message}\n\n{tried[1].capitalize()} mode refuses it as well: "
            f"{error.plain_message}"
        ) from None
