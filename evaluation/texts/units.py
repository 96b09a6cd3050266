"""The names of currencies and measures in English and German."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import Final

CURRENCIES: Final = {
    name: unit
    for unit, names in {
        "%": "% percent prozent",
        "cent": "cent cents ct pence",
        "USD": "$ usd dollar dollars",
        "EUR": "€ eur euro euros",
        "GBP": "£ gbp pound pounds",
        "JPY": "¥ jpy yen",
        "CHF": "chf franken",
        "INR": "₹ inr rupees",
    }.items()
    for name in names.split()
}
"""The currency (ISO 4217), or per cent, by each of its names in lower case."""
MEASURES: Final = {
    name: unit
    for unit, names in {
        "µg": "µg μg ug mcg microgram micrograms mikrogramm",
        "mg": "mg milligram milligrams milligramm",
        "g": "g gram grams gramm",
        "kg": "kg kilo kilos kilogram kilograms kilogramm",
        "t": "t tonne tonnes tonnen",
        "oz": "oz ounce ounces unze unzen",
        "lb": "lb lbs",
        "mm": "mm millimeter millimeters millimetre millimetres millimetern",
        "cm": "cm centimeter centimeters centimetre centimetres zentimeter zentimetern",
        "m": "m meter meters metre metres metern",
        "km": "km kilometer kilometers kilometre kilometres kilometern",
        "mi": "mi mile miles meile meilen",
        "ft": "ft foot feet",
        "inch": "inch inches zoll",
        "yd": "yd yard yards",
        "ml": "ml milliliter milliliters millilitre millilitres",
        "l": "l liter liters litre litres litern",
        "gal": "gal gallon gallons gallone gallonen",
        "km/h": "km/h kmh kph",
        "mph": "mph",
        "°C": "°c",
        "°F": "°f",
        "kB": "kb kilobyte kilobytes",
        "MB": "mb megabyte megabytes",
        "GB": "gb gigabyte gigabytes",
        "TB": "tb terabyte terabytes",
        "kW": "kw kilowatt",
        "kWh": "kwh",
        "ms": "ms millisecond milliseconds millisekunde millisekunden",
        "s": "s sec secs second seconds sekunde sekunden",
        "min": "min mins minute minutes minuten",
        "h": "h hr hrs hour hours std stunde stunden",
        "day": "day days tag tage tagen",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
    }.items()
    for name in names.split()
}
"""The measure by each of its names, in lower case."""
_CURRENCY_UNITS: Final = frozenset(CURRENCIES.values())
_AMBIGUOUS: Final = {"GBP", "lb"}
"""Both are called pounds."""
_SCALES: Final = {
    unit: (base, Decimal(size)) for unit, (base, size) in {
        "ms": ("s", "0.001"), "min": ("s", "60"), "h": ("s", "3600"), "day": ("s", "86400"),
        "week": ("s", "604800"), "µg": ("g", "1e-6"), "mg": ("g", "0.001"), "kg": ("g", "1000"),
        "t": ("g", "1e6"), "mm": ("m", "0.001"), "cm": ("m", "0.01"), "km": ("m", "1000"),
        "ml": ("l", "0.001"), "MB": ("kB", "1e3"), "GB": ("kB", "1e6"), "TB": ("kB", "1e9"),
    }.items()
}  # fmt: skip
"""The measures that another measure may stand for, with the number of it."""
_ONE: Final = Decimal(1)
_MONEY: Final = "money"
"""The unit of an amount whose currency is not known."""
_MONEY_FIELDS: Final = (
    "price", "cost", "costs", "fee", "fare", "rent", "salary", "revenue", "income", "budget",
    "balance", "deposit", "refund", "preis", "kosten", "gebühr", "betrag", "miete", "umsatz",
)  # fmt: skip
_TIMES: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})
"""As the name of a field, a single one tells when, and not how long."""
_FIELD_UNITS: Final = {
    **{name: unit for name, unit in (CURRENCIES | MEASURES).items() if name not in _TIMES},
    **dict.fromkeys(_MONEY_FIELDS, _MONEY),
    "pct": "%",
}


@lru_cache(1024)
def agree_units(first: str | None, second: str | None) -> bool:
    """Return whether two units may be the same; a number without a unit may have any."""
    units = {first, second}
    is_money = _MONEY in units and not units.isdisjoint(_CURRENCY_UNITS) and "%" not in units
    return None in units or len(units) == 1 or units == _AMBIGUOUS or is_money


def is_money(unit: str | None) -> bool:
    """Return whether a unit is a currency, perhaps an unknown one."""
    return unit == _MONEY or (unit != "%" and unit in _CURRENCY_UNITS)


def is_hundredth(unit: str | None) -> bool:
    """Return whether a number with a unit may be written as a hundred times as much: 5 % are 0.05."""
    return unit in ("%", "cent")


def is_measured(unit: str | None) -> bool:
    """Return whether a unit is known, and no share."""
    return unit is not None and unit != "%"


def scale_unit(value: Decimal, unit: str | None, target: str | None) -> Decimal | None:
    """Return a value in another unit; None if the units measure different things."""
    if agree_units(unit, target):
        return value
    first, size = _SCALES.get(unit or "", (unit, _ONE))
    second, other = _SCALES.get(target or "", (target, _ONE))
    return value * size / other if first == second else None


def read_field_unit(words: Sequence[str]) -> str | None:
    """Return the unit that the words of a field's name state, such as EUR of total_eur; None if none."""
    plain = words[: words.index("per")] if "per" in words else words
    # "min" alone is a minimum, and a letter alone may be anything.
    sure = [word for at, word in enumerate(plain) if at or (len(word) > 1 and word != "min")]
    # mg_l are milligrams in a litre.
    units = [*takewhile(_FIELD_UNITS.get, dropwhile(lambda word: word not in _FIELD_UNITS, sure[::-1]))]
    return _FIELD_UNITS[units[-1]] if units else None
