"""Variables that closures share with the function around them, and whether Numba's code still does.

Where Numba puts the code of a closure in place, it gives each assignment a variable of its own, and takes
away those that nobody reads. A closure made there may then keep a value that is no longer its variable's.
Whether it can is read off the bytecode, in which nothing is lost.
"""

import dis
from types import CodeType

_STORES = "STORE_DEREF", "DELETE_DEREF"
_ENDS = "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"
_JUMPS = "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"
_WITH_TARGET = {*dis.hasjrel, *getattr(dis, "hasjabs", ())}


def codes_within(code):
    """The code of the functions made in a function."""
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def assigned_within(code):
    """The variables around a function that it assigns to (`nonlocal`), those within it included."""
    found = {name for name in code.co_freevars if stores(code, name)}
    return found.union(
        *(assigned_within(inner) & set(code.co_freevars) for inner in codes_within(code))
    )


def stores(code, name):
    """How many instructions of a function assign to a variable that it shares with closures."""
    return sum(
        step.opname in _STORES and step.argval == name for step in dis.get_instructions(code)
    )


def maker(code, closure):
    """The code of the function that makes a closure, among a function and those within it."""
    if any(inner is closure for inner in code.co_consts):
        return code
    found = (maker(inner, closure) for inner in codes_within(code))
    return next((code for code in found if code is not None), None)


def may_change(code, closure, name):
    """Whether a function may assign to a variable after it has made the closure that captures it."""
    if any(name in assigned_within(inner) for inner in codes_within(code)):
        return True
    is_argument = name in code.co_varnames[: code.co_argcount]
    if stores(code, name) + is_argument < 2:
        return False
    return bool(getattr(code, "co_exceptiontable", b"")) or _leads_to_store(code, closure, name)


def _leads_to_store(code, closure, name):
    steps = list(dis.get_instructions(code))
    number = {step.offset: k for k, step in enumerate(steps)}
    makers = [k for k, step in enumerate(steps) if step.argval is closure]
    seen, pending = set(makers), [k + 1 for k in makers]
    while pending:
        k = pending.pop()
        if k in seen or k >= len(steps):
            continue
        seen.add(k)
        step = steps[k]
        if step.opname in _STORES and step.argval == name:
            return True
        if step.opcode in _WITH_TARGET:
            pending.append(number[step.argval])
        if step.opname not in _ENDS + _JUMPS:
            pending.append(k + 1)
    return False


def lost_by_calls(code):
    """A variable that changes after the making of a closure with a name, anywhere within a function."""
    for inner in codes_within(code):
        for name in set(inner.co_freevars) & set(code.co_cellvars):
            if not inner.co_name.startswith("<") and may_change(code, inner, name):
                return name
        if (found := lost_by_calls(inner)) is not None:
            return found
    return None
