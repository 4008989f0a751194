"""Elementary functions as LLVM code without branches, one number or a vector of them at a time.

A formula is written once, on `Emitted` numbers, and serves every width. What LLVM makes vectors of calls
the vector form by itself: `variants.py` tells it of them.
"""
