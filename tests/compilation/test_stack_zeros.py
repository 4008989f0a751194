"""Which stores of zeros on the stack are left out, and that functions compute what they did."""

import ctypes
import random

import pytest
from llvmlite import binding, ir
from numba.core import cgutils

from numbad.compilation.stack_zeros import drop_unread_zeros

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


def _loaded_by_parts(builders, allocation):
    pair = cgutils.alloca_once(builders[0], ir.LiteralStructType([I64, I64]))
    builders[1].load(cgutils.gep_inbounds(builders[1], pair, 0, 1))
    _stored_first(builders, allocation)


def _a_part_is_stored(builders, allocation):
    pair = cgutils.alloca_once(builders[0], ir.LiteralStructType([I64, I64]))
    builders[1].store(I64(1), cgutils.gep_inbounds(builders[1], pair, 0, 1))
    builders[1].load(pair)
    _stored_first(builders, allocation)


@pytest.mark.parametrize("body", [_stored_first, _met_in_two_blocks])
def test_what_nothing_reads_is_left_out(body):
    assert _stores_at_entry(body) == 0


def test_the_zeros_at_the_end_of_a_variable_are_left_out():
    def body(builders, allocation):
        builders[0].store(I64(1), allocation)
        builders[1].load(allocation)
        builders[1].store(ir.Constant(I64, None), allocation)

    function = _function(body)
    drop_unread_zeros(function)
    assert [i.opname for block in function.blocks for i in block.instructions].count("store") == 1


def test_negative_zeros_are_no_zeros():
    def body(builders, allocation):
        f64 = ir.DoubleType()
        number = cgutils.alloca_once(builders[0], f64)
        builders[0].store(f64(-0.0), number)
        builders[1].load(number)

    function = _function(body)
    drop_unread_zeros(function)
    assert "0x8000000000000000" in str(function)
    assert "zeros" not in str(function)


@pytest.mark.parametrize(
    "body",
    [
        _read_first,
        _loaded_by_parts,
        _a_part_is_stored,
        _stored_elsewhere,
        _read_as_bytes_first,
        _read_by_way_of_a_phi,
        _read_at_entry,
        _one_of_two_items_is_stored,
    ],
)
def test_what_may_be_read_is_kept(body):
    assert _stores_at_entry(body) == 1


def test_stores_of_other_values_are_kept():
    def body(builders, allocation):
        with builders[0].goto_entry_block():
            builders[0].store(builders[0].function.args[0], allocation)
        builders[1].load(allocation)

    assert _stores_at_entry(body) == 1


def _random_function(draw):
    """Of blocks that store to, load and branch at random: the bits of the argument say where to."""
    function = ir.Function(ir.Module(), ir.FunctionType(I64, (I64,)), "f")
    entry = ir.IRBuilder(function.append_basic_block("entry"))
    sum_of, bits = (entry.alloca(I64, name=name) for name in ("sum", "bits"))
    entry.store(I64(0), sum_of)
    entry.store(function.args[0], bits)
    numbers = [entry.alloca(I64, name=f"n{k}") for k in range(4)]
    for number in numbers:
        entry.store(ir.Constant(I64, None), number)
    blocks = [function.append_basic_block() for _ in range(draw.randint(2, 7))]
    end = function.append_basic_block("end")
    entry.branch(blocks[0])
    for k, block in enumerate(blocks):
        builder = ir.IRBuilder(block)
        for _ in range(draw.randint(0, 5)):
            number = draw.choice(numbers)
            match draw.choice(["zero", "store", "load", "part"]):
                case "zero":
                    builder.store(ir.Constant(I64, None), number)
                case "store":
                    builder.store(I64(k + 1), number)
                case "load":
                    _add(builder, sum_of, builder.load(number))
                case "part":
                    _add(builder, sum_of, builder.load(builder.gep(number, [I64(0)])))
        left = builder.load(bits)
        builder.store(builder.lshr(left, I64(1)), bits)
        odd = builder.trunc(left, ir.IntType(1))
        go_on = builder.append_basic_block()
        builder.cbranch(builder.icmp_unsigned("==", left, I64(0)), end, go_on)
        ir.IRBuilder(go_on).cbranch(odd, draw.choice(blocks), draw.choice(blocks))
    builder = ir.IRBuilder(end)
    for number in draw.sample(numbers, 2):
        _add(builder, sum_of, builder.load(number))
    builder.ret(builder.load(sum_of))
    return function


def _add(builder, sum_of, value):
    builder.store(builder.add(builder.mul(builder.load(sum_of), I64(31)), value), sum_of)


def _values(function):
    """What a function gives, optimised by nothing else."""
    target = binding.Target.from_default_triple().create_target_machine(opt=0)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(function.module)), target)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("f"))
    return [call(bits) for bits in range(256)]


def test_random_functions_compute_what_they_did():
    dropped = 0
    for seed in range(60):
        function = _random_function(random.Random(seed))
        before, stores = _values(function), str(function).count("store")
        drop_unread_zeros(function)
        assert _values(function) == before, seed
        dropped += stores - str(function).count("store")
    assert dropped > 100
