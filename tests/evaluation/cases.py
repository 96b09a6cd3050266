"""Cases for property tests: runs with contracts of every kind, whole and broken."""

from hypothesis import strategies as st

from evaluation.contract.contract import MATCH_MODES

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["lookup", "search", "refund", "mail"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
args = st.dictionaries(st.sampled_from(["id", "date", "amount"]), json_values, max_size=3)
calls = NAMES | st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "args": args | st.text(max_size=12),
        "result": json_values,
        "error": st.booleans() | st.text(max_size=5),
        "agent": st.sampled_from(["a", "b"]),
        "kind": st.sampled_from(["tool", "handoff", "reasoning"]),
        "latency_ms": st.floats(0, 1000),
    },
)
texts = st.text(max_size=40) | st.sampled_from(
    ["Order 12345 is in transit.", "Order 12345 is currently in transit.", "mail me: jane.doe@example.org"]
)
runs = st.fixed_dictionaries(
    {"final_output": texts, "tool_calls": st.lists(calls, max_size=6)},
    optional={
        "input": texts,
        "latency_ms": st.floats(0, 5000),
        "input_tokens": st.integers(0, 500),
        "output_tokens": st.integers(0, 500),
        "retries": st.integers(0, 3),
        "plan": st.lists(NAMES, max_size=4),
        "metadata": st.dictionaries(
            st.sampled_from(["environment", "note"]), st.text(max_size=9), max_size=2
        ),
    },
)
expected = NAMES | st.fixed_dictionaries({"name": NAMES}, optional={"args": args})
METRICS = st.sampled_from(
    ["latency_ms", "rouge_1", "trajectory_recall", "exact_match", "gpu_s", "judge_score"]
)
cases = st.fixed_dictionaries(
    {"agent_run": runs},
    optional={
        "input": st.text(max_size=9),
        "reference_output": texts,
        "keywords": st.lists(st.text(min_size=1, max_size=6), max_size=3),
        "expected_trajectory": st.lists(expected, max_size=5),
        "trajectory_match_mode": st.sampled_from([*MATCH_MODES, "fuzzy"]),
        "thresholds": st.dictionaries(METRICS, st.floats(0, 2000), max_size=3),
        "rubric": st.just({"criteria": [{"name": "clarity"}]}),
        "subjective_criteria": st.just(["helpfulness"]),
        "required_content": st.lists(
            st.fixed_dictionaries({"text": st.text(min_size=1, max_size=5)}), max_size=2
        ),
        "baseline_metrics": st.dictionaries(METRICS, st.floats(0, 2000), max_size=3),
        "unknown": st.just(1),
    },
)
