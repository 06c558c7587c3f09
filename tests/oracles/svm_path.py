"""The weighted SVM path slow and obvious: every system is solved afresh, every score is a full product with K.

    min_a  1/2 a'Qa - lam 1'a,   y'a = 0,   0 <= a_i <= c_i <= inf,   Q_ij = y_i y_j K_ij

from lam = infinity down to 0. Between breakpoints a and a0 = lam b0 are linear in lam. At a breakpoint their slopes
(d, d0) for falling lam solve the directional problem

    min_d  1/2 d'Q_EE d + 1'd   s.t.  y'd = 0,  d_i >= 0 where a_i = 0,  d_i <= 0 where a_i = c_i,  d = 0 off E

over the rows E on the margin; it is solved by an active-set method, with least-squares solutions of singular systems.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from oracles import svm

#: Relative slack of a row on the margin, share of a box that is rounding, and slope that is rounding.
ON_MARGIN, AT_BOUND, NO_SLOPE = 1e-9, 1e-11, 1e-9


@dataclass
class Path:
    """Knots (lam, a, a0) from the first breakpoint on; `status` is why it ended."""

    K: np.ndarray
    y: np.ndarray
    c: np.ndarray
    lams: list[float] = field(default_factory=list)
    alphas: list[np.ndarray] = field(default_factory=list)
    offsets: list[float] = field(default_factory=list)
    status: str = ""

    def at(self, lam: float) -> tuple[np.ndarray, float]:
        """a and a0 at any lam > 0, by linear interpolation."""
        if self.status == "trivial":
            return self.alphas[0], lam * excess(self.y, self.c)
        if lam >= self.lams[0]:
            return self.alphas[0], self.offsets[0] + excess(self.y, self.c) * (lam - self.lams[0])
        after = int(np.searchsorted(-np.array(self.lams), -lam))
        if after == len(self.lams):
            raise ValueError(f"the path ends at {self.lams[-1]}")
        left, right = self.lams[after - 1], self.lams[after]
        share = (left - lam) / (left - right)
        a = (1 - share) * self.alphas[after - 1] + share * self.alphas[after]
        return a, (1 - share) * self.offsets[after - 1] + share * self.offsets[after]

    def scores(self, lam: float) -> np.ndarray:
        """f of every row."""
        a, a0 = self.at(lam)
        return (self.K @ (self.y * a) + a0) / lam


def violation(K, y, c, a, a0, lam) -> float:
    """The largest violation of the optimality conditions, in units of y f(x)."""
    slack = y * (K @ (y * a) + a0) / lam - 1
    top = np.isfinite(c) & (a >= c)
    low = np.where(top, 0.0, np.maximum(-slack, 0))
    high = np.where(a > 0, np.maximum(slack, 0), 0.0)
    box = max(float((-a).max()), float(np.where(np.isfinite(c), a - c, -np.inf).max()), 0.0)
    return max(float(low.max()), float(high.max()), box, abs(float(y @ a)) / max(float(a.sum()), 1e-300))


def excess(y, c) -> float:
    """The sign of the class that weighs more; 0 if both weigh the same."""
    plus, minus = c[y > 0].sum(), c[y < 0].sum()
    if np.isfinite(plus + minus) and abs(plus - minus) <= svm.EQUAL_SUMS * max(plus, minus):
        return 0.0
    return 1.0 if plus > minus else -1.0


def start(K, y, c) -> np.ndarray:
    """a above the first breakpoint: the lighter class at its costs, the other as near to it as it can be."""
    side = excess(y, c)
    a = np.where(np.isfinite(c), c, 0.0)
    if side == 0:
        return a
    heavy = y == side
    total = float(c[~heavy].sum())
    Q = K[np.ix_(heavy, heavy)]
    p = -K[np.ix_(heavy, ~heavy)] @ c[~heavy]
    box = np.minimum(c[heavy], 2 * total)
    scale = total * max(float(np.abs(K).max()), 1e-300)
    x = svm.solve_qp(Q / scale * total, p / scale, np.ones((1, heavy.sum())), np.array([1.0]), box / total) * total
    a[heavy] = snapped(x, c[heavy], total)
    a[heavy] *= 1.0
    return a


def snapped(a, c, total):
    """Values that only rounding keeps from a bound are put there."""
    near = 1e-9 * total / len(a)
    a = np.where(a < near, 0.0, a)
    return np.where(np.isfinite(c) & (a > c - near), c, a)


def direction(K, y, edge, kind, most=200) -> tuple[np.ndarray, float]:
    """Slopes (d, d0) of a and a0 for falling lam; `kind` of the rows `edge` is 0 (free), 1 (at 0) or -1 (at c)."""
    n = len(y)
    Q = np.outer(y, y) * K
    moving = [i for i in edge if kind[i] == 0]
    d = np.zeros(n)
    for _ in range(most + 4 * len(edge)):
        if not moving:
            d, d0 = np.zeros(n), None
            top = [i for i in edge if kind[i] == -1]
            plus, minus = [i for i in top if y[i] > 0], [i for i in top if y[i] < 0]
            if not (plus and minus):
                return d, None
            moving = [plus[0], minus[0]]
            continue
        m = len(moving)
        A = np.zeros((m + 1, m + 1))
        A[:m, :m] = Q[np.ix_(moving, moving)]
        A[:m, m] = A[m, :m] = y[moving]
        scale = max(1e-300, float(np.abs(A[:m, :m]).max()))
        A[:m, :m] /= scale
        z = np.linalg.lstsq(A, np.append(-np.ones(m), 0.0), rcond=1e-13)[0]
        target = np.zeros(n)
        target[moving] = z[:m] / scale
        d0 = float(z[m])
        slack = NO_SLOPE * max(1.0, float(np.abs(target).max())) * 1e-3
        wrong = [i for i in moving if kind[i] * target[i] < -slack]
        if wrong:
            ratio = [kind[i] * d[i] / (kind[i] * (d[i] - target[i])) for i in wrong]
            k = int(np.argmin(ratio))
            d = d + max(0.0, ratio[k]) * (target - d)
            d[wrong[k]] = 0.0
            moving = [i for i in moving if i != wrong[k]]
            continue
        d = target
        rate = Q @ d + 1 + y * d0
        out = [i for i in edge if i not in moving]
        bad = [(-kind[i] * rate[i], -i) for i in out if kind[i] * rate[i] < -NO_SLOPE]
        if not bad:
            return d, d0
        moving.append(-max(bad)[1])
    raise RuntimeError("the directional problem does not end")


def path(K, y, c, *, lam_min=0.0) -> Path:
    """Follow the path down to lam_min, or to 0 if no breakpoint is left at all."""
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    c = np.broadcast_to(np.asarray(c, dtype=np.float64), y.shape)
    result = Path(K, y, c)
    a = start(K, y, c)
    h = K @ (y * a)
    plus, minus = (y > 0) & (a > 0), (y < 0) & (a > 0)
    lam = float(h[plus].max() - h[minus].min()) / 2
    if lam <= 1e-8 * float((np.abs(K) @ a).max()):
        result.alphas.append(a)
        result.status = "trivial"
        return result
    a0 = lam - float(h[plus].max())
    for _ in range(50 * len(y) + 1000):
        reach = float((np.abs(K) @ a).max())
        result.lams.append(lam)
        result.alphas.append(a)
        result.offsets.append(a0)
        if lam < 1e-8 * reach:
            result.status = "precision"
            return result
        h = K @ (y * a)
        g = y * (h + a0)
        free = (a > 0) & (a < c)
        on = np.abs(g - lam) <= ON_MARGIN * lam + 1e-14 * reach
        edge = np.flatnonzero(on | free)
        kind = np.where(free, 0, np.where(a > 0, -1, 1))
        d, d0 = direction(K, y, edge, kind)
        if d0 is None:  # nothing can move but a0
            top_plus, top_minus = (y > 0) & (a >= c), (y < 0) & (a >= c)
            new = float(h[top_plus].max() - h[top_minus].min()) / 2
            stop = max(new, lam_min)
            a0_end = new - float(h[top_plus].max())
            a0 += (a0_end - a0) * (lam - stop) / (lam - new)
            lam = stop
            if stop > new:
                break
            continue
        rate = y * (K @ (y * d)) + 1 + y * d0
        step = lam
        slack = g - lam
        for i in range(len(y)):
            if d[i] < 0:
                step = min(step, a[i] / -d[i])
            elif d[i] > 0 and np.isfinite(c[i]):
                step = min(step, (c[i] - a[i]) / d[i])
            if i in edge:
                continue
            if a[i] == 0 and rate[i] < 0:
                step = min(step, max(slack[i], 0) / -rate[i])
            if a[i] > 0 and rate[i] > 0:
                step = min(step, max(-slack[i], 0) / rate[i])
        last = step >= lam * (1 - 1e-9)
        step = lam if last else min(step, lam - lam_min)
        a = a + step * d
        near = AT_BOUND * np.where(np.isfinite(c), c, a.max())
        a = np.where(a < near, 0.0, a)
        a = np.where(np.isfinite(c) & (a > c - near), c, a)
        a0, lam = a0 + step * d0, lam_min if step == lam - lam_min and not last else lam - step
        if last or lam <= lam_min:
            result.status = "zero" if lam <= 0 else "lam_min"
            result.lams.append(lam)
            result.alphas.append(a)
            result.offsets.append(a0)
            return result
        a, a0 = polished(K, y, a, a0, lam, (a > 0) & (a < c))
    result.status = "lam_min" if lam_min and lam <= lam_min else "max_events"
    result.lams.append(lam)
    result.alphas.append(a)
    result.offsets.append(a0)
    return result


def polished(K, y, a, a0, lam, free):
    """One Newton correction of the rows between their bounds, so that errors do not add up."""
    rows = np.flatnonzero(free)
    if not rows.size:
        return a, a0
    m = rows.size
    A = np.zeros((m + 1, m + 1))
    A[:m, :m] = np.outer(y[rows], y[rows]) * K[np.ix_(rows, rows)]
    A[:m, m] = A[m, :m] = y[rows]
    residual = np.append(lam - y[rows] * (K[rows] @ (y * a) + a0), -float(y @ a))
    z = np.linalg.lstsq(A, residual, rcond=1e-13)[0]
    a = a.copy()
    a[rows] += z[:m]
    return a, a0 + float(z[m])
