"""The fit functions as scikit-learn classifiers, classifiers around any other one, and scorers for searches.

They need scikit-learn >= 1.6, which nothing else in fastpu imports. A class
has the name of its function in the capitals of the papers, with ``Classifier`` in place of ``fit_``: `BSVMClassifier`
for `fit_bsvm`, and `PNUAUCBoostClassifier` for `fit_pnu_auc_boost`. The functions of `fastpu.baselines` have none.

**Parameters** are the keywords of the function, with their defaults. Where a function has none: `prior` is estimated
from the data (`fastpu.priors.bbe`), and `C_pos` and `C_unl` make both groups weigh the same. What belongs to the rows
is passed to `fit`: `sample_weight` (by the methods that honour weights; others have no such argument), `sample_cost`,
`eval_set`, `graph`, `groups` and `init_model`. A parameter takes one value: sequences, for which the functions return
lists of models, are refused. `random_state` may also be a RandomState.

**Labels.** Of two labels, whatever they are, the larger is positive, as in all of scikit-learn, and the other
unlabelled; for `SVMPathClassifier`, which learns from labelled negatives instead, it is negative. The three labels -1,
0 and 1 keep their meaning: negative, unlabelled and positive. So do the two numbers -1 and 1 for methods that take both
unlabelled rows and negatives: `PNUAUCBoostClassifier` and `BoostedTreesClassifier` read -1 as negative, as their
functions do. Where -1 means unlabelled, pass booleans, or 0 and 1. The methods for positive and unlabelled rows alone
take -1 for unlabelled, the only thing it can mean to them; their functions ask for `as_labels` instead. Of two words
the one that comes later in the alphabet is the larger: "unknown" after "churned". A `LabelWarning` tells where 70 % of
the rows or more would so be labelled positive, where the word begins with "unl" or "unk" or is "u", and how to turn the
labels round with `as_labels`. `classes_` holds the two labels that `predict` returns, -1 and 1 where there were three.
Missing labels are refused, and so are the two labels -1 and 0, in which no row is positive.

**Attributes** of a fitted classifier:

- `model_`: the model of the function, with all that it says of the fit.
- `classes_`, `n_features_in_`, `feature_names_in_` (where the columns have names that are strings).
- `threshold_`: `decision_function` is the score minus it, and rows above 0 are called ``classes_[1]``.
  ``clf.with_threshold(prior=0.2, X_unl=X_unl)`` returns a copy with the threshold that matches a prior, and
  ``k=`` or ``value=`` in its place one of so many rows, or any.
- `n_iter_`: rounds or iterations; a closed form counts as one.
- `feature_importances_` of the boosting classifiers and of forests, and `oob_decision_function_` of forests and of bags
  of boosted trees.
- `coef_`, `intercept_`, of shapes (1, d) and (1,): of models that are linear in the features, so that
  `decision_function` is ``X @ coef_.T + intercept_``; others have none.

**Probabilities.** With ``calibration="beta"``, ``"sigmoid"`` or ``"isotonic"`` there is a `predict_proba`. The rows are
cut into `calibration_cv` folds (at most as many as the smallest class has rows), and the scores of each, by a model of
the others, are calibrated as `Model.with_probabilities` does: so a fit takes that many fits more. Forests are
calibrated on their out-of-bag scores, without another fit, unless every bag has all rows of a class. They are
probabilities of a row like the unlabelled ones. `calibration_prior` is the share of positives among these; by default
the own `prior` of the method, or where there is none the best-bin estimate (as in `fastpu.priors.bbe`) from these
scores: `calibration_prior_estimate_` is what it says of itself, and an `EstimateWarning` tells where it is an upper
bound only. Where no row is unlabelled all rows are taken for a sample of the population, and the probabilities are of
this. `predict` keeps to `threshold_`, which need not be where a probability is 1/2.

**Rows** are dense arrays, frames of pandas and polars, and sparse matrices of every format. NaN and infinite entries
and columns of categories (strings too) are taken by boosting and forests alone. ``kernel="precomputed"`` makes `X` the
kernel matrix, which scikit-learn's searches then cut on both sides.

**Around any classifier.** `PUBaggingClassifier`, `ElkanNotoClassifier`, `TwoStepClassifier`,
`WeightedUnlabeledClassifier` and `SARClassifier` learn from positive and unlabelled rows by fits of another classifier,
`estimator`: one of scikit-learn's, LightGBM's, XGBoost's or of those here, a Pipeline or a search, which see the labels
1 and 0 and rows as they were given (frames, sparse matrices, texts). The weights of the last two need an `estimator` to
which the label 0 is negative; to those here it is unlabelled. All read labels as said above, of two labels the smaller
as unlabelled, and have `classes_`, `threshold_`, `decision_function`, `predict`, `score` and `with_threshold` as above;
`response_method_` is the method of `estimator` whose values are the scores.
Weights and other arguments of `fit` are passed on, by scikit-learn's metadata routing where that is enabled. With
`groups` their bags, folds and spies hold whole groups of rows.

**Files.** ``clf.save(path)`` writes `model_` as `Model.save` does, and `fastpu.load` returns that model.

**Scorers** for ``scoring=``: `puf_scorer`, `err_star_scorer`, `pu_auc_scorer`, `lift_scorer`, `precision_at_k_scorer`
and `average_precision_scorer` judge by positive and unlabelled rows. Of the labels -1, 0 and 1 `score`, accuracy, and
``labeled_scorer("roc_auc")``, or with any other name of scikit-learn's, judge by the labelled rows alone. Of two labels
scikit-learn takes unlabelled rows for negative. `fastpu.select` shares work between the points of a grid, which no
search of scikit-learn can.

**Checks.** All pass scikit-learn's ``check_estimator`` but for `EXPECTED_FAILED_CHECKS`, which has the reasons:
``check_estimator(clf, expected_failed_checks=EXPECTED_FAILED_CHECKS.get(type(clf).__name__))``. The check of sample
weights in scikit-learn 1.6 compares two different targets where a classifier takes two classes alone, and fails.
"""

from __future__ import annotations

try:
    from fastpu.estimators._elkan_noto import ElkanNotoClassifier
except ImportError as error:
    raise ImportError("fastpu.estimators needs scikit-learn >= 1.6: pip install scikit-learn") from error

from fastpu.estimators._failed_checks import EXPECTED_FAILED_CHECKS
from fastpu.estimators._iterative_svm import IPSIClassifier, ISVMClassifier
from fastpu.estimators._mapping import SMCClassifier, SVMCClassifier
from fastpu.estimators._pu_bagging import PUBaggingClassifier
from fastpu.estimators._pual import GLLCClassifier, PUALClassifier
from fastpu.estimators._risk import NNPUClassifier, UPUClassifier
from fastpu.estimators._sar import SARClassifier
from fastpu.estimators._scorers import (
    LabeledScorer,
    PUScorer,
    average_precision_scorer,
    err_star_scorer,
    labeled_scorer,
    lift_scorer,
    precision_at_k_scorer,
    pu_auc_scorer,
    puf_scorer,
)
from fastpu.estimators._stumps import PNUAUCBoostClassifier
from fastpu.estimators._svm import BaggingSVMClassifier, BSVMClassifier
from fastpu.estimators._svm_path import PUSVMPathClassifier, SVMPathClassifier
from fastpu.estimators._trees import BoostedTreesClassifier, ForestClassifier
from fastpu.estimators._two_step import TwoStepClassifier
from fastpu.estimators._weighted_unlabeled import WeightedUnlabeledClassifier

__all__ = [
    "EXPECTED_FAILED_CHECKS",
    "BSVMClassifier",
    "BaggingSVMClassifier",
    "BoostedTreesClassifier",
    "ElkanNotoClassifier",
    "ForestClassifier",
    "GLLCClassifier",
    "IPSIClassifier",
    "ISVMClassifier",
    "LabeledScorer",
    "NNPUClassifier",
    "PNUAUCBoostClassifier",
    "PUALClassifier",
    "PUBaggingClassifier",
    "PUSVMPathClassifier",
    "PUScorer",
    "SARClassifier",
    "SMCClassifier",
    "SVMCClassifier",
    "SVMPathClassifier",
    "TwoStepClassifier",
    "UPUClassifier",
    "WeightedUnlabeledClassifier",
    "average_precision_scorer",
    "err_star_scorer",
    "labeled_scorer",
    "lift_scorer",
    "precision_at_k_scorer",
    "pu_auc_scorer",
    "puf_scorer",
]


def __dir__() -> list[str]:
    return __all__
