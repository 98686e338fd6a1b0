# SPDX-License-Identifier: MIT
"""Medians and differences with exact rank intervals; nothing but the standard library.

Design of the benchmarks: blocks in which every condition runs once, in random order; a condition is
compared with another by the differences inside the blocks (drift of the machine cancels).
"""
import math
import sys


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2


def median_interval(values, level=0.95):
    """Order-statistic interval of the median: (low, high, level reached). No shape is assumed."""
    values = sorted(values)
    n = len(values)
    k, tail = 0, 0.0
    while k < n // 2:
        more = tail + math.comb(n, k) / 2 ** n
        if more > (1 - level) / 2:
            break
        tail, k = more, k + 1
    if k == 0:  # too few values for the level: the whole range, with the level it has
        return values[0], values[-1], 1 - 2 / 2 ** n
    return values[k - 1], values[n - k], 1 - 2 * tail


def signed_rank_rank(n, level=0.95):
    """Rank k of the Walsh average that bounds the Hodges-Lehmann interval; 0 if n is too small."""
    total = n * (n + 1) // 2
    counts = [1] + [0] * total
    for rank in range(1, n + 1):
        for t in range(total, rank - 1, -1):
            counts[t] += counts[t - rank]
    k, tail = 0, 0.0
    while True:
        tail += counts[k] / 2 ** n
        if tail > (1 - level) / 2:
            return k
        k += 1


def hodges_lehmann(differences):
    """(centre, low, high): pseudo-median of paired differences and its exact 95 % signed-rank
    interval; with fewer than 6 pairs no such interval exists and low and high are None."""
    n = len(differences)
    walsh = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    k = signed_rank_rank(n)
    if k == 0:
        return median(walsh), None, None
    return median(walsh), walsh[k - 1], walsh[len(walsh) - k]


def ratio(after, before):
    """Paired ratio as (percent change, low, high): differences of logarithms."""
    centre, low, high = hodges_lehmann([math.log(b) - math.log(a) for a, b in zip(before, after)])

    def percent(x):
        return None if x is None else 100 * math.expm1(x)
    return percent(centre), percent(low), percent(high)


def interval_text(triple, digits=1, unit="", sign=True):
    """'+1.5 % [+1.0, +2.1]'; 'n < 6' where there is no interval."""
    centre, low, high = triple
    form = f"{{:{'+' if sign else ''}.{digits}f}}"
    text = form.format(centre) + unit
    if low is None:
        return text + " [n < 6]"
    return text + f" [{form.format(low)}, {form.format(high)}]"


def spread_text(values, scale=1.0, digits=2):
    """'median [low, high]' with the order-statistic interval."""
    low, high, _ = median_interval(values)
    return f"{median(values) * scale:.{digits}f} [{low * scale:.{digits}f}, {high * scale:.{digits}f}]"


def self_test():
    assert median([3, 1, 2]) == 2 and median([4, 1, 2, 3]) == 2.5
    # Published: n = 10: ranks 2 and 9 cover 97.9 %; n = 5: the range covers 93.75 %.
    low, high, level = median_interval(range(1, 11))
    assert (low, high) == (2, 9) and abs(level - 0.978515625) < 1e-12, (low, high, level)
    assert median_interval([1, 2, 3, 4, 5])[:2] == (1, 5)
    # Critical values of the signed-rank test, two-sided 5 %: T <= 0 at n = 6, 8 at n = 10, 52 at 20.
    assert [signed_rank_rank(n) for n in (5, 6, 10, 20)] == [0, 1, 9, 53]
    assert hodges_lehmann([1.0] * 10) == (1, 1, 1)
    assert hodges_lehmann([1, 2, 3])[1] is None
    centre, low, high = ratio([110.0] * 6, [100.0] * 6)
    assert abs(centre - 10) < 1e-9 and abs(low - 10) < 1e-9 and abs(high - 10) < 1e-9


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
