"""Runs the works of one peer of Python, for bench/peers/run.R, which starts this.

    theirs.py PORT PEER DEVICE

It connects to PORT of this machine, says "ready VERSION" or "missing WHY", and then answers
requests, a line each with fields that tabs separate:

    request   WORK FOLDER RUNS SECONDS LIMIT NAME=VALUE ...
    answer    done WALL,WALL,... CPU,CPU,...     or     failed WHY

The series or spikes of a work are numbers of 8 bytes in FOLDER/data. What a work is given
is made ready first and not timed; then it runs RUNS times, or as often as begins within
SECONDS. After LIMIT seconds this process ends. Its last result goes to FOLDER/result, numbers
of 8 bytes too, in the order that the work's `same` in bench/peers/works.R expects.
"""

import array
import contextlib
import os
import resource
import signal
import socket
import sys
import time

sys.modules["mpi4py"] = None  # Elephant would start MPI, for one process


# ---- Patterns --------------------------------------------------------------------------

def windows(data, window):
    """Windows that open at each bin with a spike: lists of items, unit * window + lag"""
    half = len(data) // 2
    inside = {}
    for unit, at in zip(data[:half], data[half:]):
        inside.setdefault(int(at), []).append(int(unit))
    return [sorted(unit * window + lag for lag in range(window)
                   for unit in inside.get(first + lag, ())) for first in sorted(inside)]


def flat_patterns(found):
    """Sizes, counts, and all items of patterns that are pairs of items and a count"""
    out = array.array("d", [len(found)])
    out.extend(len(items) for items, _ in found)
    out.extend(count for _, count in found)
    out.extend(item for items, _ in found for item in items)
    return out


class PyFIM:
    def __init__(self, device):
        import fim
        self.fim, self.version = fim, fim.__doc__.split("version ")[1].split()[0]

    def patterns(self, data, given):
        window, least = int(given["window"]), int(given["min_spikes"])
        transactions = windows(data, window)

        def call():
            # SPADE before 2021: all closed sets of PyFIM, and then its filters in Python.
            found = self.fim.fpgrowth(transactions, target="c", supp=-int(given["min_count"]),
                                      zmin=least, report="a", algo="s")
            return [(items, count) for items, count in found
                    if min(item % window for item in items) == 0
                    and len({item // window for item in items}) >= least]
        return call, flat_patterns


# ---- Elephant --------------------------------------------------------------------------

def trains(data, given):
    """Neo's spike trains of a list of times, unit by unit"""
    import neo
    import quantities as pq
    sizes = [int(n) for n in given["sizes"].split(",")]
    out, first = [], 0
    for n in sizes:
        out.append(neo.SpikeTrain(data[first:first + n] * pq.s, t_start=0 * pq.s,
                                  t_stop=float(given["end"]) * pq.s))
        first += n
    return out


class Elephant:
    def __init__(self, device):
        import elephant
        import elephant.spade
        self.version = elephant.__version__
        if not elephant.spade.HAVE_FIM:
            raise ImportError("Elephant has no compiled miner here")

    def patterns(self, data, given):
        from elephant.spade_src import fim
        window, least = int(given["window"]), int(given["min_spikes"])
        transactions = windows(data, window)
        longest = max(map(len, transactions))
        call = lambda: fim.fpgrowth(
            tracts=transactions, target="c", supp=-int(given["min_count"]), zmin=least,
            zmax=longest, report="a", algo="s", winlen=window, min_neu=least, verbose=0,
            threads=1)
        return call, flat_patterns

    def spade(self, data, given):
        import numpy as np
        import quantities as pq
        from elephant import spade
        spikes = trains(data, given)
        window, least = int(given["window"]), int(given["min_spikes"])
        options = dict(bin_size=float(given["bin_size"]) * pq.s, winlen=window,
                       min_spikes=least, min_occ=int(given["min_count"]), min_neu=least)
        surrogates = int(given["n_surrogates"])
        mine = lambda: spade.spade(
            spikes, n_surr=surrogates, dither=15 * pq.ms, alpha=0.05, stat_corr="fdr_bh",
            output_format="concepts", **options)

        def result(found):
            # What surrogates do not change: all patterns, before they are tested.
            mined, _ = spade.concepts_mining(spikes, report="a", **options)
            spectrum = np.array(found["pvalue_spectrum"], float).reshape(-1, 3)
            return np.concatenate([[len(spectrum)], spectrum.ravel(),
                                   flat_patterns([(i, len(w)) for i, w in mined])])
        return mine, result

    def correlogram(self, data, given):
        import numpy as np
        import quantities as pq
        from elephant.conversion import BinnedSpikeTrain
        from elephant.spike_train_correlation import cross_correlation_histogram
        spikes = trains(data, given)
        lags, width = int(given["lags"]), float(given["bin_size"]) * pq.s

        def call():
            binned = [BinnedSpikeTrain(train, bin_size=width) for train in spikes]
            return [cross_correlation_histogram(binned[i], binned[j], window=[-lags, lags])[0]
                    for j in range(len(binned)) for i in range(j)]
        return call, lambda found: np.concatenate([pair.magnitude.ravel() for pair in found])

    def tspe(self, data, given):
        import quantities as pq
        from elephant.conversion import BinnedSpikeTrain
        from elephant.functional_connectivity_src import total_spiking_probability_edges \
            as edges
        spikes = BinnedSpikeTrain(trains(data, given), bin_size=1 * pq.ms)
        # Rows are units that fire later, columns those that fire before.
        call = lambda: edges.total_spiking_probability_edges(
            spikes, max_delay=int(given["max_delay"]))[0]
        return call, lambda found: found.ravel()

    def sttc(self, data, given):
        import numpy as np
        import quantities as pq
        from elephant.spike_train_correlation import spike_time_tiling_coefficient
        spikes = trains(data, given)
        dt = float(given["dt"]) * pq.s
        call = lambda: [spike_time_tiling_coefficient(spikes[i], spikes[j], dt=dt)
                        for j in range(len(spikes)) for i in range(j)]
        return call, lambda found: np.array(found, float)

    def surrogates(self, data, given):
        import numpy as np
        import quantities as pq
        from elephant.spike_train_surrogates import dither_spikes
        spikes = trains(data, given)
        n, dither = int(given["n_surrogates"]), float(given["dither"]) * pq.s
        call = lambda: [dither_spikes(train, dither=dither, n_surrogates=n, edges=False)
                        for train in spikes]

        def result(found):
            # How far the spikes of each surrogate are from the recording's, in order.
            moved = []
            for train, made in zip(spikes, found):
                old = np.sort(train.magnitude)
                for one in made:
                    new = np.sort(one.rescale(pq.s).magnitude)
                    moved += [len(new), np.abs(new - old).mean()]
            return np.array(moved, float)
        return call, result


# ---- Empirical dynamic modelling -------------------------------------------------------

def rho(found):
    import numpy as np
    seen, said = (found[name].to_numpy() for name in ("Observations", "Predictions"))
    both = ~(np.isnan(seen) | np.isnan(said))
    return np.array([np.corrcoef(seen[both], said[both])[0, 1]])


class PyEDM:
    # What keeps its functions to one thread or process
    alone, search_alone, ccm_alone = (dict(kdWorkers=1), dict(kdWorkers=1, numProcess=1),
                                      dict(parallel=False))

    def __init__(self, device):
        import pyEDM
        from importlib.metadata import version
        self.edm, self.version = pyEDM, version("pyEDM")

    def frame(self, data, given):
        import pandas as pd
        x = data.reshape(int(given["series"]), -1)
        table = {"time": range(1, x.shape[1] + 1), "x": x[0]}
        if len(x) > 1:
            table["y"] = x[1]
        rows = "1 %d" % x.shape[1]
        return dict(dataFrame=pd.DataFrame(table), columns="x", target="x", lib=rows,
                    pred=rows)

    def embed_dimension(self, data, given):
        x = self.frame(data, given)
        call = lambda: self.edm.EmbedDimension(maxE=int(given["E_max"]), showPlot=False,
                                               **self.search_alone, **x)
        return call, lambda found: found["rho"].to_numpy()

    def simplex(self, data, given):
        x = self.frame(data, given)
        return lambda: self.edm.Simplex(E=int(given["E"]), **self.alone, **x), rho

    def smap(self, data, given):
        x = self.frame(data, given)
        call = lambda: self.edm.SMap(E=int(given["E"]), theta=float(given["theta"]),
                                     **self.alone, **x)
        return call, lambda found: rho(found["predictions"])

    def ccm(self, data, given):
        x = self.frame(data, given)["dataFrame"]
        sizes = [int(n) for n in given["lib_sizes"].split(",")]
        call = lambda: self.edm.CCM(dataFrame=x, columns="x", target="y", E=int(given["E"]),
                                    libSizes=sizes, sample=int(given["samples"]), seed=1,
                                    **self.ccm_alone)
        return call, lambda found: found["x:y"].to_numpy()


class CppEDM(PyEDM):
    """pyEDM before its version 2: cppEDM, called from Python"""
    # CCM() gives each of the two directions a thread, whatever it is told.
    alone, search_alone, ccm_alone = {}, dict(numThreads=1), {}

    def map(self, data, given):
        import numpy as np
        import pandas as pd
        x = data.reshape(int(given["series"]), -1)
        E = [int(e) for e in given["E"].split(",")]
        series = range(len(x))
        frame = pd.DataFrame({"time": range(1, x.shape[1] + 1),
                              **{"s%d" % k: x[k] for k in series}})
        rows = "1 %d" % x.shape[1]
        # Simplex() with all rows as library does what CCM() does, in less time.
        cross = lambda library, target: self.edm.Simplex(
            dataFrame=frame, columns="s%d" % library, target="s%d" % target, lib=rows,
            pred=rows, E=E[target], Tp=0)
        call = lambda: [cross(library, target) for target in series for library in series
                        if library != target]

        def numbers(found):
            out = np.zeros((len(x), len(x)))
            out[~np.eye(len(x), dtype=bool)] = [rho(one)[0] for one in found]
            return out.ravel()
        return call, numbers


class KEDM:
    def __init__(self, device):
        if device == "gpu":
            load_cublas()
        import kedm
        self.edm, self.version = kedm, kedm.__version__

    def series(self, data, given):
        import numpy as np
        return np.ascontiguousarray(data.reshape(int(given["series"]), -1), np.float32)

    def embed_dimension(self, data, given):
        import numpy as np
        x = self.series(data, given)[0]
        call = lambda: self.edm.edim(x, E_max=int(given["E_max"]))
        return call, lambda found: np.array([found], float)

    def simplex(self, data, given):
        import numpy as np
        x = self.series(data, given)[0]
        call = lambda: self.edm.eval_simplex(x, x, E=int(given["E"]))
        return call, lambda found: np.array([found], float)

    def smap(self, data, given):
        import numpy as np
        x = self.series(data, given)[0]
        call = lambda: self.edm.eval_smap(x, x, E=int(given["E"]), theta=float(given["theta"]))
        return call, lambda found: np.array([found], float)

    def ccm(self, data, given):
        import numpy as np
        x = self.series(data, given)
        sizes = [int(n) for n in given["lib_sizes"].split(",")]
        call = lambda: self.edm.ccm(x[0], x[1], lib_sizes=sizes, E=int(given["E"]), seed=1,
                                    sample=int(given["samples"]))
        return call, lambda found: np.array(found, float)

    def dimensions(self, data, given):
        import numpy as np
        x = self.series(data, given)
        call = lambda: [self.edm.edim(one, E_max=int(given["E_max"])) for one in x]
        return call, lambda found: np.array(found, float)

    def map(self, data, given):
        import numpy as np
        x = np.ascontiguousarray(self.series(data, given).T)
        E = [int(e) for e in given["E"].split(",")]
        return lambda: self.edm.xmap(x, E), lambda found: np.array(found, float).ravel("F")


def load_cublas():
    """kEDM for CUDA looks for cuBLAS, which PyTorch's packages may have brought"""
    import ctypes
    import glob
    for folder in sys.path:
        for name in ("libcublasLt.so.13", "libcublas.so.13"):
            for file in glob.glob(os.path.join(folder, "nvidia", "*", "lib", name)):
                ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)


class FastCCM:
    number = "float32"  # as it does by default

    def __init__(self, device):
        import torch
        import fastccm
        from fastccm import PairwiseCCM, utils
        self.utils, self.version = utils, fastccm.__version__
        self.device = "cuda" if device == "gpu" else "cpu"
        if device == "gpu" and not torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
        torch.set_num_threads(threads)
        self.pairs = PairwiseCCM(device=self.device, dtype=self.number, memory_budget_gb=8)

    def score(self, sources, targets, **options):
        return self.pairs.score_matrix(X_emb=sources, Y_emb=targets, exclusion_window=0,
                                        **options)

    def series(self, data, given):
        import numpy as np
        return np.ascontiguousarray(data.reshape(int(given["series"]), -1), self.number)

    def embed(self, x, E):
        return list(self.utils.embed(x.T, E=E, tau=1))

    def embed_dimension(self, data, given):
        import numpy as np
        x = self.series(data, given)[:1]
        dims = range(1, int(given["E_max"]) + 1)
        call = lambda: [self.score(self.embed(x, E), list(x[:, :, None]), tp=1)[0, 0, 0]
                        for E in dims]
        return call, lambda found: np.array(found, float)

    def simplex(self, data, given):
        import numpy as np
        x = self.series(data, given)[:1]
        call = lambda: self.score(self.embed(x, int(given["E"])), list(x[:, :, None]), tp=1)
        return call, lambda found: np.array(found, float).ravel()

    def smap(self, data, given):
        import numpy as np
        x = self.series(data, given)[:1]
        call = lambda: self.score(self.embed(x, int(given["E"])), list(x[:, :, None]), tp=1,
                                  method="smap", theta=float(given["theta"]))
        return call, lambda found: np.array(found, float).ravel()

    def ccm(self, data, given):
        import numpy as np
        x = self.series(data, given)
        sizes = [int(n) for n in given["lib_sizes"].split(",")]
        samples = range(int(given["samples"]))

        def call():
            near = self.embed(x[:1], int(given["E"]))
            target = list(x[1:2, :, None])
            return [np.mean([self.score(near, target, library_size=n, seed=k)[0, 0, 0]
                             for k in samples]) for n in sizes]
        return call, lambda found: np.array(found, float)

    def map(self, data, given):
        import numpy as np
        x = self.series(data, given)
        E = int(given["E"].split(",")[0])
        call = lambda: self.score(self.embed(x, E), list(x[:, :, None]), tp=0)
        # One row for each target, one column for each library.
        return call, lambda found: np.array(found[0], float).ravel()

    def smap_map(self, data, given):
        import numpy as np
        x = self.series(data, given)
        call = lambda: self.score(self.embed(x, int(given["E"])), list(x[:, :, None]), tp=1,
                                  method="smap", theta=float(given["theta"]))
        return call, lambda found: np.array(found[0], float).ravel()


class FastCCMDouble(FastCCM):
    number = "float64"


# ---- Tigramite -------------------------------------------------------------------------

class Tigramite:
    def __init__(self, device):
        import importlib.metadata
        import numpy as np
        self.version = importlib.metadata.version("tigramite")
        # Numba compiles what the test by nearest neighbours needs: before any clock starts.
        self.pcmci(np.random.default_rng(1).normal(size=120),
                   dict(series="2", test="cmiknn", again="0", tau_max="1", alpha="0.01",
                        surrogates="5"))[0]()

    def pcmci(self, data, given):
        """The p values and test statistics of all links, and which of them PCMCI+ draws"""
        import numpy as np
        from tigramite.data_processing import DataFrame
        from tigramite.pcmci import PCMCI
        x = np.ascontiguousarray(data.reshape(int(given["series"]), -1).T)

        def call():
            if given["test"] == "parcorr":
                from tigramite.independence_tests.parcorr import ParCorr
                test = ParCorr(significance="analytic")
            else:
                from tigramite.independence_tests.cmiknn import CMIknn
                test = CMIknn(sig_samples=int(given["surrogates"]), workers=1)
            return PCMCI(DataFrame(x), test, verbosity=0).run_pcmciplus(
                tau_min=0, tau_max=int(given["tau_max"]), pc_alpha=float(given["alpha"]),
                reset_lagged_links=given["again"] == "1")

        def numbers(found):
            # Each is cause x effect x lag, flattened with the lag running fastest.
            return np.concatenate([found["p_matrix"].ravel(), found["val_matrix"].ravel(),
                                   (found["graph"] == "-->").ravel()]).astype(float)
        return call, numbers


class JaxPCMCI:
    """PCMCI of JAX-PCMCI, with partial correlation (version 1.4.0 loses all links of PCMCI+)"""
    def __init__(self, device):
        import importlib.metadata
        os.environ["JAX_PLATFORMS"] = "cuda" if device == "gpu" else "cpu"
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # others use that GPU too
        import jax_pcmci
        self.jax, self.version = jax_pcmci, importlib.metadata.version("jax-pcmci")

    def pcmci(self, data, given):
        import numpy as np
        x = data.reshape(int(given["series"]), -1).T
        call = lambda: self.jax.PCMCI(
            self.jax.DataHandler(x), cond_ind_test=self.jax.ParCorr(), verbosity=0
        ).run(tau_min=1, tau_max=int(given["tau_max"]), pc_alpha=float(given["alpha"]),
              alpha_level=float(given["alpha"]), max_conds_dim=int(given["conditions"]))

        def numbers(found):
            parts = [found.pval_matrix, found.val_matrix, found.graph]
            return np.concatenate([np.array(part).ravel() for part in parts]).astype(float)
        return call, numbers


# ---- The conversation ------------------------------------------------------------------

PEERS = {"pyfim": PyFIM, "elephant": Elephant, "pyEDM": PyEDM, "cppEDM": CppEDM, "kedm": KEDM,
         "fastccm": FastCCM, "fastccm-double": FastCCMDouble, "tigramite": Tigramite,
         "jaxpcmci": JaxPCMCI}


def processor():
    """Processor seconds of this process and of those it waited for"""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def once(call):
    """The result, and wall and processor seconds"""
    began, used = time.perf_counter(), processor()
    result = call()
    return result, time.perf_counter() - began, processor() - used


def timed(call, runs, seconds):
    """The last result, and the times; what takes less than 2 s runs once before them"""
    result, wall, cpu = once(call)
    times = [] if wall < 2 else [(wall, cpu)]
    while len(times) < runs and sum(wall for wall, _ in times) < seconds:
        result, wall, cpu = once(call)
        times.append((wall, cpu))
    return result, [wall for wall, _ in times], [cpu for _, cpu in times]


def answer(peer, fields):
    work, folder, runs, seconds, limit = fields[:5]
    given = dict(field.split("=", 1) for field in fields[5:])
    signal.alarm(int(float(limit)) + 5)  # whoever waits for it may be gone by then
    data = array.array("d")
    with open(os.path.join(folder, "data"), "rb") as file:
        data.frombytes(file.read())
    with contextlib.suppress(ImportError):  # a peer without NumPy gets the plain numbers
        import numpy as np
        data = np.array(data)
    call, to_numbers = getattr(peer, work)(data, given)
    result, wall, cpu = timed(call, int(runs), float(seconds))
    with open(os.path.join(folder, "result"), "wb") as file:
        array.array("d", to_numbers(result)).tofile(file)
    signal.alarm(0)
    spelt = lambda times: ",".join("%.9g" % one for one in times)
    return "done\t%s\t%s" % (spelt(wall), spelt(cpu))


def one_line(error):
    return " ".join(("%s: %s" % (type(error).__name__, error)).split())[:200]


def main():
    port, name, device = sys.argv[1:4]
    os.dup2(2, 1)  # what a peer prints is no answer
    with socket.create_connection(("127.0.0.1", int(port))) as line:
        lines = line.makefile("rw", encoding="utf-8", newline="\n")

        def say(text):
            lines.write(text + "\n")
            lines.flush()
        try:
            peer = PEERS[name](device)
            say("ready\t" + peer.version)
        except Exception as error:
            say("missing\t" + one_line(error))
            return
        for request in lines:
            try:
                say(answer(peer, request.rstrip("\n").split("\t")))
            except Exception as error:
                say("failed\t" + one_line(error))


if __name__ == "__main__":
    main()
