"""Solve the free boundary of Lai's index twice, and hold it against the discrete problem: python docs/lai_boundary.py

A walk W with an unknown drift, flat prior, is watched at a cost of c a unit of time; then one says whether the drift is
positive, and an error costs 1. With tau = c t and z = |W| / sqrt(t) the cost is 1 and the error of stopping is
Phi(-z). In T = ln tau, z has the drift z / 2 and the variance 1 a unit of T. Let u be what watching on saves. Then

    u_T + z u_z / 2 + u_zz / 2 = e^T,  u_z(0) = -phi(0),  and u = u_z = 0 at the boundary z = beta(T).

psi(beta(T)^2 / 2) = -T. The two methods share nothing but this:

1. The integral equation. Watching on while it pays costs as much as the error that it avoids, which is all of
   it in the end: Phi(-beta(T)) = integral over T' > T of e^T' P(|z_T'| < beta(T')), where z_T' is normal with the mean
   beta(T) e^(D/2) and the variance e^D - 1, D = T' - T. ln beta is a polynomial in each of many short intervals, which
   Newton's method finds, the last interval first.
2. Finite differences in x = z / beta(T), where the boundary stands still: second order in both directions, and twice
   Richardson's extrapolation.

At both ends psi is known: 1/2 ln x + ln(4 sqrt(pi)) for small x, x - 1/2 ln x + ln(2 sqrt(pi)) for large x.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betainc, log_ndtr, ndtr

from cutline.compiled import kernel
from cutline.policies.free_boundary import KNOTS, STEP, log_cost
from cutline.policies.lai import lai_index

Floats = NDArray[np.float64]
Panel = tuple[float, float, Floats]

PHI_0 = 1.0 / math.sqrt(2.0 * math.pi)
FIRST, LAST = 4.0, -47.5  # T; above FIRST the boundary is phi(0) / (2 tau)
WIDTH = 0.5  # of a panel


class IntegralEquation:
    """Method 1: the boundary as panels (low, high, Chebyshev coefficients of ln beta), from FIRST down to LAST."""

    def __init__(self, degree: int = 11, points: int = 20) -> None:
        self._nodes = np.cos(np.pi * np.arange(degree + 1) / degree)
        self._to_coefficients = np.linalg.inv(chebyshev.chebvander(self._nodes, degree))
        x, w = np.polynomial.legendre.leggauss(points)
        self._x, self._w = (x + 1.0) / 2.0, w / 2.0
        self.panels: list[Panel] = []
        high, log_beta, slope = FIRST, math.log(PHI_0 / 2.0) - FIRST, -1.0
        while high > LAST:
            values = self._solve(high, log_beta + slope * WIDTH / 2.0 * (self._nodes - 1.0))
            coefficients = self._to_coefficients @ values
            self.panels.insert(0, (high - WIDTH, high, coefficients))
            high -= WIDTH
            log_beta = float(values[-1])
            slope = float(chebyshev.chebval(-1.0, chebyshev.chebder(coefficients))) * 2.0 / WIDTH

    def beta(self, t: float) -> float:
        """Return the boundary at T = t."""
        low, high, coefficients = next(panel for panel in self.panels if panel[0] <= t <= panel[1])
        return math.exp(float(chebyshev.chebval(2.0 * (t - low) / (high - low) - 1.0, coefficients)))

    def _solve(self, high: float, values: Floats) -> Floats:
        """Find ln beta at the nodes of the panel that ends at ``high``, the first of which is known."""
        low = high - WIDTH
        times = low + (self._nodes + 1.0) / 2.0 * WIDTH

        def here(values: Floats) -> Floats:
            panel = (low, high, self._to_coefficients @ values)
            return np.array([self._paid(t, math.exp(v), [panel]) for t, v in zip(times, values, strict=True)])

        def beyond(t: float, v: float) -> float:
            beta = math.exp(v)
            return self._paid(t, beta, self.panels) + self._paid_after_first(t, beta) - math.exp(log_ndtr(-beta) - t)

        small = 1e-6
        for _ in range(30):
            paid = here(values)
            rest = np.array([beyond(t, v) for t, v in zip(times, values, strict=True)])
            moved = np.array([here(values + small * unit) - paid for unit in np.eye(values.size)]).T
            moved += np.diag([beyond(t, v + small) for t, v in zip(times, values, strict=True)] - rest)
            step = np.linalg.solve(moved[1:, 1:] / small, -(paid + rest)[1:])
            values = values + np.concatenate([[0.0], np.clip(step, -0.5, 0.5)])
            if np.abs(step).max() < 1e-11:
                return values
        raise ArithmeticError(f"Newton's method does not end below T = {high}")

    def _paid(self, t: float, beta: float, panels: Sequence[Panel]) -> float:
        """Return the cost of watching from beta at t, over e^t, in the panels after t. D = w^2 makes it smooth."""
        found = [np.zeros((3, 0))]
        for low, high, coefficients in panels:
            if high <= t:
                continue
            first, last = math.sqrt(max(low - t, 0.0)), math.sqrt(high - t)
            inner = [beta * 2.0**power for power in range(-1, 14) if first < beta * 2.0**power < last]
            for begin, end in zip([first, *inner], [*inner, last], strict=True):
                w = begin + self._x * (end - begin)
                there = np.exp(chebyshev.chebval(2.0 * (t + w * w - low) / (high - low) - 1.0, coefficients))
                found.append(np.array([w, self._w * (end - begin) * 2.0 * w, there]))
        w, weight, there = np.concatenate(found, axis=1)
        mean, deviation = beta * np.exp(w * w / 2.0), np.sqrt(np.expm1(w * w))
        inside = ndtr((there - mean) / deviation) - ndtr((-there - mean) / deviation)
        return float(np.sum(weight * np.exp(w * w) * inside))

    def _paid_after_first(self, t: float, beta: float) -> float:
        """Return the same after FIRST, where P = 2 beta p(0) and e^T beta = phi(0) / 2; e^(-D/2) = sin s."""
        most = math.asin(math.exp(-(FIRST - t) / 2.0))
        density = np.exp(-(beta**2) / (2.0 * np.cos(self._x * most) ** 2))
        return math.exp(-t) * 2.0 * PHI_0**2 * most * float(np.sum(self._w * density))


@kernel
def saved(beta: float, known: Floats, known_beta: float, dt: float, t: float, u: Floats, space: Floats) -> float:
    """Solve for u on the grid of x with this beta; return how far it is from meeting 0 with a slope of 0, scaled."""
    n = u.size - 1
    h = 1.0 / n
    source = math.exp(t)
    drift = 0.5 + (1.5 * beta - known_beta) / (dt * beta)  # 1/2 - beta' / beta
    diffusion = 0.5 / (beta * h) ** 2
    above, right = space
    for j in range(n):
        down = diffusion - 0.5 * drift * j
        middle = 1.5 / dt + 2.0 * diffusion
        if j == 0:
            above[0] = -2.0 * diffusion / middle
            right[0] = (known[0] / dt - source + 2.0 * diffusion * h * PHI_0 * beta) / middle
        else:
            middle += down * above[j - 1]
            above[j] = -(diffusion + 0.5 * drift * j) / middle
            right[j] = (known[j] / dt - source + down * right[j - 1]) / middle
    u[n] = 0.0
    for j in range(n - 1, -1, -1):
        u[j] = right[j] - above[j] * u[j + 1]
    second = 2.0 * beta * beta * source
    third = -2.0 * beta * beta * drift * second
    return float((u[n - 1] - h * h * (0.5 * second - h / 6.0 * third)) / (h * h * second))


@kernel
def differences(n: int, dt: float, every: int, count: int) -> Floats:
    """Method 2 with n steps in x: the boundary after each ``every`` steps down from FIRST, shape (count,)."""
    last, before = PHI_0 / 2.0 * math.exp(-FIRST), PHI_0 / 2.0 * math.exp(-FIRST - dt)
    from_end = 1.0 - np.arange(n + 1) / n
    u_last = math.exp(FIRST) * (last * from_end) ** 2
    u_before = math.exp(FIRST + dt) * (before * from_end) ** 2
    u, space = np.empty(n + 1), np.empty((2, n + 1))
    found = np.empty(count)
    for step in range(1, every * count + 1):
        t = FIRST - step * dt
        known, known_beta = 2.0 * u_last - 0.5 * u_before, 2.0 * last - 0.5 * before
        low = 2.0 * last - before
        high = low * (1.0 + 1e-5)
        at_low = saved(low, known, known_beta, dt, t, u, space)
        while abs(high - low) > 1e-13 * high:
            at_high = saved(high, known, known_beta, dt, t, u, space)
            if at_high == at_low:
                break
            low, high, at_low = high, high - at_high * (high - low) / (at_high - at_low), at_high
        u_before, u_last = u_last, u.copy()
        before, last = last, high
        if step % every == 0:
            found[step // every - 1] = last
    return found


def by_differences() -> tuple[Floats, Floats]:
    """Return T and the boundary by method 2, at every half unit of T."""
    count = round((FIRST - LAST) / WIDTH)
    coarse, middle, fine = (
        differences(n, WIDTH / every, every, count) for n, every in ((400, 50), (800, 100), (1600, 200))
    )
    first: Floats = middle + (middle - coarse) / 3.0
    second: Floats = fine + (fine - middle) / 3.0
    return FIRST - WIDTH * np.arange(1, count + 1, dtype=np.float64), second + (second - first) / 15.0


@kernel
def gains(cost: float, threshold: float, first_errors: Floats, bounds: Any, most: int, gain: Floats) -> None:
    """Go back from long records to short ones; gain[n, S] is what pulling on saves, for n up to ``most``.

    ``bounds`` are the S looked at, (N + 1, 2); beyond them one stops. ``first_errors``: P(below) at the first of them.
    """
    later, now = np.zeros(bounds[-1, 1] + 3), np.zeros(bounds[-1, 1] + 3)
    for n in range(first_errors.size - 1, 0, -1):
        first, last = bounds[n]
        below = first_errors[n]
        a, b = 1.0 + first, 1.0 + n - first
        logs = math.lgamma(a + b) - math.lgamma(a + 1.0) - math.lgamma(b)
        term = math.exp(logs + a * math.log(threshold) + (b - 1.0) * math.log(1.0 - threshold))
        now[:] = 0.0
        for s in range(first, last + 1):
            error = min(below, 1.0 - below)
            share = (1.0 + s) / (2.0 + n)
            go_on = cost + share * later[s + 1] + (1.0 - share) * later[s] if n < first_errors.size - 1 else error
            now[s] = min(error, go_on)
            if n <= most and s <= most:
                gain[n, s] = error - go_on
            a, b = 1.0 + s, 1.0 + n - s
            below -= term
            term *= threshold / (1.0 - threshold) * (b - 1.0) / (a + 1.0)
        later, now = now, later


def discrete_index(threshold: float, records: Sequence[tuple[int, int]], longest: float = 1.0) -> list[float]:
    """Return -ln of the critical cost of records (n, S) under the prior Beta(1, 1), by dynamic programming.

    Records longer than ``longest`` / cost are not pulled on.
    """
    most = max(n for n, _ in records)

    def gain_at(log_cost: float) -> Floats:
        pulls = np.arange(int(max(2 * most, longest * math.exp(-log_cost))) + 1)
        half = 6.0 * np.sqrt(threshold * (1.0 - threshold) * pulls) + 2.0
        first = np.maximum(0, np.floor(threshold * pulls - half)).astype(np.int64)
        last = np.minimum(pulls, np.ceil(threshold * pulls + half)).astype(np.int64)
        found = np.full((most + 1, most + 1), -math.inf)
        errors = betainc(1.0 + first, 1.0 + pulls - first, threshold)
        gains(math.exp(log_cost), threshold, errors, np.array([first, last]).T, most, found)
        return found

    levels = np.arange(1.0, 10.01, 0.1)
    tables = [gain_at(-level) for level in levels]
    return [float(np.interp(0.0, [table[n, s] for table in tables], levels)) for n, s in records]


def psi_of(beta: Callable[[float], float]) -> Callable[[float], float]:
    """Turn a boundary round: z -> psi(z^2 / 2)."""
    return lambda z: -brentq(lambda t: beta(t) - z, LAST, FIRST, xtol=1e-13)


def main() -> None:
    """Print the knots, how well the two methods and the policy's table agree, and the discrete problem."""
    by_equation = IntegralEquation()
    psi = psi_of(by_equation.beta)
    knots = [math.log(4.0 * math.sqrt(math.pi)) - 0.5 * math.log(2.0)]
    knots += [psi(STEP * k) - (STEP * k) ** 2 / 2.0 - math.log(STEP * k) for k in range(1, len(KNOTS))]
    for begin in range(0, len(knots), 8):
        print("    " + " ".join(f"{knot:.7f}," for knot in knots[begin : begin + 8]))
    print(f"the table of the policy is off by at most {np.abs(np.array(knots) - np.array(KNOTS)).max():.1e}")
    times, other = by_differences()
    apart = [
        abs(log_cost(1.0, beta) - log_cost(1.0, by_equation.beta(t))) for t, beta in zip(times, other, strict=True)
    ]
    print(f"the two methods differ by at most {max(apart):.1e} in psi, T = {times[0]} to {times[-1]}")
    between = [abs(log_cost(1.0, by_equation.beta(t)) + t) for t in np.linspace(LAST, 3.0, 2000)]
    print(f"log_cost is off by at most {max(between):.1e} between T = {LAST} and 3")
    print("\n| x | psi(x) | 1/2 ln x + ln(4 sqrt(pi)) | x - 1/2 ln x + ln(2 sqrt(pi)) |\n|---:|---:|---:|---:|")
    for x in (0.001, 0.01, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 40.0):
        below = 0.5 * math.log(x) + math.log(4.0 * math.sqrt(math.pi))
        above = x - 0.5 * math.log(x) + math.log(2.0 * math.sqrt(math.pi))
        print(f"| {x:g} | {psi(math.sqrt(2.0 * x)):.5f} | {below:.5f} | {above:.5f} |")
    print("\n| n | S | -ln critical cost, Beta(1, 1) | index of Lai |\n|---:|---:|---:|---:|")
    records = [(n, s) for n in (10, 50, 200) for s in range(n // 2, n + 1, max(1, n // 25))]
    for (n, s), exact in zip(records, discrete_index(0.5, records), strict=True):
        if exact < 9.9:
            print(f"| {n} | {s} | {exact:.2f} | {lai_index(float(n), float(s), 0.5):.2f} |")


if __name__ == "__main__":
    main()
