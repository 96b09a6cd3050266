"""Where the figures of a judge are kept, and that a damaged or a hostile file is no measurement."""

import json
import threading
from pathlib import Path

import pytest

from evaluation import ContractError, find_trust, save_trust
from evaluation.judges.trust import trust_files
from evaluation.judges.trust.figures import compute_trust
from evaluation.judges.trust.labelled_set import load_labelled_set

JUDGE = "a.Judge 0123 model https://host.example/v1"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return trust_files.get_trust_folder()


def perfect(judge=JUDGE):
    verdicts = [
        (output.kind, "accepted" if output.kind == "right" else "refused") for output in load_labelled_set()
    ]
    return compute_trust(judge, verdicts)


def change(file, **fields):
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def test_saved_figures_are_found_again(folder):
    file = save_trust(perfect())

    assert file.parent == folder
    assert find_trust(JUDGE) == perfect()
    assert find_trust(JUDGE).trusted


@pytest.mark.parametrize("name", [None, "", "another judge", JUDGE.upper()])
def test_a_judge_that_was_not_measured_has_no_figures(name):
    save_trust(perfect())

    assert find_trust(name) is None


@pytest.mark.parametrize("name", ["", "x" * 2_001])
def test_a_name_that_no_file_can_hold_is_refused(name):
    with pytest.raises(ContractError, match="give a name of 1 to 2000"):
        save_trust(perfect(name))


def test_looking_for_figures_creates_no_folder(folder):
    assert find_trust(JUDGE) is None
    assert not folder.exists()


def test_later_figures_replace_earlier_ones_and_leave_no_other_file(folder):
    save_trust(perfect())
    later = compute_trust(JUDGE, [("right", "refused"), ("subtle", "accepted")])
    save_trust(later)

    assert find_trust(JUDGE) == later
    assert len(list(folder.iterdir())) == 1


def test_judges_have_files_of_their_own(folder):
    save_trust(perfect())
    broken = save_trust(perfect("../../another judge"))
    broken.write_text("no JSON")

    assert broken.parent == folder
    assert find_trust(JUDGE) == perfect()
    assert find_trust("../../another judge") is None


COUNTS = {"accepted": 0, "refused": 10, "needs_review": 0}
GOOD = {
    **dict.fromkeys(["subtle", "plain", "injected"], COUNTS),
    "right": {**COUNTS, "accepted": 10, "refused": 0},
}


@pytest.mark.parametrize(
    "fields",
    [
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": 4_000}}},  # more than the set has
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": -1}}},
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": 10**400}}},
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": "40"}}},
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": True}}},
        {"counts": {**GOOD, "subtle": {**COUNTS, "refused": 1e999}}},
        {"counts": {kind: counts for kind, counts in GOOD.items() if kind != "injected"}},
        {"counts": {**GOOD, "trusted": COUNTS}},
        {"set_version": "0" * 12},
        {"judge": "another judge"},
        {"trusted": True},
        {"format": 2},
        {"format": True},
        {"measured_at": "yesterday"},
        {"judge": ["a.Judge"]},
        {"padding": "x" * 30_000},
    ],
)
def test_impossible_or_unknown_content_is_no_measurement(fields):
    change(save_trust(perfect()), **fields)

    assert find_trust(JUDGE) is None


def test_possible_counts_are_a_measurement():
    change(save_trust(perfect()), counts=GOOD)

    assert find_trust(JUDGE).false_accepts.trials == 30


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"[" * 100_000])
def test_a_damaged_file_is_no_measurement_and_is_logged(content, caplog):
    save_trust(perfect()).write_bytes(content)

    assert find_trust(JUDGE) is None
    assert "cannot be read" in caplog.text


def test_a_folder_in_place_of_the_file_is_no_measurement():
    file = save_trust(perfect())
    file.unlink()
    file.mkdir()

    assert find_trust(JUDGE) is None


def test_an_earlier_file_is_unchanged_if_writing_fails(monkeypatch, folder):
    save_trust(perfect())

    def fail(*_):
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        save_trust(compute_trust(JUDGE, []))

    assert find_trust(JUDGE) == perfect()
    assert len(list(folder.iterdir())) == 1


def test_a_reader_at_the_same_time_sees_the_earlier_or_the_later_figures():
    save_trust(perfect())
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(find_trust(JUDGE) for _ in range(200)))
    reader.start()
    for _ in range(50):
        save_trust(perfect())
    reader.join()

    assert set(map(repr, seen)) == {repr(perfect())}


def test_damaged_figures_of_the_user_do_not_hide_the_shipped_ones(monkeypatch, tmp_path):
    file = save_trust(perfect())
    monkeypatch.setattr(trust_files, "_SHIPPED", tmp_path / "shipped")
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / file.name).write_bytes(file.read_bytes())
    file.write_text("{")

    assert find_trust(JUDGE) == perfect()
