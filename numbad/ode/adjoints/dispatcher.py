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

    def numbad_pullback_at(self, wrt):
        """The pullback for a solution whose record is given."""
        return self._pullback(wrt, True)

    def numbad_pullback(self, wrt):
        """The pullback, which solves once more."""
        return self._pullback(wrt, False)

    def _pullback(self, wrt, solved):
        from numbad.ode.adjoints.discrete import discrete_pullback  # as above

        problem, settings, _ = self.origin[1]
        return discrete_pullback(problem, settings, tuple(wrt), solved)
