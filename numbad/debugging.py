"""The debug mode: what is compiled in it checks its indices and numbers; calls are compared and counted."""

import os
import threading
from contextlib import contextmanager
from importlib import import_module

from .rules.registry import renew

VARIABLE = "NUMBAD_DEBUG"
_LOCAL = threading.local()


class Report:
    """What was met in a `debug` block; `allocations` has arrays that calls allocated, by operator."""

    def __init__(self):
        self.allocations, self.calls = {}, {}

    def count(self, name, allocated):
        """Note a call of an operator."""
        self.calls[name] = self.calls.get(name, 0) + 1
        self.allocations[name] = self.allocations.get(name, 0) + allocated

    def __str__(self):
        lines = (
            f"{k}: {n} calls, {self.allocations[k]} allocations" for k, n in self.calls.items()
        )
        return "\n".join(lines)


_reports = [Report()]


def debugging():
    """Whether what is compiled now is to check itself."""
    return os.environ.get(VARIABLE, "") not in ("", "0", "off")


@contextmanager
def debug():
    """Within the block, derivatives are compiled with checks, and compared with differences.

    It is for operators made in the block; what was made before stays as it is. The environment
    variable `NUMBAD_DEBUG=1` does the same for a whole process. The four checks: every index; the first
    operation that makes a NaN or an infinity out of finite numbers, in the function, its partials or
    its cotangents; the derivatives of each operator called from Python, at its first call with each
    kinds of arguments, against finite differences; the allocations of each call.

    Yields
    ------
    Report
        `calls` and `allocations`, by the name of the operator.

    Raises
    ------
    NonFiniteError
        With file, line, source line, and the values that made the number.
    IndexError
        An index beyond an array.
    GradientError
        Where derivatives disagree with differences (of `numbad.testing`).

    Examples
    --------
    >>> import numbad as nd
    >>> with nd.debug() as report:
    ...     nd.derivative(lambda x: x * x)(3.0)
    6.0
    >>> print(report)
    derivative_lambda: 1 calls, 0 allocations
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    _reports.append(Report())
    renew()
    try:
        yield _reports[-1]
    finally:
        _reports.pop()
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
        renew()


class Watched:
    """The calls from Python of an operator that was made in the debug mode; a base of its dispatcher."""

    def __call__(self, *args, **kws):
        if getattr(_LOCAL, "busy", False):
            return super().__call__(*args, **kws)
        _LOCAL.busy = True  # what is called within is not watched
        try:
            result = self._counted(args, kws)
            kinds = tuple(map(self.typeof_pyval, args))
            known = vars(self).setdefault("_compared", set())
            if kinds not in known and not kws:
                known.add(kinds)
                # which builds on operators, as these build on this module
                import_module("numbad.testing").compare_operator(self.operator, args)
            return result
        finally:
            _LOCAL.busy = False

    def compile(self, sig):
        """Compile with checks, after the block as well."""
        if debugging():
            return super().compile(sig)
        with debug():
            return super().compile(sig)

    def _counted(self, args, kws):
        from numba.core.runtime import _nrt_python, rtsys

        _nrt_python.memsys_enable_stats()
        before = rtsys.get_allocation_stats().alloc
        try:
            return super().__call__(*args, **kws)
        finally:
            _reports[-1].count(self.__name__, rtsys.get_allocation_stats().alloc - before)
