"""What `numbad fit --help` says before and after the options."""

DESCRIPTION = """\
Fit the parameters of an ordinary or a stochastic differential equation to data.

Without arguments this fits the predator-prey model to the counts of snowshoe hare and lynx of the
Hudson's Bay Company, which ship with numbad. With --model and --data it fits yours. It prints the
estimates with their standard errors and writes a picture and a JSON file named after the model.
Derivatives are exact (forward sensitivities), never finite differences.
"""

EPILOG = """\
the model file is Python; it may define

  rhs         required: rhs(t, y, ...) returns the time derivative of y, as a tuple or an array.
              What follows t and y are the parameters; a single argument p takes them all, as
              p.rate. It is compiled by Numba.
  p0          required: dict, parameter -> value that the fit starts from
  y0          dict, component of y -> value at the initial time, in the order of y; or the name
              of an entry of p0
  components  list of the names of the components, instead of y0: y then starts from the first
              observation
  t0          the initial time (default: the first in the data)
  fit_y0      True: the initial values are unknown, too, and y0 is what the fit starts from; or a
              list of the components of which that is so
  observables dict, name -> function of (t, y, ...) that is compared with the data in place of
              the components
  observed    dict, column of the data -> component or observable (default: columns that bear
              such a name)
  bounds      dict, parameter or component -> (low, high); equal ones fix it
  fixed       list of parameters or components to hold where they start, or dict, name -> value
  transforms  dict, parameter -> "linear", "log", or "logit" between its bounds
  priors      dict, parameter -> ("normal", mean, deviation) or ("lognormal", median, deviation
              of the logarithm)
  sigma       standard deviation of the observations: a number, "estimate" for one that is found
              with the parameters, or a dict, component -> such, or name of a column
  experiment  name of the column that says which experiment a row is of: these share parameters
  own         list of parameters that have a value of their own in each experiment
  conditions  dict, parameter or component -> name of the column with its value, or initial
              value, in each experiment
  scale       "linear", or "log": unknowns and observations count by their logarithms
  time        name of the column of times (default: the first)
  doses       dict, column with amounts -> component to which these are added at the times of
              their rows; the cell is empty where there is no dose
  events, tstops
              as in numbad.ode.solver: changes of the state, times at which rhs switches
  loss, f_scale, absolute_sigma, method, rtol, atol, first_step, max_step, max_steps, sens_errcon,
  ftol, xtol, gtol, max_nfev
              as in numbad.fit.fit_ode. An option on the command line outranks the file

Any other value that the file assigns and never uses is an error; functions and constants of your own
are welcome.

the model file of a stochastic equation, dy = drift dt + diffusion dW (Ito), defines in place of rhs

  drift, diffusion
              functions of (t, y, ...), what follows being the parameters
  likelihood  "euler" (the default), "ait_sahalia" or, where the diffusion is constant, "ozaki",
              for one series that is observed exactly;
              "vasicek", "cir" or "gbm", whose exact transitions take the place of drift and
              diffusion; "extended_kalman", "unscented_kalman" or "particle_filter", for states of
              several components, observed in part, with noise, or not at every time;
              "simulated_moments", which compares moments of the data with those of drawn paths
  density     in place of all three: density(t0, y0, t1, y1, ...), the logarithm of the density
              of y1 at t1, given y0 at t0
  p0          required: dict, parameter -> value that the fit starts from; positive ones stay so
  mean, spread, noise
              for a filter: mean and standard deviations of the state at the first observation,
              standard deviations of the observations; lists, or functions of the parameters
  observe     for a filter: observe(t, y, ...) is what is observed (default: the whole state)
  dt          for a filter or moments: the largest step between observations
  particles, width, seed
              as in numbad.sde.filters.particle_filter; the seed is that of the key
  moments, paths, seed
              as in numbad.sde.moments.simulated, which needs moments(t, y)
  observed    list of the columns (default: all but that of times), or the name of one
  bounds, fixed, transforms, priors, experiment, own, conditions, scale, time
              as above; with scale = "log" the equation is that of the logarithms of the data,
              and so is the likelihood

the data file is text: a header line with the names of the columns, then one row a time, separated
by commas, semicolons or tabs; lines that begin with # are comments. A cell that is empty, NaN, NA,
N/A, null, None or a point is a missing observation. Between semicolons numbers may have decimal commas.

an example, cooling.py and cooling.csv:

  def rhs(t, y, rate, room):             # minute,tea
      return (-rate * (y[0] - room),)    # 0,83.1
                                         # 2,71.9
  p0 = dict(rate=0.1, room=20.0)         # 5,59.8
  y0 = dict(tea=80.0)                    # 10,44.0
  fit_y0 = True                          # 20,28.6
                                         # 40,21.3

  numbad fit --model cooling.py --data cooling.csv

'numbad example DIR' writes the shipped model and data into DIR, as something to start from.

exit status: 0 the fit converged; 1 it did not; 2 the input cannot be used, and one line on standard
error says why, with file, line and column.
"""
