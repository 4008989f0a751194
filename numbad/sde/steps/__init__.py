"""Source of one step, for each form of method: a formula over components, written from the tableau."""

from numbad.sde.steps import implicit, langevin, milstein, roessler, runge_kutta, weak  # noqa: F401 (they register)
from numbad.sde.steps.writer import StepWriter, write_step

__all__ = ["StepWriter", "write_step"]
