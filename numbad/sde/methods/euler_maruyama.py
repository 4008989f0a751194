"""Euler-Maruyama: G. Maruyama, Rend. Circ. Mat. Palermo 4 (1955) 48-90."""

from numbad.sde.scheme import RungeKutta

EULER_MARUYAMA = RungeKutta(
    name="EulerMaruyama",
    source="Maruyama (1955), doi:10.1007/BF02846028",
    calculus="ito",
    orders={"diagonal": 0.5, "scalar": 0.5, "additive": 1.0, "general": 0.5, "commutative": 0.5},
    c=(0.0,),
    a=((),),
    b=(1.0,),
    a_w=((),),
    b_w=(1.0,),
)
