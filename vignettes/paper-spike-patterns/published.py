"""One search by the published program, which comes compiled with the package elephant.

    python published.py WINDOWS MIN_COUNT MIN_SPIKES WINDOW

WINDOWS is a file with a line for each window, its items as numbers. The program takes as
many threads as OMP_NUM_THREADS names. Prints what measure.R reads: the itemsets that its
search kept, the closed ones, seconds by the clock, processor seconds and the megabytes by
which the process grew from before the windows were read to its peak. sys.path needs the
folder elephant/spade_src, or elephant with all that it needs.
"""
import os
import re
import resource
import sys
import tempfile
import time

try:
    import fim
except ImportError:
    from elephant.spade_src import fim


def megabytes(what):
    """VmRSS or VmHWM of this process"""
    with open("/proc/self/status") as status:
        kilobytes = [int(line.split()[1]) for line in status if line.startswith(what)]
    return kilobytes[0] / 1024


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


before = megabytes("VmRSS")
with open(sys.argv[1]) as lines:
    windows = [[int(item) for item in line.split()] for line in lines]
min_count, min_spikes, window = map(int, sys.argv[2:5])

# What the program prints goes to a file, as the number of sets is only told there.
log = tempfile.TemporaryFile()
screen = os.dup(1)
os.dup2(log.fileno(), 1)
clock, cpu = time.perf_counter(), processor()
found = fim.fpgrowth(tracts=windows, target="c", supp=min_count, zmin=min_spikes, zmax=0,
                     report="a", algo="s", winlen=window, min_neu=min_spikes, verbose=2,
                     threads=0)
clock, cpu = time.perf_counter() - clock, processor() - cpu
os.dup2(screen, 1)
log.seek(0)
kept = re.search(r"Frequent Item-Sets: (\d+)", log.read().decode(errors="replace"))
print("measured", "done", "NA", "NA", kept.group(1) if kept else "NA", len(found), clock,
      cpu, megabytes("VmHWM") - before)
