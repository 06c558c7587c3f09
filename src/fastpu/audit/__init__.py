"""From a ranked list to numbers that hold without assumptions: which rows to check, and what their answers say of all.

`plan` draws rows, people answer, and `estimate` gives the number of positives, precision and recall with intervals that
hold whatever the labels, the model and its calibration are. `write_csv` and `read_csv` take a plan to a spreadsheet and
back.
"""

from fastpu.audit._draw import plan
from fastpu.audit._estimate import Audit, AuditCurve, AuditEstimate, estimate
from fastpu.audit._plan import Plan
from fastpu.audit._sheet import read_csv, write_csv

__all__ = ["Audit", "AuditCurve", "AuditEstimate", "Plan", "estimate", "plan", "read_csv", "write_csv"]
