"""The data sets of the PNUAUCBoost paper, and what its Table 2 prints for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

OURS = "Ours"
COLUMNS = (OURS, "RBAUC", "PNUAUC", "Samult", "PNUAB", "LSAUC")

# Mean and standard deviation of the test AUC over 15 splits; * marks a competitor that the paper's method beats at
# p < 0.05, - one that beats it.
_TABLE_2 = """
pima      0.8022(0.0481) 0.7923(0.0476)* 0.6458(0.0546)* 0.6459(0.0480)* 0.6743(0.0370)* 0.6511(0.0447)*
ring      0.9470(0.0095) 0.9315(0.0120)* 0.9099(0.0061)* 0.9099(0.0061)* 0.8603(0.0131)* 0.9117(0.0058)*
phoneme   0.8579(0.0143) 0.8543(0.0149)* 0.8009(0.0156)* 0.8005(0.0145)* 0.7798(0.0171)* 0.7753(0.0129)*
vehicle0  0.9518(0.0215) 0.9465(0.0207)  0.9780(0.0182)- 0.9846(0.0171)  0.8172(0.0432)* 0.8550(0.0317)*
vehicle2  0.9704(0.0153) 0.9595(0.0228)* 0.9647(0.0195)  0.9810(0.0134)- 0.8555(0.0417)* 0.7588(0.1247)*
credit-g  0.7290(0.0314) 0.7267(0.0420)  0.6968(0.0553)* 0.7147(0.0523)  0.6296(0.0597)* 0.6785(0.0813)*
glass1    0.7225(0.0904) 0.7048(0.0795)  0.5828(0.1199)* 0.6365(0.0898)* 0.6321(0.1086)* 0.5833(0.1304)*
wisconsin 0.9909(0.0065) 0.9892(0.0076)  0.9195(0.0282)* 0.9211(0.0275)* 0.9105(0.0257)* 0.9054(0.0384)*
wdbc      0.9873(0.0100) 0.9859(0.0100)  0.9704(0.0180)* 0.9786(0.0193)* 0.8367(0.0489)* 0.9725(0.0226)*
shuttle   1.0000(0.0000) 0.9801(0.0322)* 0.9998(0.0005)  0.9998(0.0008)  0.9526(0.0354)* 0.9922(0.0176)*
monk-2    0.9844(0.0202) 0.9839(0.0196)  0.8065(0.0498)* 0.8213(0.0474)* 0.9462(0.0260)* 0.7294(0.0570)*
sonar     0.7247(0.1128) 0.7140(0.0768)  0.6664(0.1025)* 0.6719(0.1089)* 0.5991(0.0774)* 0.5673(0.0864)*
surgical  0.8332(0.0095) 0.8266(0.0114)* 0.7797(0.0082)* 0.7910(0.0066)* 0.7820(0.0160)* 0.6291(0.0178)*
insurance 0.8810(0.0012) 0.8765(0.0015)* 0.6395(0.0072)* 0.6457(0.0065)* 0.8290(0.0022)* 0.6081(0.0198)*
numerai   0.5245(0.0049) 0.5226(0.0045)* 0.5229(0.0040)  0.5229(0.0040)  0.5112(0.0044)* 0.5210(0.0049)*
cod-rna   0.9681(0.0019) 0.9362(0.0018)* 0.9313(0.0018)* 0.9363(0.0017)* 0.9218(0.0020)* 0.9314(0.0018)*
"""


@dataclass(frozen=True)
class PrintedAuc:
    """A cell of the printed table."""

    mean: float
    sd: float
    mark: str


def _parse(table: str) -> dict[str, dict[str, PrintedAuc]]:
    cell = re.compile(r"([\d.]+)\(([\d.]+)\)([*-]?)")
    rows = {}
    for line in table.strip().splitlines():
        cells = [PrintedAuc(float(mean), float(sd), mark) for mean, sd, mark in cell.findall(line)]
        rows[line.split()[0]] = dict(zip(COLUMNS, cells, strict=True))
    return rows


PRINTED = _parse(_TABLE_2)


@dataclass(frozen=True)
class DataSet:
    """A data set, the label of its positives (None: the rarer one, as in every set of the paper), and its file."""

    name: str
    positive: str | None
    file: str


DATA_SETS = tuple(
    DataSet(name, positive, f"{stem or name}.csv.gz")
    for name, positive, stem in (
        ("pima", "positive", ""),
        ("ring", "0", ""),
        ("phoneme", None, ""),
        ("vehicle0", "positive", ""),
        ("vehicle2", "positive", ""),
        ("credit-g", "bad", ""),
        ("glass1", "positive", ""),
        ("wisconsin", "positive", ""),
        ("wdbc", "malignant", ""),
        ("shuttle", "positive", "shuttle-c0-vs-c4"),
        ("monk-2", "0", ""),
        ("sonar", None, ""),
        ("surgical", "1", ""),
        ("insurance", "1", "insurance_part44"),
        ("numerai", None, ""),
        ("cod-rna", "1", ""),
    )
)
