"""Durations, ages and times, as users type them."""

from datetime import UTC, datetime, timedelta

import pytest
import typer

from orchestrator.cli.options.durations import parse_age, parse_seconds, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0.5", 0.5),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("30d", 2_592_000),
        ("1w", 604_800),
    ],
)
def test_a_duration_is_a_number_with_a_unit_and_seconds_without_one(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "-1", "-5m", "5 m", "5x", "nan", "inf", "1e3", "m", "٣m", "1e9d", "9" * 20 + "d"]
)
def test_what_is_no_duration_is_refused_with_what_is(text):
    with pytest.raises(typer.BadParameter, match=r"is not accepted; give a (time above 0|duration)"):
        parse_seconds(text)


def test_an_age_needs_its_unit():
    assert parse_age("30d") == timedelta(days=30)
    with pytest.raises(
        typer.BadParameter, match="give a duration with its unit, such as 90s, 5m, 12h or 30d"
    ):
        parse_age("30")


def test_a_time_is_an_age_or_a_date():
    assert datetime.now(UTC) - parse_time("12h") < timedelta(hours=12, minutes=1)
    assert parse_time("2026-01-31T12:00").hour == 12
