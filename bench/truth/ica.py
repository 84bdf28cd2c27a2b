"""Assemblies by principal and independent components of binned counts (Lopes-dos-Santos,
Ribeiro & Tort 2013) on one recording, for bench/truth.R, which starts this.

    ica.py BIN RECORDING RESULT DURATION

Arguments and tables as cad.py has them. Counts in bins are standardised. Components of their
correlations with an eigenvalue above what units that are shifted by themselves have (the largest
of 200 surrogates in 5 %) are assemblies; the same number of independent components has their
weights. Members are units with a weight above twice the standard deviation of the weights, on the
side of the largest one. All lags are 0: the method knows none. The strength of an assembly in a
bin is its squared weighted sum of counts, without the squares of single units; `times` are the
middles of the 0.5 % of bins in which it is largest. p is the share of a normal distribution above
the eigenvalue, with the mean and the standard deviation of surrogates, so that a threshold can be
set for each rate of false assemblies.
"""

import csv
import sys

import numpy as np
from scipy.stats import norm
from sklearn.decomposition import FastICA

bin_size, recording, result, duration = sys.argv[1:5]
bin_size, duration = float(bin_size), float(duration)
random = np.random.default_rng(1)

with open(recording) as table:
    rows = [(float(row["time"]), int(row["unit"])) for row in csv.DictReader(table)]
units = sorted({unit for _, unit in rows})
bins = int(duration / bin_size + 1e-6)
counts = np.zeros((len(units), bins))
for time, unit in rows:
    counts[units.index(unit), min(bins - 1, int(time / bin_size))] += 1
counts = counts[:, :bins]
z = (counts - counts.mean(1, keepdims=True)) / counts.std(1, keepdims=True)


def eigen(data):
    return np.linalg.eigh(data @ data.T / bins)


def shifted(data):
    return np.stack([np.roll(row, random.integers(bins)) for row in data])


largest = np.array([eigen(shifted(z))[0][-1] for _ in range(200)])
values, vectors = eigen(z)
found = values > np.quantile(largest, 0.95)
weights = np.zeros((0, len(units)))
if found.any():
    space = vectors[:, found]
    ica = FastICA(whiten="unit-variance", random_state=1, max_iter=1000)
    ica.fit((space.T @ z).T)
    weights = (space @ ica.components_.T).T
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
# Independent components have no order: each has the eigenvalue that it explains.
explained = np.array([w @ (z @ (z.T @ w)) / bins for w in weights])

with open(result, "w", newline="") as table:
    out = csv.writer(table)
    out.writerow(["assembly", "unit", "lag", "p", "times"])
    for number, w in enumerate(weights, 1):
        w = w * np.sign(w[np.argmax(np.abs(w))])
        members = np.flatnonzero(w > 2 * w.std())
        if len(members) < 2:
            continue
        strength = (w @ z) ** 2 - (w**2) @ (z**2)
        at = np.flatnonzero(strength > np.quantile(strength, 0.995))
        times = " ".join("%.4f" % t for t in (at + 0.5) * bin_size)
        p = norm.sf((explained[number - 1] - largest.mean()) / largest.std())
        for member in members:
            out.writerow([number, units[member], 0, "%.9g" % p, times])
