import json

import pytest

from evaluation import find_trust, save_trust
from evaluation.judges import figures
from evaluation.judges.figures import compute_trust, load_labelled_set

JUDGE = "a.Judge 0123 model https://host.example/v1"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return figures.get_trust_folder()


def perfect(judge=JUDGE):
    verdicts = [
        (output.kind, "accepted" if output.kind == "right" else "refused") for output in load_labelled_set()
    ]
    return compute_trust(judge, verdicts)


def test_saved_figures_are_found_again(folder):
    file = save_trust(perfect())

    assert file.parent == folder
    assert find_trust(JUDGE) == perfect()
    assert find_trust(JUDGE).trusted


def test_a_judge_that_was_not_measured_has_no_figures(subtests):
    for name in [None, "", "another judge", JUDGE.upper()]:
        with subtests.test(name=name):
            save_trust(perfect())

            assert find_trust(name) is None


def test_later_figures_replace_earlier_ones_and_leave_no_other_file(folder):
    save_trust(perfect())
    later = compute_trust(JUDGE, [("right", "refused"), ("subtle", "accepted")])
    save_trust(later)

    assert find_trust(JUDGE) == later
    assert len(list(folder.iterdir())) == 1


def change(file, **fields):
    stored = json.loads(file.read_text())
    figures = {**stored["figures"], **fields.pop("figures", {})}
    file.write_text(json.dumps({**stored, "figures": figures, **fields}))


NONE = {"accepted": 0, "refused": 0, "needs_review": 0}
EMPTY = dict.fromkeys(["right", "subtle", "plain", "injected"], NONE)


def test_impossible_or_unknown_content_is_no_measurement(subtests):
    for fields in [
        {"figures": {"counts": {**EMPTY, "subtle": {**NONE, "refused": -1}}}},
        {"figures": {"counts": {**EMPTY, "subtle": {**NONE, "refused": "40"}}}},
        {"figures": {"counts": {kind: NONE for kind in EMPTY if kind != "injected"}}},
        {"figures": {"counts": {**EMPTY, "trusted": NONE}}},
        {"figures": {"name": "another judge"}},
        {"figures": {"trusted": True}},
        {"set_version": "0" * 12},
        {"format": 1},
    ]:
        with subtests.test(fields=fields):
            change(save_trust(perfect()), **fields)

            assert find_trust(JUDGE) is None


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null"])
def test_a_damaged_file_is_no_measurement_and_is_logged(content, caplog):
    save_trust(perfect()).write_bytes(content)

    assert find_trust(JUDGE) is None
    assert "cannot be read" in caplog.text


def test_damaged_figures_of_the_user_do_not_hide_the_shipped_ones(monkeypatch, tmp_path):
    file = save_trust(perfect())
    monkeypatch.setattr(figures, "_SHIPPED", tmp_path / "shipped")
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / file.name).write_bytes(file.read_bytes())
    file.write_text("{")

    assert find_trust(JUDGE) == perfect()
