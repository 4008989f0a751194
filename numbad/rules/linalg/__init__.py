"""NumPy's linear algebra as code that both modes differentiate; knows no differentiation engine."""

from . import (  # noqa: F401  (they register themselves)
    determinants,
    eigen,
    least_squares,
    norms,
    orthogonal,
    positive,
    singular,
    symmetric,
    systems,
)
