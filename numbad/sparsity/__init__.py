"""Sparse patterns: how they are detected, and how few passes their matrices take."""
