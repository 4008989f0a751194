"""Patterns of sparse Jacobians: how they are detected, and how few colours their columns take."""
