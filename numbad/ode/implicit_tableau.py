"""Implicit Runge-Kutta methods, whose stages are solved for by Newton's method, as data.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", IV.6 and IV.8. With s_i = h k_i the
stages solve M s_i = h f(t + c_i h, y + sum_j a_ij s_j): all of them at once where the matrix is full, one
after the other where it is lower triangular with one diagonal element (and, perhaps, an explicit first
stage). The last stage is the new state.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numbad.ode.tableau import Tableau


@dataclass(frozen=True, kw_only=True)
class ImplicitTableau(Tableau):
    """A stiffly accurate method of implicit stages; rows of `a` have a coefficient for each stage.

    The error is estimated by `start_error` h f(t, y) + sum `error[j]` s_j, smoothed by the real one of
    the matrices that Newton's method factors, Hairer & Wanner, IV.8, (8.19).
    """

    start_error: float = 0.0

    is_implicit = True

    def __post_init__(self):
        stages = len(self.b)
        lengths = {len(row) for row in self.a} | {len(self.a), len(self.error), len(self.c)}
        if lengths != {stages} or self.a[-1] != self.b or len(self.interpolant) != self.slopes:
            raise ValueError(f"tableau {self.name}: a, b, error, c and interpolant do not match")

    @cached_property
    def explicit_stages(self):
        """1 where the first stage is f(t, y), else 0."""
        return int(not any(self.a[0]))

    @cached_property
    def per_block(self):
        """How many stages are solved for at once."""
        matrix = np.array(self.a)
        return 1 if not np.triu(matrix, 1).any() else self.stages

    @property
    def rows_of_a_step(self):
        """Slopes and increments of the stages; behind them are the slopes of the last step."""
        return 2 * self.stages

    @property
    def blocks(self):
        return (self.stages - self.explicit_stages) // self.per_block

    @property
    def first_same_as_last(self):
        """Whether the last stage is the first of the next step."""
        return bool(self.explicit_stages)

    @cached_property
    def systems(self):
        """(real, pair): eigenvalue, left and right eigenvector of the inverse of a block's matrix.

        `pair` stands for a complex eigenvalue and its conjugate, None where a block is one stage; the
        left eigenvectors are scaled so that their products with the right ones are 1.
        """
        first = self.explicit_stages
        block = np.array(self.a)[first : first + self.per_block, first : first + self.per_block]
        values, right = np.linalg.eig(np.linalg.inv(block))
        left = np.linalg.inv(right)
        order = np.argsort(-values.imag)
        found = [(values[k], left[k], right[:, k]) for k in order]
        if self.per_block == 1:
            return tuple(part.real for part in found[0]), None
        (pair, (value, row, column), _) = found
        scale = np.exp(-1j * np.angle(column[-1]))
        return (value.real, (row / scale).real, (column * scale).real), pair

    @cached_property
    def predictors(self):
        """Row i weighs the stages before in a guess of stage i, where they are solved for one by one.

        It extrapolates a line, or a parabola, through those nearest in time.
        """
        rows = np.zeros((self.stages, self.stages))
        for i in range(1, self.stages):
            nearest = sorted(range(i), key=lambda j: abs(self.c[j] - self.c[i]))[:3]
            for j in nearest:
                others = [self.c[k] for k in nearest if k != j]
                rows[i, j] = np.prod([(self.c[i] - c) / (self.c[j] - c) for c in others])
        return rows

    @cached_property
    def slope_coefficients(self):
        """Row j has the coefficients of 1, theta, ... of the derivative of the weight of stage j."""
        rows = np.array(self.interpolant[: self.stages])
        return rows * np.arange(1, rows.shape[1] + 1)

    @property
    def takes_mass(self):
        """Not where the first stage is a slope, which no equation gives for components without mass."""
        return not self.explicit_stages

    @property
    def feedback(self):
        """As of other stiff methods: steps follow the last error alone."""
        return 1.0, 0.0

    def statistics(self, control, accepted, extended, told):
        evaluations, jacobians, factorizations = told
        return evaluations + accepted * (not self.first_same_as_last), jacobians, factorizations


def collocation(c):
    """(a, interpolant) of the collocation method at nodes c, Hairer, Norsett & Wanner, I, II.7."""
    c = np.array(c)
    powers = np.arange(len(c))
    # column j: the coefficients of the polynomial that is 1 at node j and 0 at the others
    basis = np.linalg.inv(c[:, None] ** powers)
    integrals = basis / (powers + 1)[:, None]
    a = (c[:, None] ** (powers + 1)) @ integrals
    return tuple(map(tuple, a.tolist())), tuple(map(tuple, integrals.T.tolist()))
