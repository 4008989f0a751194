"""The log-ODE method: F. Castell, J. Gaines, Ann. Inst. H. Poincare Probab. Statist. 32 (1996) 231-250.

The ordinary equation of a step is solved by the midpoint method.
"""

from numbad.sde.scheme import LogODE

LOG_ODE = LogODE(
    name="LogODE",
    source="Castell & Gaines, Ann. Inst. H. Poincare Probab. Statist. 32 (1996) 231-250",
    calculus="stratonovich",
    orders={"general": 1.0, "commutative": 1.0},
)
