"""What each fit function takes: the one table that checks, messages and documentation are made from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CAPABILITIES", "Capability", "methods_with", "table"]


@dataclass(frozen=True)
class Capability:
    """What one method takes.

    `groups` are the groups of rows that it learns from, P (+1), U (0) and N (-1), and `rows` says which of
    them it needs. The others say whether it takes CSR without making it dense, sample weights, missing (NaN)
    and infinite entries, float32 without a copy, and binned features.
    """

    groups: str
    rows: str
    csr: bool
    weights: bool
    nan: bool
    inf: bool
    float32: bool
    binned: bool


_BOOSTING = {"csr": True, "weights": True, "nan": True, "inf": True, "float32": True, "binned": True}
_SVM = {"csr": True, "weights": True, "nan": False, "inf": False, "float32": True, "binned": False}
_UNWEIGHTED = {**_SVM, "weights": False}
_PATH = {**_UNWEIGHTED, "float32": False}

CAPABILITIES = {
    "fit_pnu_auc_boost": Capability(groups="PUN", rows="any two or three of P, U, N", **_BOOSTING),
    "fit_rankboost_auc": Capability(groups="PN", rows="P and N (U is left out)", **_BOOSTING),
    "fit_pnu_adaboost": Capability(groups="PUN", rows="any two or three of P, U, N", **_BOOSTING),
    "fit_ls_auc": Capability(groups="PN", rows="P and N (U is left out)", **_SVM),
    "fit_samult": Capability(groups="PUN", rows="P, U and N", **_SVM),
    "fit_pnu_auc": Capability(groups="PUN", rows="by eta: P and N, P and U, U and N, or all", **_SVM),
    "fit_bsvm": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_bagging_svm": Capability(groups="PU", rows="P and U", **_UNWEIGHTED),
    "fit_smc": Capability(groups="PU", rows="P and U", **_UNWEIGHTED),
    "fit_svmc": Capability(groups="PU", rows="P and U", **_UNWEIGHTED),
    "fit_isvm": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_ipsi": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_bpsi": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_pual": Capability(groups="PU", rows="P and U", **_UNWEIGHTED),
    "fit_gllc": Capability(groups="PU", rows="P and U", **_UNWEIGHTED),
    "fit_bls_svm": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_upu": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_nnpu": Capability(groups="PU", rows="P and U", **_SVM),
    "fit_pu_svm_path": Capability(groups="PU", rows="P and U", **_PATH),
    "fit_svm": Capability(groups="PN", rows="P and N", **_SVM),
    "fit_nu_svm": Capability(groups="PN", rows="P and N", **_SVM),
    "fit_svm_path": Capability(groups="PN", rows="P and N", **_PATH),
    "fit_one_class_svm": Capability(groups="P", rows="P alone", **_SVM),
}


def methods_with(group: str) -> str:
    """Return the names of the methods that learn from a group (one letter), as a sentence lists them."""
    names = [name for name, capability in CAPABILITIES.items() if group in capability.groups]
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def table() -> str:
    """Return the table as Markdown."""
    lines = [
        "| function | rows | CSR | `sample_weight` | NaN | inf | float32 | `BinnedFeatures` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, c in CAPABILITIES.items():
        marks = (c.csr, c.weights, c.nan, c.inf, c.float32, c.binned)
        cells = " | ".join("yes" if mark else "no" for mark in marks)
        lines.append(f"| `{name}` | {c.rows} | {cells} |")
    return "\n".join(lines)
