"""p-values of many tests are adjusted for their number."""

from __future__ import annotations

import pytest

from evaluation.reporting.arm_figures import adjust_p_values


def test_p_values_of_many_tests_are_adjusted():
    assert adjust_p_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert adjust_p_values([]) == []
