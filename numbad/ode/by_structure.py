"""Dispatchers with code for the structure of their arguments, differentiated as what it is."""

from numba.core import types

from numbad.compilation.around import dependent
from numbad.forward.dual import duals_in, primal_type
from numbad.forward.dualize import dualized
from numbad.ode.compiling import GenericDispatcher, generic, relink
from numbad.source import define


class StructureDispatcher(GenericDispatcher):
    """`core(*types)` is the plain function for argument types without duals."""

    numbad_changes = False

    def numbad_core(self, argtypes):
        """The plain function that stands behind it for argument types without duals."""
        return self.core(*(types.unliteral(ty) for ty in argtypes))


def code_of(core, name, parameters, given):
    """The Python function `name(parameters)` for types of which any may hold duals."""
    plain = core(*map(primal_type, given))
    if not any(True for ty in given for _ in duals_in(ty)):
        return plain.py_func
    names = ", ".join(parameter.partition("=")[0] for parameter in parameters.split(", "))
    call = f"def {name}({parameters}):\n    return target({names})\n"
    return define(call, {"target": dualized(plain)})


def by_structure(name, parameters, core, content, origin, kind=StructureDispatcher, users=()):
    """The dispatcher `name(parameters)` with the code of `core(*types)`; the rest is as for `generic`.

    `users` are all of the users' functions in it, where the globals of the core are what calls them.
    """

    def choose(*given):
        return code_of(core, name, parameters, given)

    text = f"def {name}({parameters}):\n    raise NotImplementedError(content)\n"
    dispatcher = generic(define(text, {"content": content}), content, choose, origin, kind)
    dispatcher.core = core
    if users:

        def around(given):
            return around_core(core(*map(primal_type, given)), users, given)

        relink(dispatcher, content, around)
    return dispatcher


def around_core(plain, users, given):
    """What `TemplateCache` asks for of a plain function, for types without duals."""
    if any(True for ty in given for _ in duals_in(ty)):
        return None
    return (plain.py_func,), dependent(plain.py_func, users)
