"""A solver as reverse mode meets it."""

from numbad.ode.compiling import GenericDispatcher


class SolverDispatcher(GenericDispatcher):
    """A solver, which brings its own pullback; `origin` says of which problem and settings."""

    numbad_changes = False

    def numbad_recorded(self):
        """The solver that also gives what its pullback will ask for."""
        from numbad.ode.adjoints.recorded import recorded  # it is built of solvers' own parts

        problem, settings, _ = self.origin[1]
        return recorded(problem, settings)

    @property
    def numbad_pullback_at(self):
        """The pullback for a solution whose record is given; None where there is no use for one."""
        return self._discrete if self._has_adjoint() else None

    def _discrete(self, wrt, solved=True):
        from numbad.ode.adjoints.discrete import discrete_pullback  # as above

        problem, settings, _ = self.origin[1]
        return discrete_pullback(problem, settings, tuple(wrt), solved)

    def numbad_pullback(self, wrt):
        """The pullback, which solves once more."""
        if self._has_adjoint():
            return self._discrete(wrt, solved=False)
        from numbad.ode.adjoints.sensitivities import forward_pullback  # as above

        problem, settings, _ = self.origin[1]
        return forward_pullback(problem, settings, tuple(wrt), self)

    def _has_adjoint(self):
        """Whether steps are gone back through, which costs less than sensitivities where both may do."""
        from numbad.ode.adjoints.step_adjoint import has_adjoint  # as above

        problem = self.origin[1][0]
        return problem.adjoint == "discrete" or (
            problem.adjoint == "auto" and has_adjoint(problem.tableau)
        )
