"""Reversible Heun: P. Kidger, J. Foster, X. Li, T. Lyons, NeurIPS 2021, arXiv:2105.13493, section 3.

One evaluation a step, and steps that can be taken back exactly but for rounding.
"""

from numbad.sde.scheme import ReversibleScheme

REVERSIBLE_HEUN = ReversibleScheme(
    name="ReversibleHeun",
    source="Kidger, Foster, Li & Lyons, NeurIPS 2021, arXiv:2105.13493",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5, "commutative": 1.0},
)
