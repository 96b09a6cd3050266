from evaluation.texts.normal import show_hidden


def test_a_hidden_character_is_shown_by_its_code(subtests):
    for text, shown in [
        ("a\u202eb", "a[U+202E]b"),
        ("\u2067a\u2069", "[U+2067]a[U+2069]"),
        ("pay\u200bpal", "pay[U+200B]pal"),
        ("pay\u200dpal", "pay[U+200D]pal"),
        ("x\U000e0041", "x[U+E0041]"),
        ("x\ufe05", "x[U+FE05]"),
        ("\U0001f600\U000e0041", "\U0001f600[U+E0041]"),
        ("a\u00adb", "a[U+00AD]b"),
        ("a\u2028b", "a[U+2028]b"),
        ("a\x1b[1m", "a[U+001B][1m"),
        ("a\x7f", "a[U+007F]"),
        ("\u2800", "[U+2800]"),
        ("\ud800", "[U+D800]"),
    ]:
        with subtests.test(text=text):
            assert show_hidden(text) == shown


def test_what_a_reader_sees_or_a_script_needs_stays(subtests):
    for text in [
        *("plain", "two\nlines\tand a tab", "Ünïcödé", "שלום", "Zażółć e\u0301"),
        *("می\u200cخواهم", "क्\u200dष", "\u2764\ufe0f", "1\ufe0f\u20e3"),
        *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd"),
    ]:
        with subtests.test(text=text):
            assert show_hidden(text) == text
