"""A credential is found and removed although one of its characters is disguised."""

import json
from itertools import product
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate
from evaluation.sensitive.scanner import find_sensitive, may_contain_sensitive

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
CREDENTIALS = {
    "prefix": (KEY, KEY),
    "assigned": ("password=Tr0ub4dor3x", "Tr0ub4dor3x"),
    "link": ("https://me:hunter2x9@example.org", "hunter2x9"),
}
DISGUISES = {
    "soft hyphen": lambda text: f"{text[:6]}\u00ad{text[6:]}",
    "control character": lambda text: f"{text[:6]}\x00{text[6:]}",
    "zero width": "\u200b".join,
    "joiner": lambda text: f"{text[:9]}\u2060{text[9:]}",
    "full width": lambda text: "".join(chr(ord(char) + 0xFEE0) if char.isalnum() else char for char in text),
    "mathematical": lambda text: "".join(
        chr(ord(char) - ord("a") + 0x1D41A) if "a" <= char <= "z" else char for char in text
    ),
    "circled": lambda text: "".join(
        chr(ord(char) - ord("a") + 0x24D0) if "a" <= char <= "z" else char for char in text
    ),
    "mark": lambda text: f"{text[:9]}\u0301{text[9:]}",
    "URL-encoded": lambda text: quote(text, safe=""),
    "URL-encoded letter": lambda text: f"{text[:5]}%{ord(text[5]):02X}{text[6:]}",
}
PLACES = {
    "output": lambda text: {"final_output": f"Use {text} now."},
    "argument": lambda text: {
        "tool_calls": [{"name": "log", "args": {"line": text}}],
        "final_output": "Done.",
    },
    "result": lambda text: {"tool_calls": [{"name": "read", "result": text}], "final_output": "Done."},
    "name": lambda text: {"tool_calls": [{"name": "log", "args": {text: 1}}], "final_output": "Done."},
    "JSON in a text": lambda text: {"final_output": json.dumps({"line": text})},
}


def test_it_is_reported_and_not_shown(subtests):
    for place, disguise, credential in product(PLACES, DISGUISES, CREDENTIALS):
        with subtests.test(place=place, disguise=disguise, credential=credential):
            text, secret = CREDENTIALS[credential]
            disguised = DISGUISES[disguise](secret)
            whole = DISGUISES[disguise](text) if "URL" in disguise else text.replace(secret, disguised)
            report = evaluate({"agent_run": PLACES[place](whole), "thresholds": {"latency_ms": 1}})

            shown = report.model_dump_json()
            assert any(finding["id"].startswith("credentials.") for finding in report.audit_findings)
            assert secret not in shown
            assert disguised not in shown


def test_a_disguise_alone_is_no_finding(subtests):
    for text in [
        "a wide ＯＫ and a soft\u00adhyphen",
        "https://example.org/?q=one%20two%2Fthree",
        "a zero\u200bwidth",
    ]:
        with subtests.test(text=text):
            assert find_sensitive(text) == ()


@given(
    st.lists(
        st.sampled_from(["ghp_", "aB3dE6gH9jK2mN5p", "\u00ad", "%67", "ｇ", " ", "é", "%", "2"]), max_size=20
    )
)
def test_each_span_lies_in_the_text_and_the_quick_test_misses_none(parts):
    text = "".join(parts)
    spans = find_sensitive(text)

    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert not spans or may_contain_sensitive(json.dumps(text, ensure_ascii=False))
