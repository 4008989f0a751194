"""numbad: automatic differentiation of ordinary Numba code.

The public names are loaded at their first use, so that `import numbad` stays light.
"""

import sys
import threading
from importlib import import_module

from .arrival import once_imported
from .compilation.interpreter import at_full_speed

__version__ = "0.1.0"

_HOME = {
    "NumbadError": "errors",
    "NumbadWarning": "errors",
    "ArgumentError": "errors",
    "BoundsError": "errors",
    "ControlDependenceWarning": "errors",
    "ConvergenceError": "errors",
    "DataError": "errors",
    "DeviceError": "errors",
    "IntegrationError": "errors",
    "ModelError": "errors",
    "NonFiniteError": "errors",
    "RuleError": "errors",
    "SparsityError": "errors",
    "SingularError": "errors",
    "TapeLimitError": "errors",
    "UnsupportedError": "errors",
    "scalar_rule": "rules",
    "rule": "rules",
    "where": "rules",
    "grad": "operators",
    "value_and_grad": "operators",
    "derivative": "operators",
    "jvp": "operators",
    "vjp": "operators",
    "jacobian": "operators",
    "sparsity": "operators",
    "value_and_jacobian": "operators",
    "hessian": "operators",
    "hvp": "operators",
    "grad_and_hvp": "operators",
    "stop_gradient": "operators",
    "root": "implicit",
    "fixed_point": "implicit",
    "minimize": "implicit",
    "minimize_scalar": "implicit",
    "quad": "implicit",
    "batch": "batching.batch_operator",
    "checkpoint": "reverse.checkpoint",
    "inspect_adjoint": "reverse.listing",
    "check_grads": "testing",
    "debug": "debugging",
    "vector_math": "batching.vector_option",
}
_SUBPACKAGES = ("fit", "ode", "random", "sde", "special")
_OPTIONAL = ("cuda",)  # needs a package that not everybody has, so `import *` leaves it out


@at_full_speed
def _beside_numba():
    """What is to be there before anything is compiled."""
    import_module("numbad.compilation.symbols")
    import_module("numbad.ir.lifting.rewriting")
    import_module("numbad.compilation.meaning")


once_imported("numba", _beside_numba)

__all__ = [*_HOME, *_SUBPACKAGES, "__version__"]


_load = at_full_speed(import_module)


def __getattr__(name):
    if name not in _HOME and name not in _SUBPACKAGES and name not in _OPTIONAL:
        raise AttributeError(f"module 'numbad' has no attribute {name!r}")
    lock = _compiler_lock()
    compiling = lock.is_locked()  # by this thread
    with lock:  # two threads that load modules at once see each other's unfinished ones
        if name in _HOME:
            value = getattr(_load(f"numbad.{_HOME[name]}"), name)
        else:
            value = _load(f"numbad.{name}")
        if compiling:
            _tell_compilation()
        globals()[name] = value
    return value


def _compiler_lock():
    """Numba's lock: what is loaded compiles, and what compiles loads."""
    locks = sys.modules.get("numba.core.compiler_lock")
    if locks is None:
        with _LOADING:
            _load("numba")
            locks = import_module("numba.core.compiler_lock")
    return locks.global_compiler_lock


_LOADING = threading.RLock()


def _tell_compilation():
    """Let a compilation that has met a name for the first time know of what its module has registered."""
    targets = import_module("numba.core.target_extension")
    dispatcher = targets.resolve_dispatcher_from_str(targets.current_target())
    dispatcher.targetdescr.typing_context.refresh()


def __dir__():
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__, *_OPTIONAL})
