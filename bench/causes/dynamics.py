"""Writes coupled systems of CausalDynamics (Herdeanu et al. 2025) for bench/causes.R

    python3 -m venv .build/dynamics && .build/dynamics/bin/pip install --no-deps \\
      --ignore-requires-python causaldynamics==1.0.0 && .build/dynamics/bin/pip install \\
      torch dysts numba xarray jsonargparse matplotlib ipython jaxtyping statsmodels \\
      scikit-learn netcdf4 tqdm
    .build/dynamics/bin/python bench/causes/dynamics.py [SYSTEMS]

As its default experiment has them: ten nodes, 1,000 steps, chaotic flows drawn at random, no
noise, lag or confounder, and the first variable of each node. Each goes with its links into
.build/dynamics. Printed are the areas under the curves of ROC and of precision and recall for
its TSCI with its settings, means over systems: of all pairs as its authors count, where the
diagonal is right for nodes that nothing drives (they publish 0.69 and 0.36), and without the
diagonal, as bench/causes.R counts.
"""

import logging
import os
import runpy
import signal
import sys

os.environ["TQDM_DISABLE"] = "1"
import causaldynamics
import numpy as np
from causaldynamics.creator import create_scm, simulate_system
from causaldynamics.scm import add_root_self_edges
from causaldynamics.utils import set_rng_seed
from sklearn.metrics import average_precision_score, roc_auc_score

logging.disable(logging.INFO)
# Not by the package of all baselines, which need more than is installed.
TSCI = runpy.run_path(os.path.join(os.path.dirname(causaldynamics.__file__), "baselines",
                                   "ccm.py"))["TSCI"]
folder = os.path.join(".build", "dynamics")
areas = []
seed = 0


class TooSlow(BaseException):
    """Not an Exception, which the solver of flows would catch"""


def give_up(*_):
    raise TooSlow


signal.signal(signal.SIGALRM, give_up)
while len(areas) < int((sys.argv + ["5"])[1]):
    seed += 1
    set_rng_seed(seed)
    A, W, b, _, _ = create_scm(10, 3, confounders=False)
    # Some of the flows that are drawn take hours. The others take a minute or two.
    signal.alarm(300)
    try:
        flows = simulate_system(A, W, b, num_timesteps=1000, num_nodes=10,
                                system_name="random",
                                make_trajectory_kwargs=dict(resample=True, noise=0.0))
    except TooSlow:
        continue
    finally:
        signal.alarm(0)
    x = np.nan_to_num(flows.to_numpy()[..., 0].astype(float))
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-8)
    path = os.path.join(folder, "coupled_%d" % len(areas))
    np.savetxt(path + ".csv.gz", x, delimiter=",", comments="", fmt="%.9g",
               header=",".join("n%d" % k for k in range(10)))
    np.savetxt(path + "_gt.csv", np.argwhere(A.numpy()), delimiter=",", fmt="%d")
    model = TSCI(tau_max=1, corr_thres=0.8)
    model.run(x)
    truth, found = add_root_self_edges(A).numpy().astype(bool), model.adj_matrix.astype(float)
    apart = ~np.eye(10, dtype=bool)
    areas.append([area(truth[of], found[of]) for of in (apart | True, apart)
                  for area in (roc_auc_score, average_precision_score)])
print("TSCI: all pairs %.2f / %.2f, without the diagonal %.2f / %.2f" %
      tuple(np.mean(areas, axis=0)))
