"""Boosting trees on the workers of Dask: the driver's rounds, its checkpoint, and the workers that are lost."""

from __future__ import annotations

from contextlib import closing

from fastpu import _core
from fastpu.boosting._boosted_trees_model import make_boosted_trees
from fastpu.boosting._boosted_trees_rounds import BoostedTreesRound
from fastpu.common._progress import Report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.dask._boosted_rounds import MemberRounds, RoundsSoFar
from fastpu.dask._checkpoint import Checkpoint
from fastpu.dask._client import Client, WorkerLostError
from fastpu.dask._fit_data import FitData
from fastpu.dask._members import Members
from fastpu.dask._spread_rows import SpreadRows, SpreadTreeRows
from fastpu.model._with_profile import DrawnRows, numbers_to_draw, with_profile_of
from fastpu.tree._fingerprint import fingerprint_of_parts
from fastpu.tree._init_model import TreeSeed, check_same_rows
from fastpu.tree.tree_ensemble import TreeEnsemble

ROUNDS_BETWEEN_CHECKPOINTS = 10

_MOST_LOSSES = 3  # without a round saved in between: short of memory, workers would be lost and replaced for ever


def fit_on_workers(
    data: FitData,
    rounds: MemberRounds,
    seed: TreeSeed,
    init_model: TreeEnsemble | None,
    checkpoint: Checkpoint | None,
    report: Report | None,
) -> TreeEnsemble:
    """Make the rounds and the model; again from the checkpoint, if there is one, where a worker is lost."""
    options, so_far, form = rounds.options, rounds.so_far, data.form
    lost = LostWorkers(data.client, checkpoint, so_far.n_trees)
    while True:
        try:
            with closing(data.bin_on_workers()) as spread:
                fingerprint = fingerprint_of_parts(spread.fingerprints(), form._native)
                check_same_rows(init_model, fingerprint)
                if checkpoint is not None:
                    checkpoint.check_rows(fingerprint)
                boost_trees(spread, data, rounds, checkpoint, report)
                rows = SpreadTreeRows(*spread.labels_and_weights(), form, rounds.prior, fingerprint, spread)
                model = make_boosted_trees(so_far.kept(options.patience), rows, options, seed, None, rounds.n_rounds)
                numbers = numbers_to_draw(rows.labels.size, rows.labels, rows.weights)
                return with_profile_of(model, DrawnRows(spread.take(numbers), numbers))
        except WorkerLostError as error:  # noqa: PERF203 - once for each lost worker
            lost.go_on(error, so_far.n_trees)


def boost_trees(
    rows: SpreadRows, data: FitData, rounds: MemberRounds, checkpoint: Checkpoint | None, report: Report | None
) -> None:
    """Make the rounds on all workers, and add them to `rounds.so_far`, which the checkpoint saves every few."""
    so_far, form, n_threads = rounds.so_far, data.form, resolve_n_threads(None)
    if not so_far.is_open(rounds.n_rounds):
        return
    after_round = AfterRound(rows, so_far, rounds.n_rounds, rounds.options.patience, report, data.has_eval_set)
    with closing(Members(rows, rounds)) as members:
        driver = rounds.member(form, so_far, members.exchange, n_threads)
        while so_far.is_open(rounds.n_rounds):
            grown = rounds.next_rounds(
                driver, so_far, form.n_features, n_threads, eval_rows=data.eval_rows, on_round=after_round
            )
            so_far.add(grown)
            so_far.status = after_round.status or so_far.status
            if checkpoint is not None:
                checkpoint.save(so_far, form, rounds.seed)


class AfterRound:
    """What the driver does after each round: it calls the callback, and decides whether the fit ends.

    `status` is None until it ends, and then says why.
    """

    def __init__(
        self,
        rows: SpreadRows,
        so_far: RoundsSoFar,
        n_rounds: int,
        patience: int,
        report: Report | None,
        has_eval_set: bool,
    ) -> None:
        self.status: str | None = None
        self._rows, self._n_rounds, self._report, self._has_eval_set = rows, n_rounds, report, has_eval_set
        self._stopping = _core.EarlyStopping(patience)
        for auc in so_far.eval_auc.tolist():
            self._stopping.add(auc)

    def __call__(self, _bag: int, round_: int, n_leaves: int, depth: int, risk: float, auc: float, /) -> bool:
        self._rows.where = f"after round {round_}"
        eval_auc = auc if self._has_eval_set else None
        if eval_auc is not None:
            self._stopping.add(eval_auc)
            if self._stopping.is_over:
                self.status = "early_stopping"
        info = BoostedTreesRound(round_, self._n_rounds, 1, 1, n_leaves, depth, risk, eval_auc)
        if self._report is not None and self._report(info):
            self.status = "callback"
        return self.status is not None


class LostWorkers:
    """Decides whether a fit goes on from its checkpoint when a worker is lost.

    It does not without a checkpoint, nor where workers are lost again and again before another round is saved.
    """

    def __init__(self, client: Client, checkpoint: Checkpoint | None, n_trees: int) -> None:
        self._client, self._checkpoint, self._n_trees, self._n_losses = client, checkpoint, n_trees, 0

    def go_on(self, error: WorkerLostError, n_trees: int) -> None:
        """Warn that the fit goes on from `n_trees` trees, or raise the error."""
        self._n_losses = self._n_losses + 1 if n_trees == self._n_trees else 0
        self._n_trees = n_trees
        if self._checkpoint is None or self._n_losses > _MOST_LOSSES:
            raise error
        if self._n_losses and not self._client.nthreads():
            raise error
        warn(f"{error}; the fit goes on from round {n_trees} with the workers that are left", RuntimeWarning)
