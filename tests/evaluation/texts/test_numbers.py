from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from evaluation.texts.numbers import is_near, read_values

READINGS = [
    ("1786", ["1786"]),
    ("1,786", ["1786"]),
    ("1.786", ["1786", "1.786"]),
    ("1.786,50", ["1786.50"]),
    ("1,786.50", ["1786.50"]),
    ("$1 786", ["1786"]),
    ("1\u202f786,5", ["1786.5"]),
    ("1'786.50", ["1786.50"]),
    ("1,23,456", ["123456"]),
    ("1.234.567", ["1234567"]),
    ("0,786", ["0.786"]),
    ("12.50", ["12.50"]),
    ("25 %", ["25", "25e-2"]),
    ("-5", ["-5"]),
    ("\u22125", ["-5"]),
    ("-$5.20", ["-5.20"]),
    ("10-20", ["10", "20"]),
    ("(7)-5", ["7", "5"]),
    ("2024-01-05", ["2024"]),
    ("1.2.3", ["1", "2", "3"]),
    ("12 345 6", ["12345", "6"]),
    ("1.5E-3", ["1.5E-3"]),
    ("1e9999", ["1"]),
    (".5 or -.5", [".5", "-.5"]),
    (" .1.5", ["1.5"]),
    ('"a",2.5,"b",25', ["2.5", "25"]),
    ("合計1786円", ["1786"]),
    ("１，７８６．５０", ["1786.50"]),
    ("١٬٧٨٦٫٥", ["1786.5"]),
    ("USD1786, 5km", ["1786", "5"]),
    ("GPT4 v1.5 x_1 T1000", []),
    ("½ of 10²", ["0.5", "1e2"]),
    ("no number", []),
    (f"{'word ' * 100}5", ["5"]),
    ("9" * 330, ["9" * 330]),
    ("9" * 331, []),
]


def test_a_number_is_read_in_every_common_way(subtests):
    for text, readings in READINGS:
        with subtests.test(text=text, readings=readings):
            assert list(read_values(text)) == [*map(Decimal, readings)]


def test_a_number_is_compared_in_decimal_within_the_tolerance(subtests):
    for text, number, tolerance, stated in [
        ("The total is $1,786.50.", 1786.5, 0.0, True),
        ("The total is $1,786.50.", 1786.0, 0.5, True),
        ("The total is $1,786.50.", 1786.0, 0.49, False),
        ("about 1.01", 1.0, 0.01, True),
        ("about 1.0100000001", 1.0, 0.01, False),
        ("1000000001", 1000000000.0, 0.0, False),
        ("0.1", 0.1, 0.0, True),
        ("25 %", 0.25, 0.0, True),
        ("25 %", 25.0, 0.0, True),
        ("minus: -5", 5.0, 0.0, False),
        ("-0", 0.0, 0.0, True),
        ("1e999", 1e308, 0.0, False),
        ("nothing", 0.0, 1000.0, False),
    ]:
        with subtests.test(text=text, number=number, tolerance=tolerance):
            assert any(is_near(value, number, tolerance) for value in read_values(text)) is stated


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(alphabet="ab .,:\n", max_size=5))
def test_a_number_written_as_python_writes_it_is_found(number, around):
    assert any(is_near(value, number, 0.0) for value in read_values(f"{around} {number!r} {around}"))
