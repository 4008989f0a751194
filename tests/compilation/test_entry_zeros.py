"""Which stores of zeros at the entry of a function are left out."""

import pytest
from llvmlite import ir
from numba.core import cgutils

from numbad.compilation.entry_zeros import drop_unread_zeros

I64 = ir.IntType(64)


def _function(body):
    """A function of an entry and two blocks; `body(builders, allocation)` fills these."""
    function = ir.Function(ir.Module(), ir.FunctionType(I64, (I64,)), "f")
    entry = ir.IRBuilder(function.append_basic_block("entry"))
    builders = [ir.IRBuilder(function.append_basic_block()) for _ in range(2)]
    body(builders, cgutils.alloca_once(builders[0], I64))
    for builder, following in zip([entry, *builders], builders, strict=False):
        builder.position_at_end(builder.block)
        builder.branch(following.block)
    builders[-1].ret(I64(0))
    return function


def _stores_at_entry(body):
    function = _function(body)
    drop_unread_zeros(function)
    return sum(i.opname == "store" for i in function.blocks[0].instructions)


def _stored_first(builders, allocation):
    builders[1].store(I64(1), allocation)
    builders[1].load(allocation)


def _read_first(builders, allocation):
    builders[1].load(allocation)
    builders[1].store(I64(1), allocation)


def _met_in_two_blocks(builders, allocation):
    builders[0].store(I64(1), allocation)
    builders[1].load(allocation)


def _stored_elsewhere(builders, allocation):
    builders[1].store(allocation, builders[1].alloca(allocation.type))
    builders[1].store(I64(1), allocation)


def _read_as_bytes_first(builders, allocation):
    builders[1].load(builders[1].bitcast(allocation, ir.IntType(8).as_pointer()))
    builders[1].store(I64(1), allocation)


def _read_by_way_of_a_phi(builders, allocation):
    chosen = builders[1].phi(allocation.type)
    chosen.add_incoming(allocation, builders[0].block)
    builders[1].load(chosen)
    builders[1].store(I64(1), allocation)


def _read_at_entry(builders, allocation):
    with builders[0].goto_entry_block():
        builders[0].load(allocation)
    _stored_first(builders, allocation)


def _one_of_two_items_is_stored(builders, allocation):
    _stored_first(builders, allocation)
    two = cgutils.alloca_once(builders[0], I64, size=2)
    builders[1].store(I64(1), two)
    builders[1].load(builders[1].gep(two, [I64(1)]))


def test_what_nothing_reads_is_left_out():
    assert _stores_at_entry(_stored_first) == 0


@pytest.mark.parametrize(
    "body",
    [
        _read_first,
        _met_in_two_blocks,
        _stored_elsewhere,
        _read_as_bytes_first,
        _read_by_way_of_a_phi,
        _read_at_entry,
        _one_of_two_items_is_stored,
    ],
)
def test_what_may_be_read_is_kept(body):
    assert _stores_at_entry(body) == 1


def test_two_stores_at_the_entry_are_kept():
    def body(builders, allocation):
        with builders[0].goto_entry_block():
            builders[0].store(builders[0].function.args[0], allocation)
        builders[1].load(allocation)

    assert _stores_at_entry(body) == 2
