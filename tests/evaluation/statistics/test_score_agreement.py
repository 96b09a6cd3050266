"""Agreement of scores."""

from __future__ import annotations

import sys

import pytest

from evaluation.statistics.score_agreement import score_agreement

# Scores of two raters for ten items.
PAIRS = [(1, 1), (2, 2), (3, 3), (3, 4), (2, 1), (5, 5), (4, 4), (1, 2), (2, 2), (5, 4)]


def test_weighted_kappa_is_one_minus_the_share_of_squared_differences():
    result = score_agreement(PAIRS)
    observed = sum((a - b) ** 2 for a, b in PAIRS) / len(PAIRS)
    chance = sum((a - b) ** 2 for a, _ in PAIRS for _, b in PAIRS) / len(PAIRS) ** 2
    assert result.weighted_kappa == pytest.approx(1 - observed / chance)


def test_alpha_is_one_minus_observed_over_expected_disagreement():
    pooled = [score for pair in PAIRS for score in pair]
    observed = sum((a - b) ** 2 for a, b in PAIRS) / len(PAIRS)
    expected = sum((a - b) ** 2 for a in pooled for b in pooled) / (len(pooled) * (len(pooled) - 1))
    assert score_agreement(PAIRS).krippendorff_alpha == pytest.approx(1 - observed / expected)


def test_scores_need_not_be_whole_numbers():
    result = score_agreement([(1.5, 1.5), (2.25, 2.25), (4.0, 4.0)])
    assert (result.weighted_kappa, result.krippendorff_alpha) == (1.0, 1.0)


@pytest.mark.parametrize("pairs", [[], [(3, 3)], [(3, 3)] * 9])
def test_a_single_score_shows_no_agreement(pairs):
    result = score_agreement(pairs)
    assert (result.weighted_kappa, result.krippendorff_alpha) == (None, None)
    assert "two different scores" in result.reason


@pytest.mark.parametrize(
    ("module", "library"),
    [("statsmodels.stats.inter_rater", "statsmodels"), ("krippendorff", "krippendorff")],
)
def test_without_a_library_the_reason_names_what_to_install(monkeypatch, module, library):
    monkeypatch.setitem(sys.modules, module, None)
    result = score_agreement(PAIRS)
    assert (result.pairs, result.weighted_kappa) == (10, None)
    assert library in result.reason
    assert "pip install scipy statsmodels krippendorff" in result.reason
