"""Numba IR in the classes of numba-cuda, which carries its own copies of them."""

from numba.core import ir
from numba.cuda.core import ir as cuda_ir


def retarget(blocks, parameters=None):
    """Copies of blocks of `numba.core.ir`, node by node, in the classes of numba-cuda.

    `parameters`, if given, are the names of the arguments, by which numba-cuda finds their types.
    Nodes that occur several times stay one node.
    """
    return Copies(parameters).blocks(blocks)


def _location(loc):
    return cuda_ir.Loc(loc.filename, loc.line, loc.col)


class Copies:
    """The copies made so far, of one set of blocks, which share a scope."""

    def __init__(self, parameters=None):
        self.parameters = parameters
        self.made = {}  # id -> (node, copy); the node is held, so that its id stays its own

    def blocks(self, blocks):
        """Copies of the blocks."""
        self.scope = cuda_ir.Scope(None, _location(blocks[min(blocks)].loc))
        return {label: self.block(block) for label, block in blocks.items()}

    def nodes(self):
        """Each node and its copy."""
        return self.made.values()

    def block(self, block):
        new = cuda_ir.Block(self.scope, _location(block.loc))
        new.body = [self.copy(statement) for statement in block.body]
        return new

    def copy(self, value):
        if value is ir.UNDEFINED:
            return cuda_ir.UNDEFINED
        if isinstance(value, ir.Loc):
            return _location(value)
        if isinstance(value, ir.Var):
            return self.scope.get_or_define(value.name, _location(value.loc))
        if type(value) in (list, tuple):
            return type(value)(self.copy(member) for member in value)
        if type(value) is dict:
            return {key: self.copy(member) for key, member in value.items()}
        if isinstance(value, ir.Inst | ir.AbstractRHS):
            return self._node(value)
        return value

    def _node(self, node):
        if id(node) not in self.made:
            kind = getattr(cuda_ir, type(node).__name__)
            new = object.__new__(kind)
            self.made[id(node)] = node, new
            # Constants and globals hold Python values, which are no part of the IR.
            held = isinstance(node, ir.Const | ir.Global | ir.FreeVar)
            for name, member in vars(node).items():
                keep = held and name == "value"
                object.__setattr__(new, name, member if keep else self.copy(member))
            if self.parameters is not None and isinstance(node, ir.Arg):
                new.name = self.parameters[node.index]
        return self.made[id(node)][1]
