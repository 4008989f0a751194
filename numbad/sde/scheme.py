"""Methods for stochastic differential equations as data.

Of thirteen forms: stochastic Runge-Kutta methods with one family of stages, Milstein's with and without a
derivative and with Levy areas, the log-ODE method, those that are implicit in the drift, reversible Heun,
splittings of Langevin's equation and its solution along interpolated forces, Roessler's for diagonal and for
additive noise, and his and Komori's of weak order 2. A method says what it takes (`noises`), in which
calculus its limit is (`calculus`), and its orders. In a step of size h, for each channel of noise, W is the
increment and H = (1/h) int_0^h (W(s) - s W / h) ds, normal with variance h / 12, independent of W.
"""

from dataclasses import dataclass, field

DIAGONAL, SCALAR, ADDITIVE, GENERAL = "diagonal", "scalar", "additive", "general"
NOISES = DIAGONAL, SCALAR, ADDITIVE, GENERAL
ITO, STRATONOVICH, BOTH = "ito", "stratonovich", "both"


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """What every method tells: where it comes from, what it takes, how fast it converges.

    `orders` are strong orders by kind of noise, for those that it takes; "commutative" is the order where
    general noise commutes. `weak_order` is that of expectations, where it is the point of the method.
    """

    name: str
    source: str
    calculus: str
    orders: dict = field(hash=False)
    weak_order: float | None = None

    @property
    def is_implicit(self):
        """Whether its steps solve equations."""
        return False

    @property
    def second_order_in_drift(self):
        """Whether a step without noise is of second order: parts of it then bend as the path does."""
        return False

    @property
    def carries(self):
        """Whether a step goes on from more than the state that the one before ended in."""
        return False

    @property
    def needs_levy(self):
        """Whether its steps take the Levy areas of pairs of channels; then `needs_areas` is true as well."""
        return False

    @property
    def has_embedded_error(self):
        """Whether its steps come with an estimate of their error, from the same stages."""
        return False

    def error_order(self, noise):
        """At which power of h the estimate falls: half a power more than what it compares converges with."""
        return self.orders[noise] + 0.5

    @property
    def noises(self):
        return tuple(kind for kind in NOISES if kind in self.orders)


def _is_half(number):
    return abs(number - 0.5) < 1e-12


@dataclass(frozen=True, kw_only=True)
class RungeKutta(Scheme):
    """Stages y_i = y + sum_j a_ij h f_j + (a_w_ij W + a_h_ij H) g_j, at t + c_i h.

    y+ = y + sum_i b_i h f_i + (b_w_i W + b_h_i H) g_i. With `time_correction`, (g(t + h) - g(t)) (W / 2 - H)
    is added for the dependence of additive noise on time. The form of Foster, dos Reis & Strange,
    arXiv:2210.17543. `error`, `error_w` and `error_h`: the weights less those of a method of lower order,
    the difference to which estimates the error of a step.
    """

    c: tuple
    a: tuple
    b: tuple
    a_w: tuple
    b_w: tuple
    a_h: tuple = ()
    b_h: tuple = ()
    error: tuple = ()
    error_w: tuple = ()
    error_h: tuple = ()
    time_correction: bool = False

    def __post_init__(self):
        stages = len(self.c)
        rows = [self.a, self.a_w] + ([self.a_h] if self.a_h else [])
        ends = [self.b, self.b_w] + [
            more for more in (self.b_h, self.error, self.error_w, self.error_h) if more
        ]
        if any([len(row) for row in table] != list(range(stages)) for table in rows) or any(
            len(end) != stages for end in ends
        ):
            raise ValueError(f"tableau {self.name}: the rows do not match")

    @property
    def second_order_in_drift(self):
        return _is_half(sum(b * sum(row) for b, row in zip(self.b, self.a, strict=True)))

    @property
    def has_embedded_error(self):
        return bool(self.error)

    def error_order(self, noise):
        if not self.error:
            return super().error_order(noise)
        return (
            1.5 if noise == ADDITIVE else 1.0
        )  # it compares with Euler's method, or one akin to it

    @property
    def needs_areas(self):
        return self.time_correction or any(map(any, (*self.a_h, self.b_h)))


@dataclass(frozen=True, kw_only=True)
class Milstein(Scheme):
    """y+ = y + h f + g W + g g' (W**2 - h) / 2; without h in Stratonovich's calculus."""

    needs_areas = False


@dataclass(frozen=True, kw_only=True)
class DerivativeFreeMilstein(Scheme):
    """Milstein's with (g(t, y + h f + sqrt(h) g) - g(t, y)) / sqrt(h) in place of g g'."""

    needs_areas = False


@dataclass(frozen=True, kw_only=True)
class DriftImplicit(Scheme):
    """y+ = y + h ((1 - theta) f(t, y) + theta f(t + h, y+)) + g W, with Milstein's term where `has_slope`.

    Where it `is_split`: y+ = z + g(t + h, z) W with z = y + h f(t + h, z).
    """

    theta: float = 1.0
    has_slope: bool = False
    is_split: bool = False
    needs_areas = False
    is_implicit = True

    @property
    def second_order_in_drift(self):
        return self.theta == 0.5 and not self.is_split


@dataclass(frozen=True, kw_only=True)
class ReversibleScheme(Scheme):
    """Reversible Heun, with a second state z: z+ = 2 y - z + h f(t, z) + g(t, z) W.

    y+ = y + (h (f(t, z) + f(t + h, z+)) + (g(t, z) + g(t + h, z+)) W) / 2. With both states' parts swapped
    and the signs of h and W changed, the same formulas lead back.
    """

    needs_areas = False
    carries = True


@dataclass(frozen=True, kw_only=True)
class LevyMilstein(Scheme):
    """Milstein's for general noise: sums of (g_k(y + v_k) - g_k(y - v_k)) sqrt(h) / 2 for the slopes.

    v_k = sum_j g_j I_jk / sqrt(h), where I_jk is the integral of W_j dW_k over the step.
    """

    needs_areas = True
    needs_levy = True


@dataclass(frozen=True, kw_only=True)
class LogODE(Scheme):
    """y+ is where h f + sum_k g_k W_k + sum_(j<k) A_jk [g_j, g_k] leads in a unit of time, by midpoints."""

    needs_areas = True
    needs_levy = True


@dataclass(frozen=True, kw_only=True)
class LangevinScheme(Scheme):
    """For underdamped Langevin dynamics alone: dq = v dt, dv = F(q) dt - gamma v dt + g dW."""

    second_order_in_drift = True


@dataclass(frozen=True, kw_only=True)
class LangevinSplitting(LangevinScheme):
    """In parts that are solved exactly.

    `parts` in turn, each for h over how often it is there: A moves q, B kicks v by F, O (once) is the
    Ornstein-Uhlenbeck process of friction and noise.
    """

    parts: str
    weak_order: float | None = 2.0
    needs_areas = False


@dataclass(frozen=True, kw_only=True)
class InterpolatedLangevin(LangevinScheme):
    """Solved exactly for a force that is a line between both ends of the step, and noise that is one, too.

    With x = gamma h, and e, p1, p2, p3 as `damped_integrals(x)` has them, F at the old and F+ at the new q:
    q+ = q + h (p1 v + p2 (h F + g W) + p3 g H), v+ = e v + h ((p1 - p2) F + p2 F+) + p1 g W - x p3 g H.
    """

    weak_order: float | None = 2.0
    needs_areas = True


@dataclass(frozen=True, kw_only=True)
class DiagonalRoessler(Scheme):
    """Roessler's form for diagonal and scalar noise, "SRI" of strong order 1.5.

    A. Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X.
    `betas` weigh W, chi1 = (W**2 - h) / (2 sqrt h), chi2 = W / 2 + H, chi3 = (W**3 - 3 W h) / (6 h). What the
    last two weigh, and what the drift has beyond Euler's, estimates the error: the difference to a method of
    order 1. C. Rackauckas, Q. Nie, DCDS-B 22 (2017) 2731, doi:10.3934/dcdsb.2017133.
    """

    a0: tuple
    a1: tuple
    b0: tuple
    b1: tuple
    alpha: tuple
    betas: tuple
    second_order_in_drift = True
    needs_areas = True
    has_embedded_error = True

    def error_order(self, noise):
        return 1.5

    def __post_init__(self):
        stages = list(range(len(self.alpha)))
        if any(
            [len(row) for row in table] != stages for table in (self.a0, self.a1, self.b0, self.b1)
        ):
            raise ValueError(f"tableau {self.name}: the rows do not match")

    @property
    def c0(self):
        return tuple(map(sum, self.a0))

    @property
    def c1(self):
        return tuple(map(sum, self.a1))


@dataclass(frozen=True, kw_only=True)
class AdditiveRoessler(Scheme):
    """Roessler's form for additive noise, "SRA" of strong order 1.5; the same paper.

    `betas` weigh W and chi2 = W / 2 + H. Where `gamma` is not 0, stages but the first are implicit:
    gamma h times the drift of a stage is added to it. The error is estimated as by `DiagonalRoessler`, or by
    weights of the drift, `error`, where there are such.
    """

    c0: tuple
    c1: tuple
    a0: tuple
    b0: tuple
    alpha: tuple
    betas: tuple
    gamma: float = 0.0
    error: tuple = ()
    second_order_in_drift = True
    needs_areas = True
    has_embedded_error = True

    def error_order(self, noise):
        return 1.5

    @property
    def is_implicit(self):
        return self.gamma != 0.0

    def __post_init__(self):
        stages = list(range(len(self.alpha)))
        if any([len(row) for row in table] != stages for table in (self.a0, self.b0)):
            raise ValueError(f"tableau {self.name}: the rows do not match")


@dataclass(frozen=True, kw_only=True)
class WeakScheme(Scheme):
    """Of weak order 2; its two-point variables are the signs of H."""

    weak_order: float | None = 2.0
    needs_areas = True


@dataclass(frozen=True, kw_only=True)
class WeakRoessler(WeakScheme):
    """Roessler's form of weak order 2 for any noise in Ito's calculus.

    A. Roessler, SIAM J. Numer. Anal. 47 (2009) 1713-1738, doi:10.1137/060673308, with A2 = 0 and c2 = 0.
    `betas` weigh, for channel k, W_k and (W_k**2 - h) / (2 sqrt h) of one family of stages, W_k and sqrt h of
    the other. The two-point variables of its mixed integrals are products of signs of H.
    """

    c0: tuple
    c1: tuple
    a0: tuple
    a1: tuple
    b0: tuple
    b1: tuple
    b2: tuple
    alpha: tuple
    betas: tuple

    def __post_init__(self):
        stages = list(range(len(self.alpha)))
        tables = self.a0, self.a1, self.b0, self.b1
        if any([len(row) for row in table] != stages for table in tables) or any(
            len(row) != len(stages) for row in (*self.b2, *self.betas)
        ):
            raise ValueError(f"tableau {self.name}: the rows do not match")


@dataclass(frozen=True, kw_only=True)
class WeakKomori(WeakScheme):
    """Komori's form of weak order 2 for any noise in Stratonovich's calculus.

    Stages f_i of the drift and k_ci = W_c g_c of channel c, for the states

        y + sum_j a0_ij h f_j + sum_cj b0_ij k_cj               at t + c0_i h
        y + sum_j a1_ij h f_j + sum_j b1_ij k_cj + sum_(l!=c)j b2_ij k_lj   at t + c1_i h

    y+ = y + sum_i alpha_i h f_i + sum_ci beta_i k_ci + the areas of pairs of channels. Y. Komori, J. Comput.
    Appl. Math. 206 (2007) 158-173, doi:10.1016/j.cam.2006.06.006.
    """

    a0: tuple
    a1: tuple
    b0: tuple
    b1: tuple
    b2: tuple
    alpha: tuple
    beta: tuple

    def __post_init__(self):
        stages = list(range(len(self.alpha)))
        tables = self.a0, self.a1, self.b0, self.b1, self.b2
        if any([len(row) for row in table] != stages for table in tables):
            raise ValueError(f"tableau {self.name}: the rows do not match")

    @property
    def c0(self):
        return tuple(map(sum, self.a0))

    @property
    def c1(self):
        return tuple(map(sum, self.a1))
