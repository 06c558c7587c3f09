"""
Every plot
==========

All pictures that `fastpu.plot` draws, mostly on one small set of rows. Each function returns a matplotlib figure. A
notebook with ``%matplotlib inline`` shows it if it is the last line of a cell; ``figure.savefig("name.png")`` keeps it,
and ``ax=`` draws into axes of yours. It needs ``pip install matplotlib``.
"""

# sphinx_gallery_thumbnail_number = 2
from sklearn.datasets import load_wine

import fastpu
import fastpu.plot

X, truth = fastpu.datasets.make_two_normals(1500, random_state=0)
split = fastpu.datasets.split_case_control(truth, labeled=150, random_state=0)
rows, y = X[split.train], split.y_train
held, held_truth = X[split.test], truth[split.test]
model = fastpu.fit_isvm(rows, y, C=1.0)

# %%
# What does the model separate?
# -----------------------------
#
# `fastpu.plot.score_histogram` shows the scores of the labelled and of the unlabelled rows, and the threshold between
# the calls. A good model parts the unlabelled rows: some lie where the labelled ones are, the others away from them.
# If both groups lie upon each other, the model has learnt nothing.

fastpu.plot.score_histogram(model, rows, y, bins=30)

# %%
# Where is the boundary?
# ----------------------
#
# `fastpu.plot.decision_regions` shows it for rows of two columns. The plane is blue where the model says positive,
# orange elsewhere, and darker further away from the boundary. Unlabelled rows on the blue side are the positives that
# the model has found, or its mistakes: only checking tells.

fastpu.plot.decision_regions(model, rows, y)

# %%
# How many rows to check?
# -----------------------
#
# `fastpu.plot.ranking` shows how much is found if the rows with the largest scores are checked. The recall is the
# share of all positives that is found, and the lift says how many times more that is than by chance. Both are
# estimated from labelled and unlabelled rows that the model has not seen; the bands show how sure that is.

judged, labels = fastpu.stack(P=held[held_truth == 1], U=held)
fastpu.plot.ranking(labels, model.decision_function(judged), k=0.1)

# %%
# What do checked rows say?
# -------------------------
#
# `fastpu.plot.audit` shows precision and recall by rows that somebody has looked at, with intervals that need no
# assumption, and these rows at their places: the positive ones at the top, the negative ones at the bottom.

scores = model.decision_function(held)
plan = fastpu.audit.plan(scores, 60, random_state=0)
fastpu.plot.audit(fastpu.audit.estimate(plan, held_truth[plan.rows] == 1))

# %%
# Are the probabilities right?
# ----------------------------
#
# `fastpu.plot.calibration` puts rows into bins by their probability, and counts labelled and unlabelled rows in each:
# right probabilities lie on the diagonal, as far as the intervals tell. The rows are none of those that the
# probabilities were made from; where a forest was calibrated on its training rows, `oob_predict_proba` has theirs.

sure = model.with_probabilities(prior=(held_truth == 1).mean(), X=judged[::2], y=labels[::2])
fastpu.plot.calibration(labels[1::2], sure.predict_proba(judged[1::2]), n_bins=5)

# %%
# Which columns matter?
# ---------------------
#
# `fastpu.plot.importances` shows the columns with the largest shares in the gain of all splits of a forest or of
# boosting. In a frame the bars have the names of the columns. Columns of noise have a share too, as deep splits gain
# by chance.

wines, region = load_wine(return_X_y=True, as_frame=True)
forest = fastpu.fit_forest(wines, (region == 0) & (region.index % 3 == 0), random_state=0)
fastpu.plot.importances(forest)

# %%
# When to stop?
# -------------
#
# `fastpu.plot.boosting_curves` shows the objective after each round and, below it, the AUC on held-out rows. The
# objective falls for ever; the AUC rises, and falls again when the rounds fit noise. The best round is marked.

boosted = fastpu.fit_pnu_auc_boost(rows, y, n_rounds=60, eval_set=(held, held_truth))
fastpu.plot.boosting_curves(boosted)

# %%
# What happened on the way?
# -------------------------
#
# `fastpu.plot.label_changes` is for methods that guess the labels of the unlabelled rows and fit again: ISVM, IPSI,
# BPSI and mapping convergence. The upper panel shows how many guesses each iteration changed, and should fall to
# nothing; if it does not, the iterations were stopped too early, or go round in a circle. The lower panel shows how
# many unlabelled rows were called negative.

fastpu.plot.label_changes(model)

# %%
# Which parameter?
# ----------------
#
# `fastpu.plot.selection` shows what `fastpu.select` has tried: the criterion (here PUF, which needs no negatives) over
# the values of one parameter. A grey dot is a point of the grid, and the line goes through the best point of each
# value, with a bar from its worst to its best fold. If the best value is the first or the last one, try a larger grid.
# Where the bars are much longer than the differences, as between the first three values here, the choice hardly
# matters.

grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0, 10.0]}
chosen = fastpu.select(fastpu.fit_bagging_svm, rows, y, grid, kernel="rbf", random_state=0)
fastpu.plot.selection(chosen)

# %%
# All regularisations at once
# ---------------------------
#
# `fastpu.plot.path` shows a whole regularisation path: from left to right the machine becomes more flexible. Each
# line is a coefficient, or a row's dual variable where there is a kernel. With held-out rows, the lower panel shows a
# criterion for every point of the path, and its best point.

path = fastpu.fit_pu_svm_path(rows[:150], y[:150], C_pos=10.0)
held_y = (held_truth == 1).astype(int)
held_y[150:] = 0
fastpu.plot.path(path, held, held_y)
