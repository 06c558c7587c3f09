"""
Check these rows
================

A forest has ranked images of digits, some eights of which are marked, and everything that can be computed from these
marks says that the ranking is perfect. It is not: the eights with the most ink were marked first. Looking at 150 images
shows how many eights there are, and how many of them the ranking finds.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import fastpu
from fastpu import audit

# %%
# The ranking
# -----------
#
# ``is_eight`` is the truth: it plays the person who looks at images, and judges at the end.

digits = load_digits()
is_eight = digits.target == 8
eights = np.flatnonzero(is_eight)
known = np.zeros(is_eight.size, dtype=bool)
known[eights[np.argsort(-digits.data[eights].sum(axis=1), kind="stable")[:40]]] = True
model = fastpu.fit_forest(digits.data, known, random_state=0)
unknown = np.flatnonzero(~known)
scores, of_known = model.oob_decision_function[unknown], model.oob_decision_function[known]

# %%
# Which images to look at
# -----------------------
#
# The ranking is cut into strata. The table shows, from the top, how many images each stratum has, and how many of them
# are drawn. What the answers say is valid however bad the scores are. If the scores are good, it is also precise,
# since more images are drawn where they tell most.

plan = audit.plan(scores, 150, goal="recall", k=130, random_state=0)
for last, size, drawn in zip(plan.ends, plan.sizes, plan.drawn, strict=True):
    print(f"places {last - size + 1:4d} to {last:4d}: {drawn} of {size} images")

# %%
# What they say
# -------------
#
# The dashed line is what the marked images alone say. The picture has it beside the band of the checked ones, and the
# checked images at their places, eights at the top.

answers = is_eight[unknown[plan.rows]]
found = audit.estimate(plan, answers)
print(found)
before = fastpu.metrics.ranking_curve(known, model.oob_decision_function, prior=found)
fastpu.plot.audit(found, before=before)

# %%
# Marks are not at random
# -----------------------

print(audit.is_scar(plan, answers, of_known, random_state=0))

# %%
# The eights that were found
# --------------------------
#
# They have less ink than those that were marked, and the next forest learns from them.

figure = Figure(figsize=(7, 2.4), layout="constrained")
rows = np.concatenate([np.flatnonzero(known)[:12], unknown[plan.rows[answers]][:12]])
for ax, row in zip(figure.subplots(2, 12).ravel(), rows, strict=True):
    ax.imshow(digits.images[row], cmap="gray_r")
    ax.set_axis_off()
figure.suptitle("above: marked eights; below: eights that were found", fontsize=9)
figure

# %%
# The list to hand on
# -------------------
#
# On average at most a fifth of it are no eights.

listed = audit.discoveries(scores, plan, answers, fdr=0.2)
print(f"{listed}; in truth {1 - is_eight[unknown[listed.rows]].mean():.2f} are no eights")
