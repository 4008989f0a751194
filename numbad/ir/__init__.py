"""What differentiation asks of Numba's typed SSA IR: capture, inlining, normal form, analyses."""
