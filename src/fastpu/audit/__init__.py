"""From a ranked list to numbers that hold without assumptions: which rows to check, and what the answers say.

`plan` draws rows to check, and people say which of them are positive. From their answers `estimate` gives the number of
positives, precision and recall, with intervals that hold whatever the labels, the model and its calibration are.
`discoveries` returns a list of rows with few negatives. `is_scar` compares checked positives with labelled ones.
`write_csv` and `read_csv` take a plan to a spreadsheet and back.
"""

from fastpu.audit._discoveries import Discoveries, discoveries
from fastpu.audit._draw import plan
from fastpu.audit._estimate import Audit, AuditCurve, AuditEstimate, estimate
from fastpu.audit._plan import Plan
from fastpu.audit._scar import ScarAudit, is_scar
from fastpu.audit._sheet import read_csv, write_csv

__all__ = [
    "Audit",
    "AuditCurve",
    "AuditEstimate",
    "Discoveries",
    "Plan",
    "ScarAudit",
    "discoveries",
    "estimate",
    "is_scar",
    "plan",
    "read_csv",
    "write_csv",
]


def __dir__() -> list[str]:
    return __all__
