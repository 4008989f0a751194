"""The pollution problem, 20 species and 25 reactions: what each rate does to the ozone after an hour.

J. G. Verwer, "Gauss-Seidel iteration for stiff ODEs from chemical kinetics", SIAM J. Sci. Comput. 15 (1994).
Writes pollution.png: three concentrations over time, and the relative derivatives by the 25 rates.
"""

import matplotlib
import numpy as np

import numbad as nd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SPECIES = """NO2 NO O3P O3 HO2 OH HCHO CO ALD MEO2
C2O3 CO2 PAN CH3O HNO3 O1D SO2 SO4 NO3 N2O5""".split()
REACTIONS = """NO2>NO+O3P NO+O3>NO2 HO2+NO>NO2+OH HCHO>HO2+HO2+CO HCHO>CO HCHO+OH>HO2+CO ALD>MEO2+HO2+CO
ALD+OH>C2O3 C2O3+NO>NO2+MEO2+CO2 C2O3+NO2>PAN PAN>C2O3+NO2 MEO2+NO>CH3O+NO2 CH3O>HCHO+HO2 NO2+OH>HNO3
O3P>O3 O3>O1D O3>O3P O1D>OH+OH O1D>O3P SO2+OH>SO4+HO2 NO3>NO NO3>NO2+O3P NO2+O3>NO3 NO3+NO2>N2O5
N2O5>NO3+NO2""".split()
RATES = """0.35 26.6 1.23e4 8.6e-4 8.2e-4 1.5e4 1.3e-4 2.4e4 1.65e4 9e3 0.022 1.2e4 1.88 1.63e4 4.8e6 3.5e-4
0.0175 1e8 4.44e11 1.24e3 2.1 5.78 0.0474 1.78e3 3.12"""
RATES = np.array(RATES.split(), float)
SIDES = zip(*(reaction.split(">") for reaction in REACTIONS), strict=True)
TAKEN, MADE = ([[SPECIES.index(x) for x in side.split("+")] for side in sides] for sides in SIDES)
FIRST, SECOND = np.array([(taken * 2)[:2] for taken in TAKEN]).T
IS_PAIR = np.array([len(taken) == 2 for taken in TAKEN])
SIGNED = (TAKEN, -1), (MADE, 1)
CHANGES = np.array([(i, m, sign) for m in range(25) for side, sign in SIGNED for i in side[m]])


def pollution(t, y, dy, rates):
    dy[:] = 0.0
    for k in range(len(CHANGES)):
        i, m, sign = CHANGES[k, 0], CHANGES[k, 1], CHANGES[k, 2]
        flow = rates[m] * y[FIRST[m]]
        dy[i] += sign * (flow * y[SECOND[m]] if IS_PAIR[m] else flow)


start = np.zeros(20)
for name, amount in dict(NO=0.2, O3=0.04, HCHO=0.1, CO=0.3, ALD=0.01, SO2=0.007).items():
    start[SPECIES.index(name)] = amount
times = np.linspace(0.0, 60.0, 121)
solve = nd.ode.solver(pollution, method="Rodas5P", inplace=True, rtol=1e-8, atol=1e-12)
ys = solve(start, times, (RATES,))
ozone = nd.grad(lambda rates: solve(start, (0.0, 60.0), (rates,))[-1, 3], mode="reverse")
relative = ozone(RATES) * RATES / ys[-1, 3]
print("ozone after an hour:", ys[-1, 3])
assert np.allclose(ys[-1, [0, 3, 19]], [0.05646255480, 0.00552314020749, 5.682943292e-5], rtol=1e-6)

figure, (above, below) = plt.subplots(2, layout="tight")
above.plot(times, ys[:, [0, 1, 3]], label=["NO2", "NO", "O3"])
above.set(xlabel="minutes", ylabel="ppm")
above.legend()
below.bar(REACTIONS, relative)
below.tick_params("x", rotation=90, labelsize=6)
below.set_ylabel("d log O3 / d log rate")
figure.savefig("pollution.png")
