"""
Sightings along the roads
=========================

A bird lives in wet, high places. Volunteers report where they have seen it, and they go by car: near a road nearly
every place with the bird is reported, far from roads hardly any. We want the map of the bird, not that of the roads.

All methods but one assume that the labelled rows are a random sample of the positives. Here they are not, and we know
the column that decides: the distance to the road. `fastpu.estimators.SARClassifier` is made for that.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

import fastpu
from fastpu.estimators import SARClassifier

# %%
# The land
# --------
#
# It has 70 x 70 squares, hills, wet and dry parts, and two roads. Roads keep to dry ground, so that distance from a
# road and wetness go together. ``lives_here`` is the truth, and is used for the last map alone.

rng = np.random.default_rng(3)
side = 70
east, north = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))


def hills(n_waves, seed):
    """Return a smooth surface of mean 0 and standard deviation 1."""
    waves = np.random.default_rng(seed)
    surface = sum(
        np.cos(2 * np.pi * (across * east + up * north + shift))
        for across, up, shift in waves.uniform([-2, -2, 0], [2, 2, 1], (n_waves, 3))
    )
    return (surface - surface.mean()) / surface.std()


height, moisture = hills(12, 1), hills(12, 2)
road = np.minimum(np.abs(east - 0.25 - 0.1 * np.sin(4 * north)), np.abs(north - 0.6 + 0.15 * np.cos(5 * east)))
land = pd.DataFrame({"height": height.ravel(), "moisture": moisture.ravel(), "road": road.ravel() / road.std()})
lives_here = rng.random(len(land)) < 1 / (1 + np.exp(-6 * (land["height"] + land["moisture"] - 0.7)))
reported = lives_here & (rng.random(len(land)) < 1 / (1 + np.exp(3 * land["road"] - 3)))
print(f"{lives_here.sum()} squares with the bird, {reported.sum()} of them reported")

# %%
# Are reports missing at random?
# ------------------------------
#
# `fastpu.priors.scar_test` compares the reported squares, column by column, with squares that are surely inhabited by
# what the other columns say. It needs the share of inhabited squares among those without a report, which a count of
# some squares in full would give.

test = fastpu.priors.scar_test(land, reported, prior=float(lives_here[~reported].mean().round(2)), random_state=0)
print(test)

# %%
# They are not: the road stands out. What the test cannot say is why, so we have to: birds do not mind roads, people
# like them.

# %%
# Models with the road, and without it
# ------------------------------------
#
# First a plain logistic regression, which tells squares with a report from all others. A forest of fastpu knows that
# some of the others are inhabited as well, but believes that reports are missing at random. `SARClassifier` learns two
# things together: where the bird lives, and how the chance to be reported falls with the distance to the road. The
# obvious rival is to leave the road out of the columns.

without = land.drop(columns="road")
usual, usual_without = LogisticRegression().fit(land, reported), LogisticRegression().fit(without, reported)
forest, forest_without = (fastpu.fit_forest(X, reported, random_state=0) for X in (land, without))
model = SARClassifier(LogisticRegression(), propensity_columns="road").fit(land, reported)
in_truth = lives_here[~reported].mean()
print(f"{model.prior_:.2f} of the squares without a report are inhabited by SARClassifier; {in_truth:.2f} in truth")

# %%
# The chance of an inhabited square to be reported, by its distance to the road: what was learnt, and the truth.

figure = Figure(figsize=(7, 3.2), layout="constrained")
ax = figure.subplots()
order = np.argsort(land["road"])
distance = land["road"].to_numpy()[order]
ax.plot(distance, 1 / (1 + np.exp(3 * distance - 3)), color="black", linestyle="--", label="truth")
ax.plot(distance, model.propensity_[order], color="#0072B2", label="learnt from reports alone")
ax.set(xlabel="distance to the road, in standard deviations", ylabel="chance to be reported", ylim=(0, 1))
ax.legend()
figure

# %%
# What they find
# --------------
#
# Each model marks as many squares as are inhabited in truth, those with its largest scores.

n_inhabited = lives_here.sum()
scores = {
    "logistic regression": usual.decision_function(land),
    "logistic regression, without the road": usual_without.decision_function(without),
    "fit_forest": forest.oob_decision_function,
    "fit_forest, without the road": forest_without.oob_decision_function,
    "SARClassifier": model.predict_proba(land)[:, 1],
}
marked = {name: values >= np.sort(values)[-n_inhabited] for name, values in scores.items()}
found = {name: squares[lives_here & ~reported].mean() for name, squares in marked.items()}
for name, share in found.items():
    print(f"{name}: finds {share:.0%} of the inhabited squares without a report")

# %%
# Leaving the road out goes most of the way here. It is not enough where the column tells of the bird as well (a bird
# that shuns roads), or where others stand for it: roads keep to dry ground, so moisture still tells a little of the
# road. And only `SARClassifier` says how many squares are inhabited.
#
# The maps
# --------
#
# The roads are orange. Only the lower maps on the right have the bird where nobody drives.

maps = {
    "the reports": reported,
    "chance to be reported, learnt": model.propensity_,
    "where the bird lives, in truth": lives_here,
}
for name in ("logistic regression", "logistic regression, without the road", "SARClassifier"):
    maps[f"{name.replace(', ', chr(10))}\nfinds {found[name]:.0%}"] = marked[name]
figure = Figure(figsize=(7, 5.4), layout="constrained")
for ax, (name, squares) in zip(figure.subplots(2, 3).ravel(), maps.items(), strict=True):
    ax.imshow(np.reshape(squares, (side, side)), origin="lower", cmap="Blues", vmin=0, vmax=1.4)
    ax.contour(road.reshape(side, side), levels=[0.02], colors="#D55E00", linewidths=1)
    ax.set_title(name, fontsize=8)
    ax.set_axis_off()
figure

# %%
# When to believe it
# ------------------
#
# Somebody who knows how the reports came about has named the column. And at every distance to the road some squares
# are inhabited beyond doubt; where the classes overlap everywhere, a rarer bird of which more is reported fits the
# data as well. The page of `fastpu.estimators.SARClassifier` says what else can go wrong.
