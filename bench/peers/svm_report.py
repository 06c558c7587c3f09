"""What was measured of SVMs, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from report_parts import Measured, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Measured", "report"]

_LIBRARIES = ("fastpu", "scikit-learn", "pulearn", "numpy", "scipy")
_PEER = "scikit-learn"
_THREADED_PEER = "scikit-learn-intelex"
_FIT_GOALS = {1: 2 / 3, 2: 1 / 6}  # of the peer's time, for so many threads
_FLOAT32_GOALS = {2: 1 / 8}
_SCORING_GOAL, _MAPPING_GOAL, _BAGGING_GOAL = 1 / 5, 1 / 5, 1 / 20
_AGREEMENT_GOAL = 0.999
_MIB = 2**20
_KINDS = {"c_svm": "C", "nu_svm": "nu", "one_class": "one-class, nu"}


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine(*_LIBRARIES)]
    for name, section in _SECTIONS:
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts.append(section(chosen))
    return "\n\n".join(parts)


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _problem(m: Measured) -> list[str]:
    options = m.options
    rows, kernel = options["rows"], options["kernel"]
    n, d = m.found["shape"]
    where = f"{rows}, {n:,} x {d:,}" if isinstance(rows, str) else f"{n:,} x {d}"
    width = f" {kernel['gamma']:g}" if "gamma" in kernel else ""
    return [where, f"{_KINDS[options['kind']]} = {options['parameter']:g}, {kernel['kernel']}{width}"]


def _threads(names: Sequence[str]) -> list[int]:
    return sorted({int(name.split()[-1]) for name in names if name.startswith("fastpu")})


def _against_goal(ratio: float, n_threads: int, goals: Mapping[int, float]) -> str:
    goal = goals.get(n_threads)
    return f"{ratio:.2f}" if goal is None else at_most(ratio, round(goal, 3))


def _contest(m: Measured, goals: Mapping[int, float], float32_goals: Mapping[int, float]) -> list[str]:
    """Return times and ratios of float64 and float32 for every number of threads, and the peers' times."""
    times = m.found["seconds"]
    peer = median(times[_PEER])
    cells = [spread(times[_PEER])]
    for n_threads in _threads(m.options["names"]):
        double, single = times[f"fastpu float64 {n_threads}"], times.get(f"fastpu float32 {n_threads}")
        other = times.get(f"{_THREADED_PEER} {n_threads}")
        cells += [spread(double), _against_goal(median(double) / peer, n_threads, goals)]
        cells += ["", ""] if single is None else [
            spread(single), _against_goal(median(single) / peer, n_threads, float32_goals)]  # fmt: skip
        cells += ["", ""] if other is None else [spread(other), f"{median(double) / median(other):.2f}"]
    return cells


def _contest_head(measured: Sequence[Measured]) -> list[str]:
    head = ["scikit-learn"]
    for n_threads in _threads([name for m in measured for name in m.options["names"]]):
        text = f"{n_threads} thread{'s' if n_threads > 1 else ''}"
        head += [f"fastpu, {text}", "fastpu / scikit-learn", f"float32, {text}", "float32 / scikit-learn"]
        head += [f"intelex, {text}", "fastpu / intelex"]
    return head


def _fits(measured: Sequence[Measured]) -> str:
    times = [[*_problem(m), *_contest(m, _FIT_GOALS, _FLOAT32_GOALS)] for m in measured]
    repeats = measured[0].options["repeats"]
    first = table(
        f"A fit, ms: median [least-most] of {repeats} alternating runs",
        ["rows", "SVM", *_contest_head(measured)],
        times,
    )
    quality = []
    for m in measured:
        objective = {name: found["objective"] for name, found in m.found["quality"].items()}
        best = min(objective.values())
        shown = [name for name in m.options["names"] if name == _PEER or name.endswith(" 1")] or m.options["names"]
        above = [f"{(objective[name] - best) / max(abs(best), 1e-300):.1e}" for name in shown]
        violation = [f"{m.found['quality'][name]['violation']:.1e}" for name in shown]
        support = [f"{m.found['n_support'][name]:,}" for name in shown]
        names = [name.replace("fastpu ", "").removesuffix(" 1") for name in shown]
        cells = (" / ".join(values) for values in (names, above, violation, support))
        quality.append([*_problem(m), f"{best:.8g}", *cells])
    second = table(
        "What these fits found, judged in float64 alike",
        ["rows", "SVM", "best dual objective", "by", "relative excess of the objective", "largest KKT violation",
         "support vectors"],
        quality,
    )  # fmt: skip
    return first + "\n\n" + second


def _scoring(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        goals = dict.fromkeys(_threads(m.options["names"]), _SCORING_GOAL)
        ours = m.options["names"][0]
        support = f"{m.found['n_support'][ours]:,} / {m.found['n_support'][_PEER]:,}"
        apart = max(m.found["difference"].values())
        rows.append([*_problem(m), support, *_contest(m, goals, {}), f"{apart:.1e}"])
    return table(
        "Scores of other rows, ms, each library by its own model",
        ["rows scored", "SVM", "support vectors: fastpu / scikit-learn", *_contest_head(measured),
         "largest difference of scores"],
        rows,
    )  # fmt: skip


def _mapping(measured: Sequence[Measured]) -> str:
    rows, claims = [], []
    for m in measured:
        times = {name: median(found) for name, found in m.found["seconds"].items()}
        where = [m.options["rows"], f"{m.found['n_pos']:,} / {m.found['n_unl']:,}"]
        for what in ("SVMC", "SVMC, no repair", "SMC", "one SVM"):
            peer = f"{_PEER}: {what}"
            cells = [spread(m.found["seconds"][peer])]
            for n_threads in m.options["threads"]:
                name = f"fastpu {n_threads}: {what}"
                ratio = times[name] / times[peer]
                cells += [spread(m.found["seconds"][name]),
                          at_most(ratio, _MAPPING_GOAL) if what.startswith("SVMC") else f"{ratio:.2f}"]  # fmt: skip
            ours = f"fastpu {m.options['threads'][0]}: {what}"
            fits = f"{m.found['n_fits'][ours]} / {m.found['n_fits'][peer]}"
            quality = f"{_percent(m.found['f1'][ours])} / {_percent(m.found['f1'][peer])}"
            rows.append([*where, what, *cells, fits, quality])
        for library in [*(f"fastpu {n_threads}" for n_threads in m.options["threads"]), _PEER]:
            repaired, printed = times[f"{library}: SVMC"], times[f"{library}: SVMC, no repair"]
            smc, alone = times[f"{library}: SMC"], times[f"{library}: one SVM"]
            claims.append([m.options["rows"], library, f"{smc / repaired:.2f}", f"{smc / printed:.2f}",
                           f"{repaired / alone:.2f}", f"{printed / alone:.2f}", f"{smc / alone:.2f}"])  # fmt: skip
    head = ["set", "P / U", "", "scikit-learn"]
    for n_threads in measured[0].options["threads"]:
        head += [f"fastpu, {n_threads} thread{'s' if n_threads > 1 else ''}", "fastpu / scikit-learn"]
    kernel, cost = measured[0].options["kernel"], measured[0].options["C"]
    title = f"Mapping convergence, {kernel} kernel, C = {cost:g}, ms"
    first = table(title, [*head, "fits: fastpu / scikit-learn", "F1 of the last boundary: fastpu / scikit-learn"], rows)
    second = table(
        "The paper's claim: SVMC is much faster than SMC and takes about as long as one SVM (its ratios of times)",
        ["set", "", "SMC / SVMC", "SMC / SVMC without repair", "SVMC / one SVM", "SVMC without repair / one SVM",
         "SMC / one SVM"],
        claims,
    )  # fmt: skip
    return first + "\n\n" + second


def _agreement(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        tols = [f"{tol:g}" for tol in m.options["tols"]]
        for name, shares in m.found["between"].items():
            cells = [_percent(shares[tol]) for tol in tols[:-1]]
            final = shares[tols[-1]]
            met = "met" if final >= _AGREEMENT_GOAL else "missed"
            verdict = f"{_percent(final)} (>= {_percent(_AGREEMENT_GOAL)}: {met})"
            rows.append([name, *cells, verdict, _percent(m.found["itself"][name])])
    tols = [f"{tol:g}" for tol in measured[0].options["tols"]]
    return table(
        "Rows of U of which SVMC without repair says the same (never rejected or rejected), fastpu and scikit-learn",
        ["set", *(f"both with tol {tol}" for tol in tols),
         f"scikit-learn with tol {tols[0]} and with tol {tols[-1]}"],
        rows,
    )  # fmt: skip


def _bagging(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        options, times, auc = m.options, m.found["seconds"], m.found["auc"]
        for n_workers in options["threads"]:
            ours, peer = f"fastpu {n_workers}", f"pulearn {n_workers}"
            ratio = median(times[ours]) / median(times[peer])
            bags = f"{options['n_bags']} of {options['bag_size']:,}"
            rows.append([f"{options['n']:,}", f"{options['n_pos']:,}", bags, str(n_workers),
                         spread(times[peer]), spread(times[ours]), at_most(ratio, _BAGGING_GOAL),
                         f"{auc[ours]:.4f} / {auc[peer]:.4f}"])  # fmt: skip
    return table(
        "Bagging SVM, out-of-bag scores included, ms",
        ["n", "labelled", "bags", "threads or jobs", "pulearn over SVC", "fastpu", "fastpu / pulearn",
         "AUC on other rows: fastpu / pulearn"],
        rows,
    )  # fmt: skip


def _memory(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        peak, matrix, cache = m.found["peak"], m.found["matrix"], m.options["cache_mb"] * _MIB
        allowed = cache + 3 * matrix
        verdict = at_most(peak / allowed, 1) if m.options["name"] != _PEER else f"{peak / allowed:.2f}"
        cells = [f"{m.options['n']:,}", f"{matrix / _MIB:.1f}", f"{m.options['cache_mb']:g}", f"{peak / _MIB:.1f}"]
        rows.append([m.options["name"], m.options["form"], *cells, verdict, f"{m.found['n_support']:,}"])
    return table(
        "Peak memory of a fit, MB of 2^20 bytes above the interpreter's, the rows included",
        ["", "rows", "n", "rows, MB", "cache limit", "peak", "peak / (cache limit + 3 x rows)", "support vectors"],
        rows,
    )


_SECTIONS: tuple[tuple[str, Callable[[Sequence[Measured]], str]], ...] = (
    ("fits", _fits),
    ("scoring", _scoring),
    ("mapping", _mapping),
    ("agreement", _agreement),
    ("bagging", _bagging),
    ("memory", _memory),
)
