"""What an equation, a minimum or an integral defines, differentiated without going through iterations."""

from .entry_points import fixed_point, minimize, minimize_scalar, quad, root

__all__ = ["fixed_point", "minimize", "minimize_scalar", "quad", "root"]
