"""The kinds of statements, and which kind a statement is."""

from .classify import classify

__all__ = ["classify"]
