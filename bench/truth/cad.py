"""Elephant's cell assembly detection (Russo & Durstewitz 2017) on one recording, for
bench/truth.R, which starts this.

    cad.py BIN RECORDING RESULT DURATION

RECORDING is a table of time and unit; RESULT, a table of assembly, unit, lag and p, is
written. Lags of up to 10 bins either way are tested, as in the tutorial of the authors of the
method. All else is as it is by default: alpha = 0.05 with Elephant's correction for the number of
pairs and lags, then of groups; pruning by significance and of subgroups.

What Elephant 1.2.1 leaves no choice in: with same_configuration_pruning = True, its documented
way to be faster, it ends with a TypeError. Pruning now and then ends with an IndexError (its issue
627), which counts as failed. Where most pairs are significant, as with shared bursts in bins of
0.2 s and more, groups of all sizes grow from them and it does not end. In a recording of
small_hard with bins of 0.4 s, 300 of 435 pairs are, and 221 still with an alpha 500 times smaller.
"""

import csv
import sys

sys.modules["mpi4py"] = None  # Elephant would start MPI, for one process

import neo
import quantities as pq
from elephant.cell_assembly_detection import cell_assembly_detection
from elephant.conversion import BinnedSpikeTrain

bin_size, recording, result, duration = sys.argv[1:5]
bin_size, duration = float(bin_size), float(duration)

times = {}
with open(recording) as table:
    for row in csv.DictReader(table):
        times.setdefault(int(row["unit"]), []).append(float(row["time"]))
units = sorted(times)
trains = [neo.SpikeTrain(times[unit] * pq.s, t_stop=duration * pq.s) for unit in units]
binned = BinnedSpikeTrain(trains, bin_size=bin_size * pq.s,
                          n_bins=int(duration / bin_size + 1e-6), t_start=0 * pq.s)
found = cell_assembly_detection(binned, max_lag=10)

with open(result, "w", newline="") as table:
    out = csv.writer(table)
    out.writerow(["assembly", "unit", "lag", "p"])
    for number, one in enumerate(found, 1):
        lags = [0.0] + [float(lag) for lag in one["lags"].rescale("s")]
        for place, lag in zip(one["neurons"], lags):
            out.writerow([number, units[place], "%.9g" % lag, "%.9g" % one["pvalue"][-1]])
