"""What a contract says of a call before it is made."""

from __future__ import annotations

from evaluation.contract.requirements import Contract
from orchestrator.judging.call_rules import CallBounds, CallRules, read_call_rules


def made(name="book", result="booked", error=None, **args):
    """The record of a call; ``gate`` and ``effect`` are fields of their own."""
    notes = {key: args.pop(key) for key in ("gate", "effect") if key in args}
    return {"name": name, "args": args, "result": result, "error": error, "latency_ms": 1.0, **notes}


# --------------------------------------------------------------------------------------------- numbers


def test_a_call_without_an_effect_does_not_count(subtests):
    for note in [{"gate": "denied"}, {"gate": "reused"}, {"effect": "none"}]:
        for bound in ["max", "exactly"]:
            with subtests.test(note=note, bound=bound):
                contract = {"checks": [{"check": "tool_calls", "tool": "book", bound: 1}]}
                rules = read_call_rules([Contract.read(contract)])

                assert rules.find_breach("book", [made(**note)]) is None
                assert rules.find_breach("book", [made()]) is not None
                assert rules.find_lasting_breach([made(), made(**note)]) is None


def test_a_step_and_a_run_have_rules_of_their_own():
    of_run = read_call_rules([Contract.read({"checks": [{"check": "tool_calls", "tool": "book", "max": 2}]})])
    bounds = CallBounds(of_run, CallRules(), [made(seats=1)])

    assert bounds.find_breach("book", []) is None
    assert bounds.find_breach("book", [made(seats=2)]) is not None


# --------------------------------------------------------------------------------------------- in a run
