"""
A hundred claims to check
=========================

An insurer has 5,000 open claims. An audit of another branch has shown that about one claim in twenty is fraud, and in
120 cases fraud is proven. The other claims have not been looked at, and there is time to check a hundred of them. Which
ones, and how many of these will be fraud?
"""

# sphinx_gallery_thumbnail_number = 4
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier

import fastpu

# %%
# The claims
# ----------
#
# The claims are made up, so that the end of this page can compare with the truth. They have what tables in real life
# have: skewed amounts, a column of words, and missing entries. ``is_fraud`` is the truth: it is used to draw the proven
# cases, and not again before the last section.

rng = np.random.default_rng(0)
n_claims = 5000
is_fraud = rng.random(n_claims) < 0.072
kinds = np.where(
    is_fraud & (rng.random(n_claims) < 0.4), "theft", rng.choice(["theft", "water", "glass", "fire"], n_claims)
)
claims = pd.DataFrame(
    {
        "amount": rng.lognormal(7 + 0.7 * is_fraud, 0.8).round(),
        "days_insured": rng.exponential(np.where(is_fraud, 250, 900)).round(),
        "days_to_report": rng.exponential(np.where(is_fraud, 12, 6)).round(),
        "earlier_claims": rng.poisson(np.where(is_fraud, 1.4, 0.6)),
        "kind": pd.Categorical(kinds),
    }
)
claims.loc[rng.random(n_claims) < 0.1, "days_to_report"] = np.nan
known = np.zeros(n_claims, dtype=bool)
known[rng.choice(np.flatnonzero(is_fraud), 120, replace=False)] = True
claims.head()

# %%
# A ranked list
# -------------
#
# `fastpu.fit_forest` takes the frame as it is. Each of its trees is grown on the proven cases and a few of the other
# claims, so every other claim is scored by the trees that have not seen it (``oob_decision_function``). One fit thus
# gives the list.

model = fastpu.fit_forest(claims, known, random_state=0)
scores = model.oob_decision_function
ranked = claims.assign(score=scores)[~known].sort_values("score", ascending=False)
ranked.head(8)

# %%
# Is the list any good?
# ---------------------
#
# The lift answers without any assumption on how common fraud is: among the first hundred claims there are so many
# times more frauds than among a hundred claims taken at random. It goes by the scores of the proven cases, and the
# interval says how much that depends on which cases happen to be proven.

lift = fastpu.metrics.lift_at_k(known, scores, 100, n_boot=500, random_state=0)
print(f"lift {lift.value:.0f}, from {lift.interval[0]:.0f} to {lift.interval[1]:.0f}")

# %%
# The usual way is to take all claims that were not looked at for honest ones. Here is the lift of a random forest
# that does so, on the same rows, each scored by the trees that have not seen it.

table = pd.get_dummies(claims)
usual = RandomForestClassifier(500, min_samples_leaf=3, oob_score=True, random_state=0).fit(table, known)
usual = usual.oob_decision_function_[:, 1]
lift = fastpu.metrics.lift_at_k(known, usual, 100, n_boot=500, random_state=0)
print(f"lift {lift.value:.0f}, from {lift.interval[0]:.0f} to {lift.interval[1]:.0f}")

# %%
# The intervals overlap, as they often do: with so few proven cases a lift tells good lists from bad ones, and not good
# ones from each other.

# %%
# How much is found, the further down one goes
# --------------------------------------------
#
# The upper panel shows the share of all frauds that is found, the lower one the lift. Both rise above the dashed
# lines, which are those of a list in random order. The marked point is the budget of a hundred claims.

fastpu.plot.ranking(known, scores, k=100)

# %%
# How many of the hundred will be fraud?
# --------------------------------------
#
# For that the share of frauds among the claims that were not looked at has to be known: the prior. The audit says one
# in twenty. A share that is a fifth larger makes the counts a fifth larger as well, so try the ends of what you
# believe.

prior = 0.05
for budget in (50, 100, 200, 400):
    found = fastpu.metrics.precision_at_k(known, scores, budget, prior, n_boot=500, random_state=0)
    low, high = (budget * end for end in found.interval)
    print(f"{budget} claims: {budget * found.value:.0f} frauds expected, {low:.0f} to {high:.0f}")

# %%
# What is the chance of each claim?
# ---------------------------------
#
# The same prior makes probabilities of the scores. A calibration plot puts claims into bins by their probability, and
# compares it with the share of frauds that the proven cases speak for: right probabilities lie on the diagonal. No
# claim known to be honest is needed. The crosses are the truth.

sure = model.with_probabilities(prior=prior, y=known)
chance = sure.oob_predict_proba[:, 1]
figure = fastpu.plot.calibration(known, chance, n_bins=6)
ax = figure.axes[0]
bins = np.digitize(chance[~known], [0.05, 0.1, 0.2, 0.4, 0.6])
in_bin = [bins == number for number in range(6)]
means, shares = ([values[each].mean() for each in in_bin] for values in (chance[~known], is_fraud[~known]))
ax.plot(means, shares, "x", color="#D55E00", label="in truth")
ax.legend(loc="upper left", fontsize=8)
figure

# %%
# In truth: how many expected, how many found
# -------------------------------------------
#
# The line is what was expected before a single claim was checked. Bands made in this way should hold the truth in nine
# lists of ten. The dots count the frauds in truth, and the crosses those in the list of the
# random forest that takes the other claims for honest ones.

curve = fastpu.metrics.ranking_curve(known, scores, prior=prior, n_boot=500, random_state=0)
figure = Figure(figsize=(7, 4.2), layout="constrained")
ax = figure.subplots()
shown = curve.n_flagged <= 500
budgets = curve.n_flagged[shown]
ax.plot(budgets, curve.precision[shown] * budgets, color="#0072B2", label="expected")
low, high = curve.precision_interval[shown].T * budgets
ax.fill_between(budgets, low, high, color="#0072B2", alpha=0.2, linewidth=0, label="90 % intervals")
orders = {name: np.argsort(-values[~known], kind="stable") for name, values in (("forest", scores), ("usual", usual))}
for name, kind, mark in (("fit_forest, in truth", "forest", "."), ("random forest, in truth", "usual", "x")):
    counts = np.cumsum(is_fraud[~known][orders[kind]])
    ax.plot(np.arange(25, 501, 25), counts[24:500:25], mark, color="#D55E00" if mark == "x" else "black", label=name)
ax.set(xlabel="claims checked, the most suspicious first", ylabel="frauds among them", ylim=(0, None), xlim=(0, 510))
ax.legend(fontsize=9)
figure

# %%
# Found per hundred looked at
# ---------------------------
#
# Each further hundred costs as much as the first, and finds less. Where a bar is near the dashed line, which is a
# hundred claims taken at random, it is time to stop.

figure = Figure(figsize=(7, 3), layout="constrained")
ax = figure.subplots()
for shift, kind, name, color in (
    (-0.2, "forest", "fit_forest", "#0072B2"),
    (0.2, "usual", "random forest, the rest as negatives", "#999999"),
):
    found = is_fraud[~known][orders[kind]][:600].reshape(6, 100).sum(axis=1)
    ax.bar_label(ax.bar(np.arange(6) + shift, found, 0.4, color=color, label=name), fontsize=8)
ax.axhline(100 * is_fraud[~known].mean(), color="0.4", linestyle="--", linewidth=1, label="at random")
ax.set_xticks(range(6), [f"{100 * k + 1} to {100 * k + 100}" for k in range(6)], fontsize=8)
ax.set(xlabel="places of the list", ylabel="frauds among the 100", ylim=(0, 72))
ax.legend(fontsize=8, frameon=False)
figure

# %%
# When it goes wrong
# ------------------
#
# The estimates hold if the proven cases are a random sample of the frauds. If only clumsy frauds get proven, they are
# too large, and nothing in the scores shows it: check a few claims from further down the list as well.
