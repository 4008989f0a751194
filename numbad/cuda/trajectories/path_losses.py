"""A loss of each path of an SDE and its gradient: Greeks of a payoff, say, by reverse mode."""

import numpy as np

from numbad.cuda.trajectories.adjoint_march import Record
from numbad.cuda.trajectories.losses import LossGradient
from numbad.cuda.trajectories.ode_march import refused
from numbad.cuda.trajectories.path_adjoint import (
    PathAdjointProblem,
    back_path_kernel,
    recording_path_kernel,
)
from numbad.forward.dualize import has_own_rule
from numbad.sde.digital import warn_of_digital
from numbad.sde.grid import count_steps

# Each step's state, and nothing besides: its time and its size are those of the grid.
_RECORD = Record(every=1, numbers=0, keep=None, reached=None)


class PathLossGradient(LossGradient):
    """What is taken of paths, all of which take as many steps."""

    adaptive = False

    def __init__(self, request, loss):
        super().__init__(request, loss)
        warn_of_digital(loss)

    @staticmethod
    def check_plan(request):
        plan = request.plan
        plan.check_method(request.keys)
        for function in (plan.problem.drift, plan.problem.diffusion):
            if has_own_rule(function):
                raise refused(f"the adjoint of {function.__name__}, which has a rule of its own")

    def there_and_back(self, times):
        request, plan = self.request, self.request.plan
        whole = plan.is_whole(times, request.precision)
        given = request.y0, request.args, request.keys
        made = PathAdjointProblem(plan.problem, *given, whole, request.precision)
        return recording_path_kernel(made), back_path_kernel(made, tuple(request.by))

    def room(self, times):
        steps = count_steps(np.asarray(times, float), self.request.plan.problem.dt)
        return int(steps[-1]), _RECORD

    @property
    def most(self):
        return self.usual
