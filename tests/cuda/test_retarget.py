"""Numba IR in numba-cuda's classes."""

import math

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba.core import ir
from numba.core.compiler import run_frontend
from numba.cuda.core import ir as cuda_ir

from numbad.cuda.retarget import retarget

CHAIN = "ordinary global tuple", ir


def everything(x, n):
    total, pair = 0.0, (1.0, 2)
    for i in range(n):
        if i == 3:
            continue
        total += math.sin(x[i]) * pair[0]
        x[i] = -total
        x[0] = CHAIN[0] == "a"
    if total > 5.0:
        raise ValueError("large")
    return total, None


@pytest.fixture(scope="module")
def blocks():
    return run_frontend(everything).blocks


def nodes(value, seen=None):
    """Every IR node that is reached from a value; what constants and globals hold is no node."""
    seen = {} if seen is None else seen
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for member in value:
            nodes(member, seen)
    elif type(value).__module__.endswith(".ir") and id(value) not in seen:
        seen[id(value)] = value
        held = type(value).__name__ in ("Const", "Global", "FreeVar")
        for name, member in vars(value).items():
            if not (held and name == "value"):
                nodes(member, seen)
    return list(seen.values())


def test_no_node_of_numbas_own_classes_is_left(blocks):
    found = {type(node) for node in nodes(retarget(blocks))}
    assert {kind.__module__ for kind in found} == {cuda_ir.__name__}
    kinds = {"Assign", "Expr", "Branch", "Jump", "Raise", "SetItem", "UndefinedType", "Loc"}
    assert kinds <= {kind.__name__ for kind in found}


def test_the_code_reads_the_same(blocks):
    def listing(blocks):
        return [(label, list(map(str, block.body))) for label, block in sorted(blocks.items())]

    assert listing(retarget(blocks)) == listing(blocks)


def test_the_original_is_left_as_it_is(blocks):
    retarget(blocks)
    assert cuda_ir.__name__ not in {type(node).__module__ for node in nodes(blocks)}


def test_values_of_globals_are_kept_as_they_are(blocks):
    values = [n.value for n in nodes(retarget(blocks)) if isinstance(n, cuda_ir.Global)]
    assert any(value is CHAIN for value in values)


def test_a_node_that_occurs_twice_stays_one():
    loc = ir.Loc("file", 1)
    scope = ir.Scope(None, loc)
    shared = ir.Const(1.0, loc)
    block = ir.Block(scope, loc)
    for name in "ab":
        block.append(ir.Assign(shared, ir.Var(scope, name, loc), loc))
    first, second = retarget({0: block})[0].body
    assert first.value is second.value


def test_arguments_take_the_names_of_the_parameters(blocks):
    renamed = retarget(blocks, ("first", "second"))
    assert {n.name for n in nodes(renamed) if isinstance(n, cuda_ir.Arg)} == {"first", "second"}
