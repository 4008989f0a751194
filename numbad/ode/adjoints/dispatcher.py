"""A solver as reverse mode meets it."""

from numba.core import types

from numbad.ode.adjoints.continuous import continuous_pullback, tracked
from numbad.ode.adjoints.discrete import discrete_pullback
from numbad.ode.adjoints.left_in_args import written_places
from numbad.ode.adjoints.recorded import recorded
from numbad.ode.adjoints.sensitivities import forward_pullback
from numbad.ode.compiling import GenericDispatcher


class SolverDispatcher(GenericDispatcher):
    """A solver, which brings its own pullback; `origin` says of which problem and settings."""

    def numbad_changes(self, argtypes):
        """Where the function may write in the arguments."""
        return written_places(self.handed_args, argtypes)

    def numbad_chosen(self, argtypes):
        """What is differentiated in its place for arguments of these types: for states of another form."""
        argtypes = tuple(map(types.unliteral, argtypes))
        return self.stand_in(argtypes)

    def _differentiated(self):
        """The problem, with the exact Jacobian: derivatives rest on no other; and the settings."""
        problem, settings, _ = self.origin[1]
        return problem._replace(jac=None), settings

    def numbad_recorded(self):
        """The solver that also gives what its pullback will ask for."""
        problem, settings = self._differentiated()
        if self._is_continuous():
            return tracked(problem, settings, self)
        return recorded(problem, settings, self)

    @property
    def numbad_pullback_at(self):
        """The pullback for a solution whose record is given; None where there is no use for one."""
        return self._swept_back if self._sweeps_back() else None

    def _swept_back(self, wrt, solved=True):
        problem, settings = self._differentiated()
        if self._is_continuous():
            return continuous_pullback(problem, settings, tuple(wrt), solved, self)
        return discrete_pullback(problem, settings, tuple(wrt), solved, self)

    def numbad_pullback(self, wrt):
        """The pullback, which solves once more."""
        if self._sweeps_back():
            return self._swept_back(wrt, solved=False)
        problem, settings = self._differentiated()
        return forward_pullback(problem, settings, tuple(wrt), self)

    def _sweeps_back(self):
        """Whether a sweep goes back, which costs less than sensitivities."""
        return self.origin[1][0].adjoint != "forward"

    def _is_continuous(self):
        return self.origin[1][0].adjoint not in ("auto", "forward", "discrete")
