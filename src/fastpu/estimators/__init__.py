"""Classifiers for scikit-learn: one for each fit function, others around any classifier, and scorers for searches.

They need scikit-learn >= 1.6, which nothing else in fastpu imports. A class is named after its function:
`BSVMClassifier` for `fit_bsvm`, and `PNUAUCBoostClassifier` for `fit_pnu_auc_boost`. The functions of
`fastpu.baselines` have no classes.

**Parameters** are the keywords of the function, with the same defaults. There are defaults where the function has none:
`prior` is estimated from the data (`fastpu.priors.bbe`), and `C_pos` and `C_unl` make both groups weigh the same. What
belongs to the rows is passed to `fit`: `sample_weight` (if the method honours weights), `sample_cost`, `eval_set`,
`graph`, `groups` and `init_model`. A parameter takes one value: sequences, for which some functions return lists of
models, are refused. `random_state` may also be a RandomState.

**Labels.** If there are two labels, the larger one is positive, as in all of scikit-learn, and the other one
unlabelled. For `SVMPathClassifier`, which learns from labelled negatives, the other one is negative. The three labels
-1, 0 and 1 mean negative, unlabelled and positive. The two numbers -1 and 1 depend on the method:

- Methods that take both unlabelled rows and negatives (`PNUAUCBoostClassifier`, `BoostedTreesClassifier`) read -1 as
  negative, as their functions do. If -1 means unlabelled, pass booleans, or 0 and 1.
- Methods for positive and unlabelled rows alone read -1 as unlabelled. Their functions ask for `as_labels` instead.

Of two words the larger one comes later in the alphabet: "unknown" after "churned". A `LabelWarning` tells if 70 % of
the rows or more would be labelled positive, or if the word for positive begins with "unl" or "unk" or is "u"; it says
how to swap the labels with `as_labels`. `classes_` holds the two labels that `predict` returns, -1 and 1 if there were
three. Missing labels are refused. So are the two labels -1 and 0, because no row would be positive.

**Attributes** of a fitted classifier:

- `model_`: the model that the function returned, with everything it says about the fit.
- `classes_`, `n_features_in_`, and `feature_names_in_` if the columns have names that are strings.
- `threshold_`: `decision_function` is the score minus the threshold, and rows above 0 get ``classes_[1]``.
  ``clf.with_threshold(prior=0.2, X_unl=X_unl)`` returns a copy with the threshold that matches a prior. Pass ``k=`` for
  a number of rows, or ``value=`` for any threshold.
- `n_iter_`: rounds or iterations; a closed form counts as one.
- `feature_importances_` of boosting classifiers and forests, and `oob_decision_function_` of forests and of bags of
  boosted trees.
- `coef_`, `intercept_`, of shapes (1, d) and (1,), of models that are linear in the features: `decision_function` is
  ``X @ coef_.T + intercept_``. Other models have neither.

**Probabilities.** With ``calibration="beta"``, ``"sigmoid"`` or ``"isotonic"`` there is a `predict_proba`. The rows are
divided into `calibration_cv` folds (at most as many as the smallest class has rows). Each fold is scored by a fit to
the others, and the scores are calibrated as in `Model.with_probabilities`, so a fit takes that many more fits. Forests
need no further fit: their out-of-bag scores are calibrated, unless every bag has all rows of a class. The probabilities
are those of rows like the unlabelled ones. `calibration_prior` is the share of positives among these. By default it is
the `prior` of the method, or, if the method has none, an estimate from the scores, as by `fastpu.priors.bbe`;
`calibration_prior_estimate_` is this estimate, and an `EstimateWarning` tells if it is an upper bound only. If no row
is unlabelled, the rows are taken for a sample of the population, and the probabilities are for that population.
`predict` uses `threshold_`, which need not be where a probability is 1/2.

**Rows** are dense arrays, frames of pandas and polars, or sparse matrices of any format. Only boosting and forests take
NaN, infinite entries and columns of categories or strings. With ``kernel="precomputed"`` `X` is the kernel matrix, and
scikit-learn's searches cut its rows and its columns.

**Around any classifier.** `PUBaggingClassifier`, `ElkanNotoClassifier`, `TwoStepClassifier`,
`WeightedUnlabeledClassifier` and `SARClassifier` learn from positive and unlabelled rows by fits of another classifier,
`estimator`. It may be one of scikit-learn's, LightGBM's, XGBoost's or fastpu's, a Pipeline, or a search. It is fitted
to the labels 1 and 0, and gets rows as they were passed: frames, sparse matrices, texts. `WeightedUnlabeledClassifier`
and `SARClassifier` need an `estimator` to which the label 0 is negative; to those of fastpu it is unlabelled. All five
read labels as described above, the smaller of two labels as unlabelled, and have `classes_`, `threshold_`,
`decision_function`, `predict`, `score` and `with_threshold`. `response_method_` is the method of `estimator` that gives
the scores. Weights and other arguments of `fit` are passed on, by scikit-learn's metadata routing if that is enabled.
With `groups` their bags, folds and spies hold whole groups of rows.

**Files.** ``clf.save(path)`` writes `model_`, as `Model.save` does, and `fastpu.load` returns that model.

**Scorers** for ``scoring=``: `puf_scorer`, `err_star_scorer`, `pu_auc_scorer`, `lift_scorer`, `precision_at_k_scorer`
and `average_precision_scorer` judge by positive and unlabelled rows. With the labels -1, 0 and 1, `score` (accuracy)
and ``labeled_scorer("roc_auc")``, or any other scorer of scikit-learn, judge by the labelled rows alone. With two
labels scikit-learn takes unlabelled rows for negative. `fastpu.select` shares work between the points of a grid, which
scikit-learn's searches cannot.

**Checks.** All classes pass scikit-learn's ``check_estimator`` except for `EXPECTED_FAILED_CHECKS`, which gives the
reasons: ``check_estimator(clf, expected_failed_checks=EXPECTED_FAILED_CHECKS.get(type(clf).__name__))``. In
scikit-learn 1.6 the check of sample weights compares two different targets if a classifier takes only two classes, and
fails.
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
from fastpu.estimators._pu_scorers import PUScorer
from fastpu.estimators._pual import GLLCClassifier, PUALClassifier
from fastpu.estimators._risk import NNPUClassifier, UPUClassifier
from fastpu.estimators._sar import SARClassifier
from fastpu.estimators._scorers import (
    LabeledScorer,
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
