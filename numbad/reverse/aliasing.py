"""What LLVM is told of memory: the arrays of the primal share none with the adjoints.

Without it, a loop is made for vectors only beside a copy of it that is not, and tests between them that
compare each array with each that is written to.

The memory of one may be that of the other before, or afterwards. Then something writes to it in between
that says nothing about itself, as it is cleared or copied into, and nothing moves across that.
"""

PRIMAL, ADJOINT, TERMS = KINDS = "primal", "adjoint", "terms"


def mark(builder, instruction, kind):
    """Say of a load or a store whether it is of an array of the primal, of an adjoint, or of `stencils`."""
    for name, scopes in zip(("alias.scope", "noalias"), _scopes(builder)[kind], strict=True):
        instruction.set_metadata(name, scopes)


def _scopes(builder):
    """The kinds and the others as metadata, for the function that is built; what is inlined has its own."""
    module, name = builder.module, builder.function.name
    known = vars(module).setdefault("_numbad_scopes", {})
    if name not in known:
        domain = module.add_metadata([f"numbad {name}"])
        scopes = {kind: module.add_metadata([f"{kind} of {name}", domain]) for kind in KINDS}
        known[name] = {
            kind: (
                module.add_metadata([scope]),
                module.add_metadata([other for other in scopes.values() if other is not scope]),
            )
            for kind, scope in scopes.items()
        }
    return known[name]
