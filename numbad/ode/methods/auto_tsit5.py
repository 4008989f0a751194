"""Tsit5, and Rodas5P where the problem is stiff."""

from numbad.ode.methods.rodas5p import RODAS5P
from numbad.ode.methods.tsit5 import TSIT5
from numbad.ode.switching import Switching

AUTO_TSIT5 = Switching(name="AutoTsit5", explicit=TSIT5, stiff=RODAS5P)
