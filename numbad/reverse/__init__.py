"""The adjoint of compiled functions: reverse-mode differentiation."""
