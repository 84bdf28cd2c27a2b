"""One search as SPADE did it before the published program: the package pyfim (version 6.28)
finds all closed itemsets, and a loop in Python filters them (algorithm 1 of the paper).

    python before.py WINDOWS MIN_COUNT MIN_SPIKES WINDOW

WINDOWS is a file with a line for each window, its items as numbers. Prints what measure.R
reads: the closed itemsets, those that the filter keeps, seconds of the search and of the
filter (processor), and the megabytes by which the process grew from before the windows were
read to its peak. It needs pyfim and numpy.
"""
import resource
import sys

import fim
import numpy


def megabytes(what):
    """VmRSS or VmHWM of this process"""
    with open("/proc/self/status") as status:
        kilobytes = [int(line.split()[1]) for line in status if line.startswith(what)]
    return kilobytes[0] / 1024


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def is_pattern(items, window, min_units):
    """Whether a set begins in the first bin of its windows and has enough units"""
    items = numpy.array(items)
    return min(items % window) == 0 and numpy.unique(items // window).shape[0] >= min_units


before = megabytes("VmRSS")
with open(sys.argv[1]) as lines:
    windows = [[int(item) for item in line.split()] for line in lines]
min_count, min_spikes, window = map(int, sys.argv[2:5])

start = processor()
found = fim.fpgrowth(tracts=windows, target="c", supp=-min_count, zmin=min_spikes, report="a",
                     algo="s")
searched = processor()
kept = sum(is_pattern(items, window, min_spikes) for items, _ in found)
filtered = processor()
print("measured", len(found), kept, searched - start, filtered - searched,
      megabytes("VmHWM") - before)
