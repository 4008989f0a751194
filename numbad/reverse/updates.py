"""Elements that are added to, `a[i] += x`: their adjoint goes through and need not be moved."""

import operator
from collections import Counter

from ..ir.function import read_by
from ..ir.value_numbers import value_numbers
from .ops.array import Load, Store
from .ops.scalar_function import INPLACE, ScalarOp
from .switches import Switch
from .unchanged import element_key

UPDATES = Switch("updates", "the adjoint of an element that is only added to stays where it is")


def mark_updates(fn, activity):
    """Set `updates` for the loads and stores of such statements."""
    reads = Counter(v.name for _, s in fn.statements() for v in read_by(s))
    numbers = value_numbers(fn)
    for ops in activity.ops.values():
        made = {op.target: (k, op) for k, op in enumerate(ops) if isinstance(op, Load | ScalarOp)}
        for k, store in enumerate(ops):
            if isinstance(store, Store):
                load = _loaded_for(store, made, reads, numbers)
                if load is not None and not _is_written(activity, ops[load[0] : k], store):
                    store.updates = load[1].updates = True


def _loaded_for(store, made, reads, numbers):
    """The load of the element that a store adds to, with its place, or None."""
    _, added = made.get(store.statement.value.name, (None, None))
    if not isinstance(added, ScalarOp) or reads[added.target] != 1:
        return None
    function = INPLACE.get(added.function, added.function)
    if function not in (operator.add, operator.sub) or len(added.arguments) != 2:
        return None
    for var in added.arguments[: 1 if function is operator.sub else 2]:
        place, load = made.get(var.name, (None, None))
        if (
            isinstance(load, Load)
            and reads[var.name] == 1
            and _is_same_element(load, store, numbers)
        ):
            return place, load
    return None


def _is_same_element(load, store, numbers):
    read = element_key(load.expr, load.expr.value, numbers)
    return read == element_key(store.statement, store.statement.target, numbers)


def _is_written(activity, ops, store):
    """Whether one of the statements may write to the array."""
    node = activity.node((store.statement.target.name, ()))
    return any(activity.node(h) == node for op in ops for h in op.stores)
