"""What the papers compare with. These methods keep every promise, but are not what to try first."""

from fastpu.baselines.bls_svm import fit_bls_svm
from fastpu.baselines.bpsi import fit_bpsi
from fastpu.baselines.ls_auc import fit_ls_auc, fit_pnu_auc, fit_samult
from fastpu.baselines.stump_boost import fit_pnu_adaboost, fit_rankboost_auc
from fastpu.baselines.svm import fit_nu_svm, fit_one_class_svm, fit_svm

__all__ = [
    "fit_bls_svm",
    "fit_bpsi",
    "fit_ls_auc",
    "fit_nu_svm",
    "fit_one_class_svm",
    "fit_pnu_adaboost",
    "fit_pnu_auc",
    "fit_rankboost_auc",
    "fit_samult",
    "fit_svm",
]


def __dir__() -> list[str]:
    return __all__
