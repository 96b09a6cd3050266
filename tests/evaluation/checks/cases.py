# ruff: noqa: E501
"""For each kind of check: a check, texts that fulfil it, and texts that do not."""

from evaluation.checks import CheckContext, read_checks

G, Z, A, E = "Über den Wolken.", "你好，世界。", "مرحبا بالعالم.", "Hello 👩‍👩‍👧 😀."

CASES = [
    ({"check": "word_count", "exactly": 4}, ["one two three four", "a well-known word too", "Wir essen drei Äpfel.", "你好世界", "😀 it's a well 🎉"], [G, Z + Z, A, E, ""]),
    ({"check": "word_count", "min": 2, "max": 3}, ["one two", G, A, "one 😀 two"], ["one", Z, "a b c d"]),
    ({"check": "sentence_count", "exactly": 2}, ["Dr. Sun is here. Who knows?", "Am 5. Mai kam Dr. Müller. Gut!", "你好。再见！", "مرحبا. كيف حالك؟", "Hi! 😀 Bye!", "Title\n\nOne. Two."], ["One.", Z, "A. B. C."]),
    ({"check": "paragraph_count", "exactly": 2}, ["a\n\nb", "Ä\n \nÖ\n\n***", "你\n\n好", "نعم\n\nلا", "😀\n\n\n😀"], ["a\nb", "a\n\nb\n\nc"]),
    ({"check": "line_count", "exactly": 2}, ["a\nb", "ä\r\nö", "你\n\n好", "نعم\nلا", "😀\n😀\n"], ["a", "a\nb\nc"]),
    ({"check": "character_count", "exactly": 4}, ["abcd", "Äöüß", "你好世界", "سلام", "👩‍👩‍👧a😀b", " abcd\n"], ["abc", "abcde"]),
    ({"check": "character_count", "max": 4, "spaces": False}, ["a b c d", "ä ö", "你 好", "سلام", "😀 😀"], ["a b c d e"]),
    ({"check": "occurrences", "text": "ä", "whole_words": False, "exactly": 2}, ["Ähre, spät"], ["spat", G, Z, A, E]),
    ({"check": "occurrences", "text": "好", "whole_words": False, "min": 1}, [Z, "好 Straße نعم 😀"], [G, A, E]),
    ({"check": "occurrences", "text": "cat", "exactly": 2}, ["Cat, cat and category 😀", "Die cat – cat! für 你 نعم"], ["cat", "cats cat"]),
    ({"check": "occurrences", "text": "世界", "min": 2}, ["你好世界，世界很大"], [Z, G, A, E]),
    ({"check": "occurrences", "text": "cat", "whole_words": False, "min": 2}, ["category cats"], ["cat", "dog"]),
    ({"check": "contains", "texts": ["Äpfel", "世界", "سلام", "😀"]}, ["äpfel 你好世界 سلام 😀!"], ["Äpfel", G, Z, A, E]),
    ({"check": "contains", "texts": ["red", "green", "blue"], "at_least": 2}, ["Red and blue 😀", "GREEN, red: für 你 نعم"], ["red, redder", "none"]),
    ({"check": "excludes", "texts": ["bad", "世界", "سيء", "💩"]}, ["badly good", G, A, E, "你好"], ["Bad!", Z, "هذا سيء", "💩"]),
    ({"check": "excludes", "texts": ["forbidden"]}, ["**for** *bidden* guests", "for * bidden", "for_bid_den", "for<br>bidden", "2*3 ä 你 نعم 😀"], ["for**bid**den", "for<!-- x -->bidden", "for<b>bid</b>den", "forb&#105;dden", "f~~o~~rbidden", "for\u200bbidden"]),
    ({"check": "one_of", "options": ["Ja", "Nein", "نعم", "是", "😀"]}, ["ja.", "**Nein**", "نعم", "是", "😀"], ["vielleicht", "ja und nein", "Ja. Nein."]),
    ({"check": "one_of", "options": ["no", "no opinion"], "alone": True}, ["No opinion.", "no"], ["no, no opinion"]),
    ({"check": "one_of", "options": ["yes", "no"], "alone": True}, ["Yes.", '"no"'], ["yes, because 😀", "maybe", "Ünde 你 نعم"]),
    ({"check": "starts_with", "text": "Grüße"}, ["Grüße an alle", '"grüße!"', "**Grüße** 😀"], ["Grüßen", "An Grüße", Z, A]),
    ({"check": "ends_with", "text": "Any questions?"}, ["Text. any  questions?", 'So: "Any questions?"', "Ä 你 نعم 😀 Any questions?"], ["Any questions? Bye", "questions?"]),
    ({"check": "letter_case", "style": "upper"}, ["ALL ÜBER 😀", "A 你 نعم"], ["All", "STRAßE"]),
    ({"check": "letter_case", "style": "lower"}, ["all über 😀", "a 你 نعم"], ["All", "x Ü"]),
    ({"check": "language", "code": "de"}, ["Das ist ein ganz normaler Satz auf Deutsch.", "ÜBER DEN WOLKEN MUSS DIE FREIHEIT WOHL GRENZENLOS SEIN 😀"], ["This is an English sentence.", "今天天气很好。", "الطقس جميل جدا اليوم."]),
    ({"check": "language", "code": "zh"}, ["今天天气很好，我们去公园。😀"], ["Das ist ein Satz auf Deutsch.", "今日はとても天気がいいです。"]),
    ({"check": "language", "code": "ar"}, ["الطقس جميل جدا اليوم 😀."], ["امروز هوا خیلی خوب است و ما به پارک می‌رویم."]),
    ({"check": "excludes", "texts": [","]}, [G, "你好世界", "نعم، لا", "😀!"], ["a, b", "ä,ö", "你好，世界"]),
    ({"check": "contains", "texts": [";"]}, ["a; b", "ä;你;نعم;😀"], ["a"]),
    ({"check": "heading_count", "exactly": 2}, ["# A\n\ntext\n\n## Über", "# 你\n# نعم", "Title 😀\n===\n\nSub\n---"], ["#A", "# One"]),
    ({"check": "list_item_count", "exactly": 2}, ["- a\n- ü", "1. 你\n2. نعم", "* 😀\n  * b", "• a\n• b"], ["-a\n-b", "- a", "---\n***", "*a* b\n*c* d"]),
    ({"check": "json"}, ['{"ü": "你"}', '```json\n["نعم", "😀"]\n```', "1"], ["{'a': 1}", "Here: {}", "NaN", "", "[" * 10_000, '{"a"\u200b: 1}', '{"a"\x00: 1}']),
    ({"check": "json", "root": "object", "keys": ["ü"], "fence": False}, ['{"ü": "你 نعم 😀"}'], ["[]", "{}", '```\n{"ü": 1}\n```']),
    ({"check": "json", "root": "array", "keys": ["a"]}, ['[{"a": "ü你نعم😀"}]'], ['[{"a": 1}, {}]', "[1]", "[]"]),
    ({"check": "schema", "json_schema": {"type": "object", "required": ["ü"]}}, ['{"ü": "你 نعم 😀"}'], ["[]", "{}", "no"]),
    ({"check": "table", "columns": 2, "rows": 1}, ["|ü|你|\n|---|:-:|\n|نعم|😀|", "a | b\n--- | ---\n1 | 2"], ["|a|b|\n|1|2|", "|a|b|\n|--|--|\n", "a\n---\n"]),
    ({"check": "table", "use": "absent"}, [G, Z, A, E, "a | b", "- x\n- y", "1 | 2\n3 | 4", "Either|or: |x|"], ["|ü|你|\n|---|---|\n|نعم|😀|", "a | b\n--- | ---\n1 | 2", "> | a | b |\n> |---|---|", "- | a | b |\n  |---|---|", "| a | b |\n| c | d |", "<table><tr><td>a</td></tr></table>", "+---+---+\n| a | b |\n+---+---+", "│ a │ b │"]),
    ({"check": "markdown", "use": "absent"}, [G, Z, A, E, "1. a\n2. ü", "snake_case, a_b_c and 2 * 3 * 4", "• 你\n• نعم", "#hashtag 5-3 – 😀", "Name: ____ and ____", "https://example.org/a", "a `b' c", "1 | 2", "price*\n\n*with tax", "[10:05]: hi there", "<b>a</b>", "~5 to ~10", "-5 degrees\n+49 30"], ["# Ü", "#", "Title\n===", "a\n-", "**你**", "这是**重要**的", "*نعم*", "_a_", "__init__", "5*3*2", "**a\nb**", "- one dash", "+ a", "1. - a", "1. # a", "-", "```\nx\n```", "```x", "~~~", "`x`", "``a ` b``", "|a|\n|-|", "a | b\n--- | ---", "[a](b)", "![a](b.png)", "[a][b]\n\n[b]: https://c.de", "x[^1]", "<https://a.de>", "> a", ">a", "***", "a\n\n- - -\n\nb", "~~a~~", "😀 **b**", "\\*a\\*", ""]),
    ({"check": "regex", "pattern": "(?i)^über|你|نعم|😀"}, [G, Z, "نعم", E], ["a"]),
    ({"check": "regex", "pattern": "[0-9]", "matches": False}, [G, Z, A, E], ["1"]),
    ({"check": "states_number", "number": 1250}, ["It costs 1,250 €.", "Es kostet 1.250,00 € für Äpfel", "价格是1250元", "السعر ١٢٥٠ 😀"], ["12500", "1251", "A1250", G, Z, A, E]),
    ({"check": "states_number", "number": 3, "tolerance": 0.5}, ["3.5", "ü 2,5 你 نعم 😀"], ["3.6"]),
    ({"check": "states_number", "number": 7, "present": False}, [G, Z, A, E, "17"], ["7", "7.0"]),
    ({"check": "schema", "json_schema": {"required": ["ü"]}, "alone": False}, ['Text 你 نعم 😀:\n```json\n{"ü": 1}\n```'], ['Text: {"ü": 1}', "{}", "text"]),
]  # fmt: skip

UNKNOWN = [
    ({"check": "word_count", "exactly": 3}, "สวัสดีครับ ผมชื่อสมชาย"),
    ({"check": "letter_case", "style": "upper"}, "你好"),
    ({"check": "letter_case", "style": "lower"}, "مرحبا"),
    ({"check": "language", "code": "de"}, "123 😀"),
]


def evaluate(data, output, task=""):
    (check,) = read_checks([data])
    return check.evaluate(CheckContext(output, task))
