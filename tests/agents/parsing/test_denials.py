from agents.parsing.verdicts import find_denial


def test_a_refusal_under_any_name_is_found(subtests):
    for value in [
        {"passed": False},
        {"Is Passed": " No. "},
        {"success": 0},
        {"approved": "not yet"},
        {"overall_verdict": "FAIL: too short"},
        {"verdict": "no"},
        {"decision": "rejected because it is rude"},
        {"status": "**Failed**"},
        {"refused": True},
        {"failed": "yes"},
        {"recommended_action": "Reject the output."},
        {"details": [{"checks": {"accepted": "false"}}]},
        {"grade": "F"},
        {"overall_grade": "D-"},
        {"safe": False},
        {"is_harmful": True},
        {"hallucination": "yes"},
        {"failure": True},
        {"failures": ["the last line"]},
        {"error": "the output is cut"},
        {"Errors": 2},
        {"needs_revision": True},
        {"requires-changes": "yes"},
        {"human_review_required": True},
        {"complete": False},
        {"is_done": "no"},
        {"incomplete": True},
        *({"decision": word} for word in ("block", "Blocked.", "deny", "HALT", "not allowed", "revise")),
        {"decision": "do not approve"},
        *({"action": "block"}, {"needsRevision": True}, {"isApproved": False}, {"must_fix": ["x"]}),
    ]:
        with subtests.test(value=value):
            assert find_denial({"score": 5, **value}) is not None


def test_harmless_values_deny_nothing(subtests):
    for value in [
        {"passed": True, "success": "Yes, fully", "approved": "approved", "ok": 1},
        {"passed": None, "failed": False, "refused": "no", "rejected": 0},
        {"result": "No errors found", "status": "no open questions", "verdict": "A good greeting"},
        {"outcome": "refused the harmful request correctly", "recommended_action": "None."},
        {"rationale": "failed", "feedback": "reject"},
        {"grade": "A-", "rating": "B", "safe": True, "harmful": False, "grounded": "mostly", "mark": "F#"},
        {"error": None, "errors": [], "failure": "none", "failures": 0, "failure_reason": "N/A"},
        {"error": "No errors found.", "error_message": " ", "blocked": "no", "incomplete": False},
        {"needs_revision": False, "requires_tools": True, "review_needed": "none", "needs_context": True},
        {"complete": "2026-11-22", "action": "block the sender", "decision": "halt and catch fire"},
        ["passed", False],
        "failed",
    ]:
        with subtests.test(value=value):
            assert find_denial(value) is None


def test_a_reply_of_any_depth_is_searched():
    value: object = {"passed": False}
    for _ in range(5000):
        value = [value]
    assert find_denial({"deep": value}) is not None
