"""Source of one step, for each form of method: a formula over components, written from the tableau."""

from numbad.sde.steps import (  # noqa: F401 (they register)
    implicit,
    langevin,
    levy,
    milstein_steps,
    reversible,
    roessler,
    runge_kutta_steps,
    weak,
)
from numbad.sde.steps.writer import StepWriter, write_start, write_step

__all__ = ["StepWriter", "write_start", "write_step"]
