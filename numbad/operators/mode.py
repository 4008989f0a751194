"""Which mode an operator differentiates in: asked for, or chosen from the types when it is compiled."""

from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import base_scalar
from .argument_structure import ArgumentLeaf, leaves
from .results import scalar_of

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
"""The largest number of scalars by which a result is differentiated in forward mode for sure."""

# Jacobians of m results by arrays of n numbers, forward (16 partials a pass) and reverse (m lanes, one
# pass); cost over that of the function. A map with a sine for each of the m n pairs, then 100 Euler
# steps of m states whose rate is a sum of the n inputs (AVX-512, processor time, best of 7):
#
#     map      n = 4  16   64   reverse    Euler    n = 4  16    64   reverse
#     m = 1      1.6  1.8   5.8   1.2 - 1.5            1.4  1.5   4.8   2.0
#     m = 2      1.6  2.0   7.3   1.2 - 1.9            1.6  1.7   5.3   2.0
#     m = 4      1.7  2.3   8.7   1.2 - 2.1            1.8  1.7   5.9   1.6
#     m = 8      1.8  2.5   9.9   2.1 (n = 16)         2.6  2.9  10.6   3.3
#     m = 16     1.9  2.7  10.7   2.6 (n = 16)         4.6  4.7  19.0  10.9
FEW_ROWS = 8
"""The largest number of results, known from the code, that arrays are differentiated for in reverse."""


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


def cheaper(inputs, result=None, rows=None):
    """The mode that should cost less, for the structures of the inputs.

    `result()` is the structure of the result; without it the result is a scalar. `rows()` is how
    many numbers the result has, where all are pulled back in one sweep and the code tells it, else
    None. Other results go forward: which is cheaper depends on sizes that types do not tell.
    """
    found = [leaf for tree in inputs for leaf in leaves(tree) if leaf.kind != "constant"]
    if any(isinstance(base_scalar(scalar_of(leaf)), types.Complex) for leaf in found):
        return "reverse"  # forward mode has no gradient by complex numbers
    if len(found) <= CROSSOVER and all(leaf.kind == "scalar" for leaf in found):
        return "forward"
    tree = None if result is None else result()
    scalar = tree is None or (
        isinstance(tree, ArgumentLeaf) and not isinstance(tree.type, types.Array)
    )
    if scalar:
        return "reverse"
    number = None if rows is None else rows()
    return "reverse" if number is not None and number <= FEW_ROWS else "forward"


class Choice:
    """The mode for each signature of one operator: what was chosen, and what was refused."""

    def __init__(self, mode):
        self.mode = mode
        self._taken = {}  # argument types -> modes tried, in order
        self._refused = {}  # argument types -> the first refusal
        self._one_by_one = {}  # argument types -> how reverse mode takes rows, where it has tried
        self._own = {}  # argument types -> whether the function's own Jacobian does, where it was tried

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

    def used(self):
        """The modes that code was generated in so far."""
        return {self.mode} if self.mode != "auto" else {tried[-1] for tried in self._taken.values()}

    def may_be_own(self, argtypes):
        """Whether a Jacobian that the function brings along may still be taken."""
        return self.mode != "forward" and self._own.get(argtypes, True)

    def take_own(self, argtypes):
        """Note that it is taken."""
        self._own[argtypes] = True

    def may_go_together(self, argtypes):
        """Whether reverse mode may still take several rows of a Jacobian at once."""
        return not self._one_by_one.get(argtypes, False)

    def take_rows(self, argtypes, *, one_by_one):
        """Note how the rows of a Jacobian are taken; once one by one, always one by one."""
        self._one_by_one[argtypes] = one_by_one

    def fall_back(self, argtypes, error):
        """Whether another way is left to try, now that the one taken is refused."""
        if self._own.get(argtypes, False):
            self._own[argtypes] = False
            return True
        if self._one_by_one.get(argtypes) is False:
            self.take_rows(argtypes, one_by_one=True)
            return True
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
