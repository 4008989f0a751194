"""Closures in compiled code, handed to what takes a function: what they capture becomes arguments.

Lambda lifting (Johnsson, "Lambda lifting: transforming programs to recursive equations", FPCA 1985), on
Numba's untyped code: `nd.quad(lambda t: math.exp(-a * t), 0.0, 1.0)` is compiled as
`nd.quad(g, 0.0, 1.0, (a,))` with `def g(t, a): return math.exp(-a * t)`. So what is captured is an argument
like any other, and derivatives follow it. As in Python, a closure reads a variable when it is called.
"""
