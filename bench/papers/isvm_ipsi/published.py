"""What Tables 1 and 2 of the ISVM paper print: mean test errors over 100 replications, with standard errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

TABLES = {1: "error on a tuning set with true labels", 2: "Err* on a tuning set without labelled negatives"}
CASES = (1, 2)
# A data set and which of its classes is absent from the labels.
COLUMNS = ("example-1", "example-2", "heart-absent", "heart-present", "spam-no", "spam-yes")
ROWS = ("BASVM", "BSVM", "BLSSVM", "ISVM", "BPSI", "IPSI")

# The last row of a block repeats the printed improvements of ISVM over BSVM, and of IPSI over BPSI, in percent. Most of
# the former do not follow from the printed errors by (5.1) and (5.2): the report gives both.
_TABLE_1_CASE_1 = """
BASVM  0.2237(0.0072) 0.1914(0.0074) 0.2545(0.0084) 0.2807(0.0076) 0.1762(0.0048) 0.2629(0.0054)
BSVM   0.1974(0.0053) 0.1543(0.0056) 0.2544(0.0077) 0.2642(0.0076) 0.1904(0.0047) 0.2391(0.0051)
BLSSVM 0.1913(0.0051) 0.1519(0.0052) 0.2395(0.0071) 0.2477(0.0077) 0.1881(0.0042) 0.2287(0.0052)
ISVM   0.1871(0.0047) 0.1488(0.0072) 0.2053(0.0069) 0.2044(0.0063) 0.1512(0.0045) 0.2055(0.0077)
BPSI   0.1958(0.0042) 0.1507(0.0064) 0.2175(0.0073) 0.2189(0.0064) 0.1669(0.0045) 0.1850(0.0051)
IPSI   0.1879(0.0047) 0.1474(0.0072) 0.1949(0.0078) 0.2028(0.0077) 0.1331(0.0028) 0.1529(0.0044)
ISVM%  24.10 7.86 16.19 20.51 18.83 12.61
IPSI%  21.31 5.33 10.38 7.35 20.25 17.38
"""
_TABLE_1_CASE_2 = """
BASVM  0.1921(0.0039) 0.1497(0.0048) 0.2161(0.0047) 0.2505(0.0056) 0.1345(0.0017) 0.2178(0.0041)
BSVM   0.1812(0.0030) 0.1275(0.0028) 0.2172(0.0049) 0.2267(0.0056) 0.1517(0.0022) 0.1904(0.0041)
BLSSVM 0.1803(0.0030) 0.1276(0.0029) 0.2037(0.0046) 0.2102(0.0053) 0.1466(0.0023) 0.1755(0.0042)
ISVM   0.1742(0.0023) 0.1269(0.0033) 0.1863(0.0041) 0.1819(0.0038) 0.1289(0.0015) 0.1387(0.0022)
BPSI   0.1834(0.0031) 0.1327(0.0030) 0.2093(0.0045) 0.1990(0.0045) 0.1465(0.0021) 0.1489(0.0026)
IPSI   0.1748(0.0024) 0.1277(0.0033) 0.1816(0.0039) 0.1810(0.0037) 0.1290(0.0015) 0.1376(0.0021)
ISVM%  28.62 1.43 12.18 17.24 14.36 23.46
IPSI%  34.91 11.39 13.2 9.02 11.94 7.58
"""
_TABLE_2_CASE_1 = """
BASVM  0.2163(0.0065) 0.2034(0.0072) 0.2762(0.0078) 0.2919(0.0082) 0.1762(0.0043) 0.2696(0.0052)
BSVM   0.2362(0.0071) 0.2123(0.0085) 0.3007(0.0091) 0.3178(0.0089) 0.2158(0.0061) 0.3117(0.0090)
BLSSVM 0.2213(0.0068) 0.2011(0.0076) 0.2812(0.0086) 0.2912(0.0086) 0.1962(0.0058) 0.2888(0.0083)
ISVM   0.1916(0.0057) 0.1712(0.0080) 0.2251(0.0088) 0.2481(0.0083) 0.1574(0.0048) 0.2390(0.0083)
BPSI   0.2041(0.0055) 0.1712(0.0075) 0.2538(0.0086) 0.2419(0.0080) 0.1736(0.0049) 0.2254(0.0070)
IPSI   0.1818(0.0055) 0.1627(0.0082) 0.2201(0.0082) 0.2383(0.0081) 0.1377(0.0030) 0.1693(0.0059)
ISVM%  46.12 27.13 20.02 18.54 25.78 24.12
IPSI%  27.22 7.36 15.13 2.99 22.84 24.71
"""
_TABLE_2_CASE_2 = """
BASVM  0.1941(0.0041) 0.1614(0.0049) 0.2285(0.0055) 0.2613(0.0065) 0.1389(0.0024) 0.2202(0.0045)
BSVM   0.2001(0.0044) 0.1489(0.0042) 0.2476(0.0062) 0.2696(0.0076) 0.1702(0.0036) 0.2621(0.0081)
BLSSVM 0.1912(0.0044) 0.1453(0.0041) 0.2372(0.0058) 0.2402(0.0071) 0.1588(0.0040) 0.2284(0.0076)
ISVM   0.1752(0.0026) 0.1321(0.0035) 0.2009(0.0049) 0.1963(0.0045) 0.1281(0.0015) 0.1497(0.0041)
BPSI   0.1891(0.0030) 0.1351(0.0037) 0.2202(0.0047) 0.2100(0.0060) 0.1512(0.0025) 0.1586(0.0040)
IPSI   0.1722(0.0023) 0.1287(0.0032) 0.1988(0.0051) 0.1989(0.0050) 0.1265(0.0014) 0.1413(0.0031)
ISVM%  40.24 23.06 15.14 24.24 21.98 36.24
IPSI%  40.62 13.29 9.80 7.03 15.75 9.02
"""


@dataclass(frozen=True)
class Printed:
    """A cell of a printed table: the mean test error and its standard error."""

    mean: float
    se: float


def _parse() -> tuple[dict[tuple[int, int, str, str], Printed], dict[tuple[int, int, str, str], float]]:
    printed, improvements = {}, {}
    blocks = {(1, 1): _TABLE_1_CASE_1, (1, 2): _TABLE_1_CASE_2, (2, 1): _TABLE_2_CASE_1, (2, 2): _TABLE_2_CASE_2}
    for (table, case), block in blocks.items():
        for line in block.strip().splitlines():
            row, *cells = line.split()
            for column, cell in zip(COLUMNS, cells, strict=True):
                if row.endswith("%"):
                    improvements[table, case, column, row[:-1]] = float(cell) / 100
                else:
                    mean, se = re.fullmatch(r"([\d.]+)\(([\d.]+)\)", cell).groups()  # type: ignore[union-attr] (our own text)
                    printed[table, case, column, row] = Printed(float(mean), float(se))
    return printed, improvements


#: By table, case, column and row.
PRINTED, IMPROVEMENTS = _parse()
