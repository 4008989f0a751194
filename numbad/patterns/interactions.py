"""Which numbers meet in a second derivative: the pattern of a Hessian.

By the chain rule, the Hessian of a result is a sum over all operations of the program: the second
derivatives of each, between whatever its operands depend on, times the adjoint of what it returns. So an
entry may differ from zero only where one operation brings its two columns together other than in a sum
(Walther, "Computing sparse Hessians with automatic differentiation", ACM TOMS 34, 2008). That the
adjoint may be zero is not looked at: an operation counts whose result is dropped.
"""

from . import sets


class Interactions:
    """The pairs of sets of columns that operations bring together."""

    def __init__(self):
        self.pairs = set()

    def add(self, a, b):
        """Any of `a` may meet any of `b`."""
        if a and b:
            self.pairs.add((a, b))

    def rows(self, count):
        """The columns that each of `count` ones meets, as sets."""
        met = [sets.EMPTY] * count
        for pair in self.pairs:
            for a, b in (pair, pair[::-1]):
                for k in sets.members(a).tolist():
                    met[k] = sets.union(met[k], b)
        return met
