from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.response_scores import MAX_CHARACTERS, find_lost_facts

NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMMERN = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig"
)
SAME = [
    ("Take 500mg.", "Take 500 mg."),
    ("It weighs five kilograms.", "It weighs 5 kg."),
    ("It takes 3 business days.", "It takes 3 days."),
    ("It takes 24 h.", "It takes 24 hours."),
    ("A $30 day pass", "A day pass for $30"),
    ("5 of them are ready.", "5 items are ready."),
    ("Es dauert 3 Tage.", "Es dauert drei Tage."),
    ("A refund is not possible.", "It is not possible to refund it."),
    ("It was cancelled and not refunded.", "It was cancelled, but it was not refunded."),
    ("We cannot change the order.", "The order cannot be changed."),
    ("It costs 1000 euros.", "It costs 1,000 euros."),
    ("It costs one thousand euros.", "It costs 1000 euros."),
    ("Es kostet 1.000 Euro.", "Es kostet 1000 Euro."),
    ("It costs 1\u202f000 \u20ac.", "It costs EUR 1000."),
    ("USD 5.50", "$5.5"),
    ("25 percent off", "25% off"),
    ("2.5 million people", "2,500,000 people"),
    ("the fifth floor", "the 5th floor"),
    ("einundzwanzig Taschen", "21 Taschen"),
    ("You fly on Nov 22, 2026.", "You fly on 2026-11-22."),
    ("You fly on 22 November 2026.", "You fly on the 22nd of November, 2026."),
    ("Am 22.11.2026", "Am 22. November 2026"),
    ("11/22/2026", "22.11.2026"),
    ("You fly on November 22.", "You fly on Nov 22, 2026."),
    ("at 3 pm", "at 15:00"),
    ("at 12:30 a.m.", "at 00:30"),
    ("MAIL A.B@EXAMPLE.COM", "mail a.b@example.com"),
    ("See https://example.com/a.", "See https://example.com/a"),
    ("You can't cancel it.", "You cannot cancel it."),
    ("Do not wait.", "Don\u2019t wait."),
    ("Room 7 is free, and so are 8 and 9.", "Room 7 is free."),
    ("I found an option.", "I found one option."),
    ("It leaves soon.", "It leaves on Monday."),
    ("A, B and C: 1, 2 and 3", "1, 2 and 3: A, B and C"),
]
CHANGED = [
    ("Take 500 g.", "Take 500 mg.", "number 500 mg"),
    ("It is 5 miles away.", "It is 5 km away.", "number 5 km"),
    ("It is five miles away.", "It is five kilometres away.", "number 5 kilometres"),
    ("Es dauert 3 Wochen.", "Es dauert 3 Tage.", "number 3 Tage"),
    ("It weighs 5 kg.", "It weighs 5 lbs.", "number 5 lbs"),
    ("Order 12346 is here.", "Order 12345 is here.", "number 12345"),
    ("Your order is here.", "Order 12345 is here.", "number 12345"),
    ("It costs 1,500 euros.", "It costs 1.5 euros.", "number 1.5"),
    ("Three bags", "two bags", "number 2"),
    ("It costs $30.", "It costs \u20ac30.", "number 30"),
    ("It rose by -5.", "It rose by 5.", "number 5"),
    ("on 23 Nov 2026", "on 22 Nov 2026", "date 22 Nov 2026"),
    ("on 22 Nov 2027", "on 22 Nov 2026", "date 22 Nov 2026"),
    ("on 2026-11-36", "on 2026-11-22", "date 2026-11-22"),
    ("on Tuesday", "on Monday", "weekday Monday"),
    ("at 3 am", "at 3 pm", "time 3 pm"),
    ("at 06:6 AM", "at 06:00 AM", "time 06:00 AM"),
    ("Flight HAT084", "Flight HAT083", "identifier HAT083"),
    ("Seat 12B", "Seat 12A", "identifier 12A"),
    ("Mail ab@example.com", "Mail a.b@example.com", "identifier a.b@example.com"),
    ("See https://example.com/b", "See https://example.com/a", "identifier https://example.com/a"),
    ("Open orders_2.csv", "Open orders.csv", "identifier orders.csv"),
    ("From JFK to LAX", "From JFK to SFO", "code SFO"),
    ("It is not here.", "It is here.", "negations"),
    ("It is here.", "It is not here.", "negations"),
    ("It isn't not here.", "It isn't here.", "negations"),
    ("Es ist nicht da.", "Es ist da.", "negations"),
    ("Es geht ohne Ticket.", "Es geht mit Ticket.", "negations"),
    ("It is n\u043et here.", "It is here.", "negations"),
    ("It is n\u200bot here.", "It is here.", "negations"),
    ("", "Order 12345 is here.", "number 12345"),
]


def test_the_same_facts_in_another_notation_are_not_lost(subtests):
    for output, reference in SAME:
        with subtests.test(output=output, reference=reference):
            assert find_lost_facts(output, reference) == []


def test_a_changed_fact_is_named(subtests):
    for output, reference, named in CHANGED:
        with subtests.test(output=output, reference=reference, named=named):
            assert any(named in lost for lost in find_lost_facts(output, reference))


def test_a_number_up_to_twenty_may_be_written_in_words(subtests):
    for value, english, german in [*zip(range(21), NUMBERS.split(), NUMMERN.split(), strict=True)]:
        with subtests.test(value=value, english=english, german=german):
            assert find_lost_facts(f"the answer is {english}", f"the answer is {value}") == []
            assert find_lost_facts(f"die Antwort ist {german}", f"die Antwort ist {value}") == []
            assert find_lost_facts(f"the answer is {english}", f"the answer is {value + 1}") != []


def test_texts_that_are_too_long_are_not_compared():
    text = "word " * MAX_CHARACTERS

    assert find_lost_facts(text, text) == []
    assert "not compared" in find_lost_facts(text, "word")[0]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(output, reference):
    assert find_lost_facts(output, output) == []
    assert all(isinstance(lost, str) for lost in find_lost_facts(output, reference))


@given(st.text(alphabet="0123456789 .,:/-aA$%eE", max_size=60))
def test_a_text_has_its_own_facts(text):
    assert find_lost_facts(f"{text} ", text) == []
