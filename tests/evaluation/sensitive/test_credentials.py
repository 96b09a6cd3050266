import sysconfig
from pathlib import Path

import pytest
from pydantic_core import to_json

from evaluation.sensitive.scanner import find_sensitive, list_suspects
from tests.evaluation.sensitive.labelled.harmless import CODE, build_harmless
from tests.evaluation.sensitive.labelled.kinds import KINDS, build_samples
from tests.sampling import sample_table

LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def find_credentials(text):
    spans = [span for span in find_sensitive(text) if span.category == "credential"]
    return [(text[span.start : span.end], span.kind) for span in spans]


def is_found(sample):
    value = sample.values[0]
    start = sample.text.rindex(value)
    inner = start + len("https://host.example.com/") if value.startswith("https://") else start
    spans = [span for span in find_sensitive(sample.text) if span.category == "credential"]
    return any(span.start <= inner and span.end >= start + len(value) for span in spans)


def test_credentials_of_a_hundred_kinds_are_found():
    samples = build_samples()
    missed = [sample.kind for sample in samples if not is_found(sample)]

    assert len(KINDS) >= 100
    assert len(missed) / len(samples) <= 0.02, missed


def test_the_prefilter_lets_no_kind_pass():
    texts = [sample.text for sample in build_samples(seed=2) if is_found(sample)]

    assert [text for text in texts if not list_suspects(to_json([text]).decode())] == []


def test_at_most_one_in_a_hundred_harmless_strings_raises_an_alarm():
    texts = build_harmless()
    alarms = [text for text in texts if find_credentials(text)]

    assert len(texts) > 1000
    assert len(alarms) / len(texts) <= 0.01, alarms


def test_code_that_mentions_a_credential_holds_none(subtests):
    for line in CODE:
        with subtests.test(line=line):
            assert find_credentials(line) == []
            assert find_credentials(f"def f():\n    {line}\n") == []


def test_a_value_that_is_written_out_is_found(subtests):
    for line, value in [
        ('password = "hunter2real"', "hunter2real"),
        ("    self.password = 'hunter2real'", "hunter2real"),
        ("connect(user='joe', password='sunshine')", "sunshine"),
        ('TOKEN: Final = "a1B2c3D4e5F6g7H8"', "a1B2c3D4e5F6g7H8"),
        ("api_key=os.environ.get('API_KEY', 'a1B2c3D4e5F6g7H8')", None),
        ('{"password": "%w?9Q/]dw$c"}', "%w?9Q/]dw$c"),
        ("DB_PASSWORD=vK3(x9[z", "vK3(x9[z"),
        ("export DB_PASSWORD=correct_horse", "correct_horse"),
        ("$password = 'geheim77';", "geheim77"),
        ("machine host\n  login anna\n  password hunter2real", "hunter2real"),
        ("mysql -u root -phunter2real shop", "hunter2real"),
        ("docker login -u anna -p hunter2real", "hunter2real"),
        ('{"auth": "YW5uYTpodW50ZXIycmVhbA=="}', "YW5uYTpodW50ZXIycmVhbA=="),
        ('<add key="ClearTextPassword" value="hunter2real" />', "hunter2real"),
        ("https://a1B2c3D4e5F6g7H8i9@git.example.com/x.git", "a1B2c3D4e5F6g7H8i9"),
    ]:
        with subtests.test(line=line):
            assert [literal for literal, _ in find_credentials(line)] == ([] if value is None else [value])


def test_the_standard_library_raises_no_alarm():
    others = {"site-packages", "test", "tests"}
    paths = [path for path in sorted(LIBRARY.rglob("*.py")) if not others & {*path.parts}]
    alarms = {path.name: found for path in paths[::20] if (found := find_credentials(read(path)))}

    assert len(paths) > 500
    assert alarms == {}


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    "units",
    sample_table(
        ["password = foo_bar ", "token: abc12def, ", "curl x ", "authorization: x ", "key abcd "], every=4
    ),
)
def test_one_long_line_takes_time_in_proportion(subtests, units):
    for unit in units:
        with subtests.test(unit=unit):
            assert len(find_sensitive(unit * 20_000)) <= 20_000
