"""Stores of zeros at the entry of a function that nothing reads, left out before LLVM meets them.

Numba fills what it allocates on the stack at the entry, and again where it is used. An allocation that two
blocks meet costs LLVM a walk through the second (`ComputeLiveInBlocks` of its pass `SROA`): where that is
long, as for hundreds of equations written out, these walks take most of the time to compile.
"""

from llvmlite import ir


def drop_unread_zeros(function):
    """Drop the store at the entry to an allocation that one other block alone meets, first by a store."""
    if len(function.blocks) < 2:  # or is declared alone
        return
    entry, *others = function.blocks
    zeros = _zeros_of(entry)
    met_in = {}
    for block in others:
        for instruction in block.instructions:
            for allocation in _allocations(instruction):
                if allocation not in met_in:
                    met_in[allocation] = block if _fills(instruction, allocation) else None
                elif met_in[allocation] is not block:
                    met_in[allocation] = None
    sure = {a for a, block in met_in.items() if block is not None}
    unread = {id(store) for allocation, store in zeros.items() if allocation in sure}
    entry.instructions[:] = [i for i in entry.instructions if id(i) not in unread]


def _zeros_of(entry):
    """The store to each allocation that the entry meets but once, by a store of a constant."""
    zeros, met = {}, set()
    for instruction in entry.instructions:
        for allocation in _allocations(instruction):
            if _fills(instruction, allocation) and allocation not in zeros:
                zeros[allocation] = instruction
            else:
                met.add(allocation)
    constant = (a for a, store in zeros.items() if isinstance(store.operands[0], ir.Constant))
    return {allocation: zeros[allocation] for allocation in constant if allocation not in met}


def _fills(instruction, allocation):
    """Whether an instruction stores to all of an allocation, of one item."""
    if not isinstance(instruction, ir.instructions.StoreInstr) or allocation.operands:
        return False
    value, pointer = instruction.operands
    return pointer is allocation and value is not allocation


def _allocations(instruction):
    """The allocations on the stack among the operands."""
    found = instruction.operands
    if isinstance(instruction, ir.PhiInstr):
        found = [value for value, _ in instruction.incomings]
    return [value for value in found if isinstance(value, ir.instructions.AllocaInstr)]
