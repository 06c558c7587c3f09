"""The declaration of every method, from which checks, messages, documentation and tests are made."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MethodDeclaration:
    """What one method is called and what it takes.

    `title` stands beside the name of the function in the documentation. `classifier` is the class in
    `fastpu.estimators`, and None for a baseline: a method of `fastpu.baselines`, which papers compare with and nobody
    should reach for first. `groups` are the groups of rows that it learns from, P (+1), U (0) and N (-1), and `rows`
    says which of them it needs. The others say whether it takes CSR without making it dense, sample weights, missing
    (NaN) and infinite entries, float32 without a copy, binned features, and categorical columns of frames; whether BLAS
    or LAPACK sums for it, whose rounding may depend on the number of threads; and whether a weight equals that many
    repetitions of the row.
    """

    title: str
    classifier: str | None
    groups: str
    rows: str
    csr: bool = True
    weights: bool = True
    nan: bool = False
    inf: bool = False
    float32: bool = True
    binned: bool = False
    categories: bool = False
    blas: bool = False
    repeats: bool = True

    @property
    def baseline(self) -> bool:
        """Whether papers compare with it and nobody should reach for it first."""
        return self.classifier is None

    @property
    def module(self) -> str:
        """The public module that has the function."""
        return "fastpu.baselines" if self.baseline else "fastpu"


_TREES = {"nan": True, "inf": True, "binned": True, "categories": True}
_UNWEIGHTED = {"weights": False}
_PATH = {"weights": False, "float32": False}
_BLAS = {"blas": True}
_NEIGHBOURS = {"weights": False, "blas": True}

_AUC = "any two or three of P, U, N"

#: Every method, by the name of its function: those of `fastpu`, then the baselines.
DECLARED = {
    "fit_pnu_auc_boost": MethodDeclaration(
        "PNUAUCBoost, boosting for the AUC", "PNUAUCBoostClassifier", "PUN", _AUC, **_TREES
    ),
    "fit_forest": MethodDeclaration("PU forest", "ForestClassifier", "PU", "P and U", **_TREES, repeats=False),
    "fit_boosted_trees": MethodDeclaration(
        "boosted trees, bags of them", "BoostedTreesClassifier", "PUN", f"by loss: P and U, or {_AUC}", **_TREES
    ),
    "fit_bsvm": MethodDeclaration("biased SVM", "BSVMClassifier", "PU", "P and U"),
    "fit_bagging_svm": MethodDeclaration("bagging SVM", "BaggingSVMClassifier", "PU", "P and U", **_UNWEIGHTED),
    "fit_smc": MethodDeclaration("SMC", "SMCClassifier", "PU", "P and U", **_UNWEIGHTED),
    "fit_svmc": MethodDeclaration("SVMC", "SVMCClassifier", "PU", "P and U", **_UNWEIGHTED),
    "fit_isvm": MethodDeclaration("ISVM, the iterative SVM", "ISVMClassifier", "PU", "P and U"),
    "fit_ipsi": MethodDeclaration("IPSI, iterative psi-learning", "IPSIClassifier", "PU", "P and U"),
    "fit_pual": MethodDeclaration(
        "PUAL, asymmetric loss and neighbours", "PUALClassifier", "PU", "P and U", **_NEIGHBOURS
    ),
    "fit_gllc": MethodDeclaration(
        "GLLC, squared losses and neighbours", "GLLCClassifier", "PU", "P and U", **_NEIGHBOURS
    ),
    "fit_upu": MethodDeclaration("uPU, unbiased risk", "UPUClassifier", "PU", "P and U"),
    "fit_nnpu": MethodDeclaration("nnPU, non-negative risk", "NNPUClassifier", "PU", "P and U"),
    "fit_pu_svm_path": MethodDeclaration("PU-SvmPath", "PUSVMPathClassifier", "PU", "P and U", **_PATH),
    "fit_svm_path": MethodDeclaration("SvmPath", "SVMPathClassifier", "PN", "P and N", **_PATH),
    "fit_rankboost_auc": MethodDeclaration("RankBoost for the AUC", None, "PN", "P and N (U is left out)", **_TREES),
    "fit_pnu_adaboost": MethodDeclaration("PNU-AdaBoost", None, "PUN", _AUC, **_TREES),
    "fit_ls_auc": MethodDeclaration("LSAUC, labelled rows alone", None, "PN", "P and N (U is left out)", **_BLAS),
    "fit_samult": MethodDeclaration("SAMULT, squared losses without a prior", None, "PUN", "P, U and N", **_BLAS),
    "fit_pnu_auc": MethodDeclaration(
        "PNU-AUC, squared losses and a prior", None, "PUN", "by eta: P and N, P and U, U and N, or all", **_BLAS
    ),
    "fit_bpsi": MethodDeclaration("biased psi-learning", None, "PU", "P and U"),
    "fit_bls_svm": MethodDeclaration("biased least-squares SVM", None, "PU", "P and U", **_BLAS),
    "fit_svm": MethodDeclaration("C-SVM", None, "PN", "P and N"),
    "fit_nu_svm": MethodDeclaration("nu-SVM", None, "PN", "P and N"),
    "fit_one_class_svm": MethodDeclaration("one-class SVM", None, "P", "P alone"),
}


_OF_BAGS = "bag_ratio says how many unlabelled rows a bag has"
_BOTH = "labelled and unlabelled rows weigh the same already, however many there are of each"
_EACH = "each group of rows weighs the same already, however many rows it has"
_BY_PRIOR = "prior says how labelled and unlabelled rows weigh, however many there are of each"
#: How the groups weigh, for who asks for class weights where neither weights nor costs are the answer.
BALANCE = {
    "fit_forest": f"{_BOTH}; {_OF_BAGS}",
    "fit_boosted_trees": f"{_BOTH}, or as prior says with loss='upu' or 'nnpu'; {_OF_BAGS}",
    "fit_bagging_svm": f"{_BOTH}; {_OF_BAGS}",
    **dict.fromkeys(("fit_upu", "fit_nnpu"), _BY_PRIOR),
    **dict.fromkeys(("fit_pnu_auc_boost", "fit_rankboost_auc", "fit_pnu_adaboost"), _EACH),
    **dict.fromkeys(("fit_ls_auc", "fit_samult", "fit_pnu_auc"), _EACH),
}


def function_of(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(importlib.import_module(DECLARED[name].module), name)
    return function


def methods_with(group: str) -> str:
    """Return the names of the methods that learn from a group (one letter), as a sentence lists them."""
    return _listed([name for name, method in DECLARED.items() if group in method.groups])


def methods_that_take(what: str) -> str:
    """Return the names of the methods whose attribute of this name is true, as a sentence lists them."""
    return _listed([name for name, method in DECLARED.items() if getattr(method, what)])


def _listed(names: list[str]) -> str:
    """Return a sentence's list of names without the baselines, which nobody should reach for first."""
    names = [name for name in names if not DECLARED[name].baseline]
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
