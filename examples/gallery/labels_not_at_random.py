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
# Three models
# ------------
#
# First a plain logistic regression, which tells squares with a report from all others. The second one, a forest of
# fastpu, knows that some of the others are inhabited as well, but believes that reports are missing at random. The
# third one learns two things together: where the bird lives, and how the chance to be reported falls with the distance
# to the road.

usual = LogisticRegression().fit(land, reported)
forest = fastpu.fit_forest(land, reported, random_state=0)
model = SARClassifier(LogisticRegression(), propensity_columns="road").fit(land, reported)
in_truth = lives_here[~reported].mean()
print(f"{model.prior_:.2f} of the squares without a report are inhabited by the third model; {in_truth:.2f} in truth")

# %%
# The chance of an inhabited square to be reported, by its distance to the road: what was learnt, and the truth.

figure = Figure(figsize=(6, 3.2), layout="constrained")
ax = figure.subplots()
order = np.argsort(land["road"])
distance = land["road"].to_numpy()[order]
ax.plot(distance, 1 / (1 + np.exp(3 * distance - 3)), color="black", linestyle="--", label="truth")
ax.plot(distance, model.propensity_[order], color="#0072B2", label="learnt from reports alone")
ax.set(xlabel="distance to the road, in standard deviations", ylabel="chance to be reported", ylim=(0, 1))
ax.legend()
figure

# %%
# The maps
# --------
#
# The roads are orange. The lower maps are those of the models: each colours as many squares as are inhabited in
# truth, those with its largest scores, and its title says how many of the inhabited squares without a report it finds.
# Only the last one finds the bird where nobody drives.

n_inhabited = lives_here.sum()


def coloured(scores):
    """Return the squares with the largest scores."""
    return scores >= np.sort(scores)[-n_inhabited]


maps = {
    "the reports": reported,
    "chance to be reported, learnt": model.propensity_,
    "where the bird lives, in truth": lives_here,
}
models = {
    "logistic regression": usual.decision_function(land),
    "fit_forest": forest.oob_decision_function,
    "SARClassifier": model.predict_proba(land)[:, 1],
}
for name, scores in models.items():
    found = coloured(scores)
    maps[f"{name}: finds {found[lives_here & ~reported].mean():.0%}\nof the birds that nobody reported"] = found
figure = Figure(figsize=(9, 6.6), layout="constrained")
for ax, (name, squares) in zip(figure.subplots(2, 3).ravel(), maps.items(), strict=True):
    ax.imshow(np.reshape(squares, (side, side)), origin="lower", cmap="Blues", vmin=0, vmax=1.4)
    ax.contour(road.reshape(side, side), levels=[0.02], colors="#D55E00", linewidths=1)
    ax.set_title(name, fontsize=10)
    ax.set_axis_off()
figure

# %%
# When to believe it
# ------------------
#
# Somebody who knows how the reports came about has named the column. And at every distance to the road some squares
# are inhabited beyond doubt; where the classes overlap everywhere, a rarer bird of which more is reported fits the
# data as well. The page of `fastpu.estimators.SARClassifier` says what else can go wrong.
