"""Ties, flawed models, shared work, moves by ten per cent, processes: what `select` promises of its search."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED, function_of
from fastpu.common._sharing import marked, shared_parameters, shares_together
from fastpu.selection._grid import FitSignature, Grid, MovedPoint
from fastpu.selection._trials import make_lines
from helpers import refused
from selection_cases import Recorder, Sharing, Shifted, peak, pu_data, without_seconds

WARNS = {1.0: fastpu.exceptions.DegenerateModelWarning, 2.0: fastpu.exceptions.ConvergenceWarning}
SHIFTS = {"shift": [0.0, 1.0, 2.0, 3.0]}

each_recorder = pytest.mark.parametrize("recorder", [Recorder, Sharing])


@pytest.fixture(scope="module")
def data():
    return pu_data(40, 12)[:2]


# ---- Ties ------------------------------------------------------------------------------------------------------------


def test_the_first_of_tied_points_is_chosen(data):
    for shifts in itertools.permutations([100.0, 110.0, 120.0]):
        # All rows positive: PUF is 1 for each of them.
        found = fastpu.select(Recorder(), *data, {"shift": [-100.0, *shifts]})
        assert found.best_params["shift"] == shifts[0]
        assert found.best_score == 1.0
        assert found.best_index == 1


def test_the_result_says_which_points_are_tied(data):
    grid = [{"shift": [-100.0, 120.0, 100.0], "other": ["a"]}, {"shift": [130.0]}]
    found = fastpu.select(Recorder(), *data, grid)
    assert found.tied.tolist() == [1, 2, 3]
    assert not found.tied.flags.writeable
    text = (
        "4 points tried; 3 of them have this score, and the one tried first was chosen: "
        "shift=120.0, other='a'; shift=100.0, other='a'; shift=130.0, other=None)"
    )
    assert repr(found).endswith(text)
    many = fastpu.select(Recorder(), *data, {"shift": [100.0 + i for i in range(9)], "other": ["a"]})
    assert repr(many).endswith("chosen: " + "; ".join(f"shift={100.0 + i}" for i in range(6)) + " and 3 more)")
    same = fastpu.select(Recorder(), *data, {"shift": [100.0, 100.0]})
    assert repr(same).endswith("2 points tried; 2 of them have this score, and the one tried first was chosen)")
    alone = fastpu.select(Recorder(), *data, {"shift": [1.0, 4.0]}, scoring=peak(2.0), refine="greedy")
    assert alone.tied.tolist() == [alone.best_index]
    assert repr(alone).endswith("points tried)")


def test_points_of_least_error_are_tied_too(data):
    X, *_ = pu_data()
    grid = {"shift": [-1e3, 1e3, -2e3]}
    found = fastpu.select(Recorder(), *data, grid, scoring="error", validation=(X, np.ones(len(X), dtype=int)))
    assert (found.tied.tolist(), found.best_score) == ([1], 0.0)
    found = fastpu.select(Recorder(), *data, grid, scoring="error", validation=(X, -np.ones(len(X), dtype=int)))
    assert (found.tied.tolist(), found.best_score) == ([0, 2], 0.0)


def test_scores_that_differ_by_rounding_are_tied(data):
    def scoring(model, X, y):
        return 0.3 + model.by * 1e-15

    assert fastpu.select(Recorder(), *data, SHIFTS, scoring=scoring).best_params["shift"] == 0.0


def test_the_last_parameter_is_the_fastest_and_dicts_follow_each_other(data):
    grid = [{"shift": [1.0, 2.0], "other": ["a", "b"]}, {"other": ["c"]}]
    table = fastpu.select(Recorder(), *data, grid).table
    assert table["param_shift"].tolist() == [1.0, 1.0, 2.0, 2.0, None]
    assert table["param_other"].tolist() == ["a", "b", "a", "b", "c"]


# ---- Flawed models ---------------------------------------------------------------------------------------------------


@each_recorder
def test_flawed_models_are_recorded_and_not_chosen(recorder, data):
    fit = recorder(warns=WARNS, raises={3.0: ValueError("no such shift")})
    with pytest.warns() as told:
        found = fastpu.select(fit, *data, SHIFTS, scoring=peak(2))
    assert [(w.category, str(w.message)) for w in told] == [
        (
            fastpu.exceptions.FailedFitWarning,
            "1 of 4 points of grid failed and cannot be chosen (all with shift=3.0); the first, shift=3.0, says: "
            "ValueError: no such shift",
        )
    ]
    assert found.best_params["shift"] == 0.0
    assert found.table["status"].tolist() == ["ok", "degenerate", "not_converged", "failed"]
    assert found.table["score"].tolist() == [-2.0, -np.inf, -np.inf, -np.inf]
    assert found.table["message"].tolist() == ["", "shift is 1.0", "shift is 2.0", "ValueError: no such shift"]


@each_recorder
def test_flaws_that_are_admitted_are_judged(recorder, data):
    def chosen(at, admit):
        found = fastpu.select(recorder(warns=WARNS), *data, SHIFTS, scoring=peak(at), admit=admit)
        assert found.table["status"].tolist() == ["ok", "degenerate", "not_converged", "ok"]
        return found.best_params["shift"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the final fit
        assert [chosen(at, ["not_converged"]) for at in (1, 2)] == [0.0, 2.0]
        assert [chosen(at, ["degenerate"]) for at in (1, 2)] == [1.0, 1.0]
        assert [chosen(at, ["degenerate", "not_converged"]) for at in (1, 2)] == [1.0, 2.0]


def test_one_flawed_fold_makes_a_point_inadmissible_also_where_the_criterion_is_minimised(data):
    X, y = data

    def fit(X, y, *, shift=0.0):
        if shift == 1.0 and len(fits) == 2:
            warnings.warn("all the same", fastpu.exceptions.DegenerateModelWarning, stacklevel=2)
        fits.append(shift)
        return Shifted(shift)

    fits: list[float] = []
    found = fastpu.select(fit, X, y, {"shift": [1.0, -90.0]}, scoring="err_star", prior=0.3, random_state=0)
    assert found.best_params["shift"] == -90.0
    assert found.table["status"].tolist() == ["degenerate", "ok"]
    assert found.table["score"][0] == np.inf
    assert np.isfinite(found.table["fold_0"]).all()


def test_a_degenerate_svm_is_not_chosen_although_its_puf_is_best():
    """A huge cost of positives calls every row positive, which has PUF = 1 whatever the data."""
    X, y, _ = pu_data(200, 40)
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(X.shape)
    call = functools.partial(fastpu.select, fastpu.fit_bsvm, noise, y, {"C_pos": [4.0, 1e4], "C_unl": [1.0]})
    found = call(random_state=0)
    assert found.table["status"].tolist() == ["ok", "degenerate"]
    assert found.best_params["C_pos"] == 4.0
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        admitted = call(random_state=0, admit=["degenerate"])
    assert admitted.best_params["C_pos"] == 1e4
    assert found.best_score < admitted.best_score == 1.0


def test_a_score_of_nan_is_a_failure(data):
    with pytest.warns(fastpu.exceptions.FailedFitWarning, match="3 of 4 points.*shift=1.0, says: the score is NaN"):
        found = fastpu.select(Recorder(), *data, SHIFTS, scoring=lambda model, X, y: np.nan if model.by > 0 else 1.0)
    assert found.table["status"].tolist() == ["ok", "failed", "failed", "failed"]
    assert found.table["message"][1] == "the score is NaN"

    def scores(X, y, *, shift=0.0):
        return Shifted(np.nan if shift else 0.0)

    with pytest.warns(fastpu.exceptions.FailedFitWarning, match="3 of 4 points"):
        found = fastpu.select(scores, *data, SHIFTS)
    assert found.table["status"].tolist() == ["ok", "failed", "failed", "failed"]
    assert "must not hold NaN" in found.table["message"][1]


def test_nothing_admissible_is_an_error_that_says_why(data):
    fit = Recorder(warns=WARNS, raises={0.0: ValueError("first"), 3.0: ArithmeticError("last")})
    text = refused(ValueError, "no point of grid gave an admissible model", fastpu.select, fit, *data, SHIFTS)
    assert "1 not_converged, 1 degenerate, 2 failed of 4" in text
    assert "ValueError: first" in text


def test_errors_of_the_wrong_kind_are_not_swallowed(data):
    for error in (TypeError("wrong"), KeyboardInterrupt(), MemoryError("large")):
        with pytest.raises(type(error)):
            fastpu.select(Recorder(raises={0.0: error}), *data, SHIFTS)


def test_foreign_warnings_are_shown_once(data):
    fit = Recorder(warns={1.0: RuntimeWarning})
    with pytest.warns(RuntimeWarning) as caught:
        fastpu.select(fit, *data, SHIFTS, scoring=peak(3))
    assert [str(w.message) for w in caught] == ["shift is 1.0"]
    assert caught[0].filename == __file__


# ---- Shared work -----------------------------------------------------------------------------------------------------


def test_points_that_differ_in_a_shared_parameter_are_fitted_at_once(data):
    grid = {"shift": [0.0, 1.0, 2.0], "other": ["a", "b"]}
    together, alone = Sharing(), Recorder()
    found = fastpu.select(together, *data, grid, scoring=peak(1), random_state=0)
    expected = fastpu.select(alone, *data, grid, scoring=peak(1), random_state=0)
    assert without_seconds(found.table) == without_seconds(expected.table)
    assert len(alone.calls) == 6 * 4 + 1
    assert len(together.calls) == 2 * 4 + 1
    assert [call["shift"] for call in together.calls] == [[0.0, 1.0, 2.0]] * 8 + [1.0]
    assert [call["other"] for call in together.calls[:4]] == ["a", "b", "a", "b"]


def test_a_partial_function_keeps_its_mark(data):
    fit = Sharing()
    fastpu.select(functools.partial(fit, other="x"), *data, SHIFTS)
    assert len(fit.calls) == 4 + 1
    assert shared_parameters(functools.partial(functools.partial(fit))) == ("shift",)


def test_a_value_that_fails_does_not_take_its_line_along(data):
    fit = Sharing(raises={2.0: ValueError("not two")})
    with pytest.warns(fastpu.exceptions.FailedFitWarning, match=r"1 of 4 points.*says: ValueError: not two$"):
        found = fastpu.select(fit, *data, SHIFTS, scoring=peak(2))
    assert found.table["status"].tolist() == ["ok", "ok", "failed", "ok"]
    assert found.best_params["shift"] == 1.0


def test_a_shared_fit_that_breaks_its_promise_is_told(data):
    class Broken(Sharing):
        def __call__(self, X, y, *, shift=0.0):
            return Shifted(0.0)

    refused(TypeError, "fit has 'shift' in its attribute shares, so it must return a list of 4 models", fastpu.select,
            Broken(), *data, SHIFTS)  # fmt: skip


def test_a_constant_model_of_a_line_is_found_by_its_scores(data):
    """The warning does not say which model it is about, and its status need not either."""

    class Quiet(Sharing):
        def _one(self, shift):
            if shift == 90.0:
                warnings.warn("constant", fastpu.exceptions.DegenerateModelWarning, stacklevel=2)
            return Shifted(shift, status="labels")

    found = fastpu.select(Quiet(), *data, {"shift": [0.0, 90.0]}, random_state=0)
    assert found.table["status"].tolist() == ["ok", "degenerate"]


def points_of(values):
    return [point for point, _ in Grid([values]).points()]


@pytest.mark.parametrize(("together", "of_both"), [(False, [3] * 4), (True, [6] * 2)])
def test_lines_are_as_few_as_what_is_shared_allows(together, of_both):
    points = points_of({"a": (1, 2), "b": (1, 2, 3), "c": ([1], [2])})

    def sizes(shares):
        return sorted(len(rows) for rows, _ in make_lines(points, shares, together=together))

    assert sizes(()) == sizes(("d",)) == [1] * 12
    assert sizes(("a",)) == [2] * 6
    assert sizes(("a", "b")) == sizes(("b", "d", "a")) == of_both
    lines = make_lines([*points, {"a": 1}], ("b",))
    assert sorted(i for rows, _ in lines for i in rows) == list(range(13))
    assert all(shared == (("b",) if len(rows) > 1 else ()) for rows, shared in lines)


def test_points_of_1_and_of_1_0_are_fitted_apart_and_told_apart_in_the_table(data):
    """A fit that takes 1 for one feature and 1.0 for all of them would else judge both by the first."""
    seen = []

    @marked(shares=("shift",))
    def fit(X, y, *, shift=0.0, other=0):
        seen.append((type(other), shift))
        many = [Shifted(value + isinstance(other, float)) for value in shift] if isinstance(shift, list) else []
        return many or Shifted(shift + isinstance(other, float))

    grid = {"shift": [0.0, 1.0], "other": [1, 1.0]}
    found = fastpu.select(fit, *data, grid, scoring=peak(2.0), cv=2, random_state=0)
    assert found.best_params == {"shift": 1.0, "other": 1.0}
    assert isinstance(found.best_params["other"], float)
    assert list(map(type, found.table["param_other"])) == [int, float] * 2
    assert found.table["score"].tolist() == [-2.0, -1.0, -1.0, 0.0]
    assert seen[:2] == [(int, [0.0, 1.0]), (float, [0.0, 1.0])]
    assert found.table["param_shift"].dtype == np.float64


def test_several_parameters_can_be_shared_together(data):
    points = points_of({"a": (1, 2), "b": (1, 2, 3), "c": ([1], [2])})
    lines = make_lines([*points, {"a": 1}, {"a": 2}], ("a", "b"), together=True)
    assert sorted(len(rows) for rows, _ in lines) == [2, 6, 6]  # those without a b are no lines of those with one

    @marked(shares=("shift", "other"), shares_together=True)
    def fit(X, y, *, shift=0.0, other=0.0):
        calls.append((shift, other))
        if not isinstance(shift, list):
            return Shifted(shift)
        return [Shifted(value) for value in shift]

    calls: list[tuple[object, object]] = []
    assert shares_together(fit)
    assert not shares_together(Recorder())
    found = fastpu.select(fit, *data, {"shift": [0.0, 1.0], "other": [3.0, 4.0]}, scoring=peak(1), cv=2, random_state=0)
    assert calls == [([0.0, 0.0, 1.0, 1.0], [3.0, 4.0, 3.0, 4.0])] * 2 + [(1.0, 3.0)]
    assert found.best_params == {"shift": 1.0, "other": 3.0}


# ---- Greedy moves ----------------------------------------------------------------------------------------------------


def test_greedy_search_goes_up_to_the_peak(data):
    fit = Recorder()
    found = fastpu.select(fit, *data, {"shift": [1.0, 4.0], "other": ["a"]}, scoring=peak(2.0), refine="greedy")
    assert found.best_params["shift"] == pytest.approx(1.1**7)  # 1.949; 1.1^8 is 2.144
    assert found.best_params["other"] == "a"
    assert found.best_score == pytest.approx(1.1**7 - 2)
    assert found.table["stage"].tolist()[:3] == ["grid", "grid", "greedy"]
    assert found.table["param_shift"][found.best_index] == found.best_params["shift"]
    assert found.model.by == found.best_params["shift"]


def brute_force(score, start, moves=200):
    """The search in its plain form: every neighbour anew, no memory."""
    here = dict(start)
    for _ in range(moves):
        around = [{**here, name: here[name] * factor} for name in here for factor in (1.1, 0.9)]
        best = max(around, key=score)
        if score(best) <= score(here) + 1e-12:
            return here
        here = best
    raise AssertionError


def test_greedy_search_in_two_parameters_is_the_plain_one_and_fits_no_point_twice(data):
    tried = []

    def fit(X, y, *, a=1.0, b=1.0):
        tried.append((len(y), a, b))
        return Shifted(-((np.log(a) - 0.7) ** 2) - (np.log(b) + 0.9 + 0.3 * np.log(a)) ** 2)

    def score(model, X, y):
        return model.by

    grid = {"a": [1.0, 10.0], "b": [1.0, 0.1]}
    found = fastpu.select(fit, *data, grid, scoring=score, refine="greedy")
    on_grid = max(points_of(grid), key=lambda point: fit(0, [], **point).by)
    expected = brute_force(lambda point: fit(0, [], **point).by, on_grid)
    assert dict(found.best_params) == pytest.approx(expected, rel=1e-12)
    folds = [trial for trial in tried if 0 < trial[0] < 40]
    assert len(set(folds)) * 4 == len(folds)  # folds of 30 rows each
    points = {(a, b) for _, a, b in folds}
    assert len({(round(np.log(a), 9), round(np.log(b), 9)) for a, b in points}) == len(points)


def test_greedy_search_keeps_numbers_of_features_whole():
    X, y, _ = pu_data(120)
    found = fastpu.select(
        fastpu.fit_forest, X, y, {"max_features": [1, 2]}, n_trees=3, cv=2, refine="greedy", scoring="auc", n_threads=1,
        random_state=0, admit=("degenerate",),
    )  # fmt: skip
    tried = found.table["param_max_features"][found.table["stage"] == "greedy"]
    assert tried.size
    assert all(isinstance(value, int | np.integer) for value in tried.tolist())


def test_greedy_search_shares_work_too(data):
    fit = Sharing()
    fastpu.select(fit, *data, {"shift": [1.0, 4.0]}, scoring=peak(1.0), refine="greedy")
    assert [call["shift"] for call in fit.calls] == [[1.0, 4.0]] * 4 + [[1.1, 0.9]] * 4 + [1.0]


def test_which_parameters_move_and_how():
    def fit(X, y, *, real: float = 1.0, count: int = 1, free=1, name: str = "", fixed: float = 1.0, flag: bool = True):
        pass

    values = {"real": (1, 10), "count": (5, 50), "free": (1, 2.5), "name": ("a", "b"), "fixed": (3.0, 3.0),
              "flag": (True, False)}  # fmt: skip
    point = {"real": 10, "count": 5, "free": 0.0, "name": "a", "fixed": 3.0, "flag": True}
    start = MovedPoint.at(point, values, FitSignature.of(fit))
    assert start.steps == {"real": (0, 0), "count": None, "free": (0, 0)}
    around = [move.params() for move in start.neighbors()]
    assert all(list(params) == list(values) for params in around)
    assert [(p["real"], p["count"], p["free"]) for p in around] == [(11, 5, 0), (9, 5, 0), (10, 6, 0), (10, 4, 0)]
    assert all(isinstance(p["count"], int) and isinstance(p["real"], float) for p in around)
    large = MovedPoint({"count": 200}, {"count": None})
    assert [move.params()["count"] for move in large.neighbors()] == [220, 180]


@pytest.mark.parametrize("method", DECLARED)
def test_no_real_parameter_of_a_method_moves_as_a_whole_number(method):
    fit = function_of(method)
    point = {p.name: 1 for p in inspect.signature(fit).parameters.values() if isinstance(p.default, float)}
    start = MovedPoint.at(point, dict.fromkeys(point, (1, 2)), FitSignature.of(fit))
    assert start.steps == dict.fromkeys(point, (0, 0))


def test_moves_out_of_range_fail_and_end_the_search(data):
    """gamma is in [0, 1]: the move beyond 1 is refused by the fit, and recorded."""
    X, y = data
    grid = {"gamma": [0.95, 0.9]}
    found = fastpu.select(fastpu.fit_pnu_auc_boost, X, y, grid, scoring="auc", refine="greedy", n_rounds=3,
                          random_state=0)  # fmt: skip
    failed = found.table["status"] == "failed"
    beyond = found.table["param_gamma"] > 1
    np.testing.assert_array_equal(failed, beyond)
    assert 0 <= found.best_params["gamma"] <= 1


def test_a_climb_without_end_is_ended_with_a_warning(data):
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="after 1000 rounds") as caught:
        fastpu.select(Recorder(), *data, {"shift": [1.0, 0.5]}, cv=2, refine="greedy",
                      scoring=lambda model, X, y: float(np.log(model.by)))  # fmt: skip
    assert caught[0].filename == __file__


def test_a_search_among_words_has_nowhere_to_move(data):
    grid = {"kernel": ["rbf", "linear"]}
    found = fastpu.select(Recorder(), *data, grid, cv=2, refine="greedy", random_state=0)
    plain = fastpu.select(Recorder(), *data, grid, cv=2, random_state=0)
    assert found.table["param_kernel"].tolist() == plain.table["param_kernel"].tolist() == grid["kernel"]
    assert found.best_params == plain.best_params


# ---- Processes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refine", [None, "greedy"])
def test_processes_do_not_change_the_result(refine):
    pytest.importorskip("joblib")
    X, y, _ = pu_data(120, 30)
    grid = {"C_pos": [1e-4, 3.0, 10.0], "C_unl": [0.5, 1.0]}
    options = {"random_state": 0, "refine": refine, "kernel": "rbf"}
    alone, together = (fastpu.select(fastpu.fit_bsvm, X, y, grid, n_threads=n, **options) for n in (None, 2))
    assert without_seconds(alone.table) == without_seconds(together.table)
    assert set(alone.table["status"]) == {"ok", "degenerate"}
    np.testing.assert_array_equal(alone.model.alpha, together.model.alpha)
    assert dict(alone.best_params) == dict(together.best_params)


def test_without_joblib_there_is_one_process(data, monkeypatch):
    monkeypatch.setattr("fastpu.selection.select.find_spec", lambda name: None)
    fit = Recorder()
    fastpu.select(fit, *data, SHIFTS, n_threads=2)
    assert len(fit.calls) == 4 * 4 + 1  # all of them here


def test_threads_are_shared_out_among_processes(data, monkeypatch):
    seen = []

    def run_all(tasks, jobs):
        seen.append(jobs)
        return [list(fastpu.selection._trials._run_line(*task)) for task in tasks]

    def fit(X, y, *, shift=0.0, n_threads=None):
        seen.append(n_threads)
        return Shifted(shift)

    monkeypatch.setattr("fastpu.selection._search.run_all", run_all)
    monkeypatch.setattr("fastpu.common._threads.available_cpus", lambda: 8)
    for n_threads, expected in ((3, [3, 1, 1, 3]), (None, [1] + [None] * 3)):
        seen.clear()
        fastpu.select(fit, *data, {"shift": [0.0]}, cv=2, n_threads=n_threads)
        assert seen == expected


def test_values_of_a_grid_may_be_an_array(data):
    found = fastpu.select(Recorder(), *data, {"shift": np.array(SHIFTS["shift"])}, cv=2, random_state=0)
    assert found.best_params == fastpu.select(Recorder(), *data, SHIFTS, cv=2, random_state=0).best_params
    assert type(found.best_params["shift"]) is float


def test_a_fit_without_a_signature_takes_any_name():
    class Opaque(Recorder):
        __signature__ = 3

    arguments = FitSignature.of(Opaque())
    arguments.check("whatever", "grid")
    assert not arguments.takes("whatever")


def test_a_function_judges_the_validation_labels_as_they_are(data):
    X, y = data
    words = np.where(y == 1, "yes", "no")
    heard = []

    def scoring(model, X, y):
        heard.append(y)
        return 1.0

    fastpu.select(Recorder(), X, y, SHIFTS, validation=(X, words), scoring=scoring)
    assert all(labels is words for labels in heard)
    assert len(heard) == len(SHIFTS["shift"])


@pytest.mark.parametrize("name", ["error", "auc", "puf", "lift", "err_star"])
def test_a_function_judges_any_labels_whatever_its_name(name, data):
    def scoring(model, X, y):
        return -abs(model.by - 1.0)

    scoring.__name__ = name
    X, y = data
    for labels in (y, np.where(y == 1, 1, -1)):
        assert fastpu.select(Recorder(), X, labels, SHIFTS, scoring=scoring, cv=2).best_params == {"shift": 1.0}
