"""
Why is this row at the top?
===========================

A forest has ranked tissue samples, and a doctor asks what the ranking goes by: over all samples, and for the one on her
desk. The columns' shares of the gain answer the first question. SHAP values answer the second: they divide the score of
a row among the columns, and LightGBM computes them for the forests and boosted trees of fastpu.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

import fastpu

# %%
# The samples
# -----------
#
# scikit-learn brings along 569 samples with 30 measurements of their cells. 60 of the malignant ones are known to be
# malignant; about the others the model is told nothing.

data = load_breast_cancer(as_frame=True)
is_malignant = (data.target == 0).to_numpy()
known = np.zeros(len(data.target), dtype=bool)
known[np.random.default_rng(0).choice(np.flatnonzero(is_malignant), 60, replace=False)] = True
model = fastpu.fit_forest(data.data, known, random_state=0)
scores = model.oob_decision_function
print(f"AUC on the samples that are not labelled: {fastpu.metrics.auc(is_malignant[~known], scores[~known]):.3f}")

# %%
# All rows together
# -----------------
#
# A bar is the share of a column in what all splits of the forest have gained. Columns that say the same share what
# one of them alone would have: radius, perimeter and area of a cell are nearly one measurement.

fastpu.plot.importances(model, n_lines=12)

# %%
# One row
# -------
#
# ``to_lightgbm`` makes a booster with the same trees (``pip install lightgbm``), and its ``pred_contrib``
# gives a SHAP value for each column. The last value is the mean score; all of them add up to the score of the row,
# exactly.

booster = model.to_lightgbm()
shares = booster.predict(data.data, pred_contrib=True)
print("they add up:", np.allclose(shares.sum(axis=1), model.decision_function(data.data)))

# %%
# The sample with the largest score among those that nobody has labelled: bars to the right speak for malignant, bars
# to the left against it. Next to each name is what was measured, and the share of the samples that have less.

top = np.flatnonzero(~known)[np.argmax(scores[~known])]


def explain(row):
    """Draw the ten columns that matter most for the score of a row."""
    order = np.argsort(-np.abs(shares[row, :-1]))[:10][::-1]
    below = (data.data < data.data.iloc[row]).mean()
    names = [f"{data.data.columns[k]} = {data.data.iloc[row, k]:.4g} (above {below.iloc[k]:.1%})" for k in order]
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    ax = figure.subplots()
    ax.barh(names, shares[row, order], color=np.where(shares[row, order] > 0, "#D55E00", "#0072B2"))
    ax.axvline(0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel("part of the score")
    title = f"the ten columns that move the score most from its mean, {shares[row, -1]:.2f}, to {shares[row].sum():.2f}"
    figure.suptitle(title, fontsize=10)
    return figure


explain(top)

# %%
# A sample further down the list: there the columns disagree.

explain(np.flatnonzero(~known)[np.argsort(scores[~known])[-150]])

# %%
# One column in all rows
# ----------------------
#
# The SHAP values of the first column of the first picture, over its values. The rise shows where the forest cuts;
# samples with equal values have different parts of the score, because trees combine columns.

first = int(np.argmax(model.feature_importances))
figure = Figure(figsize=(7, 3.4), layout="constrained")
ax = figure.subplots()
for name, group, color in (("not labelled", ~known, "#5A5A5A"), ("known to be malignant", known, "#D55E00")):
    ax.plot(data.data.iloc[group, first], shares[group, first], ".", color=color, label=name)
ax.axhline(0, color="black", linewidth=0.8)
ax.set(xlabel=data.data.columns[first], ylabel="part of the score")
ax.legend()
figure

# %%
# What to be careful about
# ------------------------
#
# A part of a score says what the model does, not what makes tissue malignant. It is a part of the score by all trees,
# and a labelled row has been seen by most of them: its score is larger than its out-of-bag score. And where two
# columns say the same, another ``random_state`` can move the credit from one to the other.
