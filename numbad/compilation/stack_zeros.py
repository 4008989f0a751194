"""Zeros that Numba stores on the stack and nothing reads, left out before LLVM meets them.

Numba fills what it allocates on the stack at the entry, and again where a variable ends; and each store
first reads what the variable held, to release it. An allocation that is stored to more than once costs LLVM
a walk through all blocks that follow a store (`PromoteMemToReg` in its pass `SROA`), for each number in it.
In the integrator of an implicit ODE method, which hands on tuples of 40 arrays, these walks took nine tenths
of the time of LLVM's function passes; where hundreds of equations are written out, most of the time to
compile. One store for each variable costs next to nothing.
"""

from typing import NamedTuple

from llvmlite import ir

ZERO, STORE, LOAD, READ = range(4)  # READ: of a part
ZEROS = "0", "0.0", "0x0", "null", "zeroinitializer"  # -0.0 is none


class _Use(NamedTuple):
    """What an instruction does to an allocation, known by its bit."""

    kind: int
    bit: int
    instruction: ir.Instruction


def drop_unread_zeros(function):
    """Drop stores of zeros that are there already or that nothing reads; loads of zeros read one place."""
    if len(function.blocks) < 2:  # or is declared alone
        return
    uses, following = _uses(function.blocks), _following(function.blocks)
    known = _known_zeros(uses, following)
    uses = [[use for use in block if id(use.instruction) not in known] for block in uses]
    dropped = {n for n, instruction in known.items() if type(instruction) is ir.StoreInstr}
    dropped |= _unread_zeros(uses, following)
    for block in function.blocks:
        block.instructions[:] = [i for i in block.instructions if id(i) not in dropped]
    _read_one_place(function, [i for i in known.values() if type(i) is ir.LoadInstr])


def _uses(blocks):
    """The uses in each block of the allocations that are only read, or stored to as a whole."""
    whole, parts = _bits(blocks)
    others, found = 0, []
    for block in blocks:
        uses = []
        for instruction in block.instructions:
            use = _use(instruction, whole, parts)
            if use is not None:
                uses.append(use)
            elif id(instruction) not in parts:
                others |= _met(instruction, whole, parts)
        found.append(uses)
    return [[use for use in uses if not use.bit & others] for uses in found]


def _bits(blocks):
    """A bit for each allocation of one item, and the same for the pointers to its parts, by their `id`."""
    instructions = [instruction for block in blocks for instruction in block.instructions]
    found = (i for i in instructions if type(i) is ir.AllocaInstr and not i.operands)
    whole = {id(allocation): 1 << n for n, allocation in enumerate(found)}
    pointers = (i for i in instructions if type(i) is ir.GEPInstr and id(i.pointer) in whole)
    return whole, {id(pointer): whole[id(pointer.pointer)] for pointer in pointers}


def _use(instruction, whole, parts):
    """What a load or a store does to an allocation; `None` if it is something else."""
    if type(instruction) is ir.LoadInstr:
        pointer = instruction.operands[0]
        if id(pointer) in whole and instruction.type == pointer.type.pointee:
            return _Use(LOAD, whole[id(pointer)], instruction)
        return _Use(READ, parts[id(pointer)], instruction) if id(pointer) in parts else None
    if type(instruction) is ir.StoreInstr:
        value, pointer = instruction.operands
        if id(pointer) in whole and not _met_as(value, whole, parts):
            is_zero = type(value) is ir.Constant and value.get_reference() in ZEROS
            return _Use(ZERO if is_zero else STORE, whole[id(pointer)], instruction)
    return None


def _met(instruction, whole, parts):
    """The bits of the allocations among the operands."""
    found = instruction.operands
    if type(instruction) is ir.PhiInstr:
        found = (value for value, _ in instruction.incomings)
    met = 0
    for value in found:
        met |= _met_as(value, whole, parts)
    return met


def _met_as(value, whole, parts):
    return whole.get(id(value), 0) | parts.get(id(value), 0)


def _following(blocks):
    """The numbers of the blocks that follow each block."""
    numbers = {id(block): n for n, block in enumerate(blocks)}
    return [[numbers[id(after)] for after in _targets(block.terminator)] for block in blocks]


def _targets(terminator):
    found = [] if terminator is None else list(terminator.operands)
    if isinstance(terminator, ir.SwitchInstr):
        found += [terminator.default, *(block for _, block in terminator.cases)]
    return [value for value in found if isinstance(value, ir.Block)]


def _known_zeros(uses, following):
    """The loads of, and stores of zeros to, what holds zeros whatever way led there, by their `id`."""
    found = {}
    for held, block in zip(_zeros_before(uses, following), uses, strict=True):
        for kind, bit, instruction in block:
            if kind in (LOAD, ZERO) and held & bit:
                found[id(instruction)] = instruction
            elif kind == ZERO:
                held |= bit
            elif kind == STORE:
                held &= ~bit
    return found


def _zeros_before(uses, following):
    """The allocations that hold zeros at the start of each block, whatever way led there."""
    last = [{bit: kind for kind, bit, _ in block if kind in (ZERO, STORE)} for block in uses]
    to_zeros = [sum(bit for bit, kind in bits.items() if kind == ZERO) for bits in last]
    to_others = [sum(bit for bit, kind in bits.items() if kind == STORE) for bits in last]
    before = [0] + [-1] * (len(uses) - 1)  # all, until a way is found on which it does not
    waiting = list(range(len(uses)))[::-1]
    while waiting:
        n = waiting.pop()
        after = before[n] & ~to_others[n] | to_zeros[n]
        for m in following[n]:
            if before[m] & ~after:
                before[m] &= after
                waiting.append(m)
    return before


def _unread_zeros(uses, following):
    """The `id`s of the stores of zeros that are stored over, or given up, before a load."""
    found = set()
    for wanted, block in zip(_wanted_after(uses, following), uses, strict=True):
        for kind, bit, instruction in reversed(block):
            if kind in (LOAD, READ):
                wanted |= bit
            else:
                if kind == ZERO and not wanted & bit:
                    found.add(id(instruction))
                wanted &= ~bit
    return found


def _wanted_after(uses, following):
    """The allocations that may be read after each block, before they are stored to."""
    leading = [[] for _ in uses]
    for n, after in enumerate(following):
        for m in after:
            leading[m].append(n)
    first = [{bit: kind for kind, bit, _ in reversed(block)} for block in uses]
    read = [sum(bit for bit, kind in bits.items() if kind in (LOAD, READ)) for bits in first]
    met = [sum(bits) for bits in first]
    wanted = [0] * len(uses)
    waiting = list(range(len(uses)))
    while waiting:
        n = waiting.pop()
        before = wanted[n] & ~met[n] | read[n]
        for m in leading[n]:
            if before & ~wanted[m]:
                wanted[m] |= before
                waiting.append(m)
    return wanted


def _read_one_place(function, loads):
    """Let loads of zeros read what is stored to at the entry alone, one place for each type."""
    places = {}
    for load in loads:
        if str(load.type) not in places:
            builder = ir.IRBuilder(function.entry_basic_block)
            builder.position_at_start(function.entry_basic_block)
            place = places[str(load.type)] = builder.alloca(load.type, name="zeros")
            builder.store(ir.Constant(load.type, None), place)
        load.replace_usage(load.operands[0], places[str(load.type)])
