# usage: python guides.py FOLDER. Writes two recordings as a laboratory of today has them, for
# tools/guides.R: session.nwb by pynwb, with trials, electrodes and a stimulus, and analyzer/, the
# SortingAnalyzer of SpikeInterface. Neurons of both fire at random, and three of the session's fire
# one after the other after each stimulus.
import datetime
import sys

import numpy as np
import pynwb
import spikeinterface.full as si

folder = sys.argv[1]
rng = np.random.default_rng(1)

nwb = pynwb.NWBFile(
    "simulated session", "guides",
    datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc))
probe = nwb.create_electrode_group(
    "probe", "a row of electrodes", "cortex", nwb.create_device("probe"))
for i in range(8):
    nwb.add_electrode(x=0.0, y=20.0 * i, z=0.0, location="cortex", group=probe)
nwb.add_unit_column("quality", "as the sorter said")
stimuli = np.arange(1, 119, 2.0)
for i in range(8):
    times = rng.uniform(0, 120, rng.poisson(120 * (2 + i)))
    if i < 3:
        times = np.append(times, stimuli + 0.05 + 0.01 * i + rng.normal(0, 0.002, len(stimuli)))
    nwb.add_unit(spike_times=np.sort(times), obs_intervals=[[0.0, 120.0]], electrodes=[i],
                 quality="good" if i < 7 else "mua")
nwb.add_trial_column("side", "where the stimulus was")
for i, time in enumerate(stimuli):
    nwb.add_trial(start_time=time - 0.5, stop_time=time + 1.5, side=["left", "right"][i % 2])
with pynwb.NWBHDF5IO(f"{folder}/session.nwb", "w") as file:
    file.write(nwb)

recording, sorting = si.generate_ground_truth_recording(
    durations=[60.0], sampling_frequency=30000.0, num_channels=8, num_units=12, seed=1)
si.create_sorting_analyzer(
    sorting, recording, format="binary_folder", folder=f"{folder}/analyzer", sparse=False)
