"""The names that other tools give to our fields and metrics."""

from __future__ import annotations

from typing import Final

OTHER_NAMES: Final = {
    "tokens": "total_tokens", "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "model_name": "model", "actual_tools": "tool_calls", "tools_called": "tool_calls",
    "intermediate_messages": "messages", "output": "final_output", "actual_output": "final_output",
    "latency": "latency_ms", "duration": "latency_ms", "cost": "cost_usd", "tools": "tool_calls",
    "answer": "final_output", "response": "final_output", "prompt": "input", "question": "input",
    "result": "final_output", "text": "final_output", "completion": "final_output",
    "final_answer": "final_output", "query": "input", "request": "input", "tool_uses": "tool_calls",
    "steps": "tool_calls", "history": "messages", "conversation": "messages",
    "duration_ms": "latency_ms", "response_time": "latency_ms", "total_cost": "cost_usd",
    "tokens_used": "total_tokens", "token_usage": "total_tokens", "documents": "sources",
    "retrieval_context": "sources", "exception": "error", "expected_answer": "reference_output",
    "ground_truth": "reference_output", "expected_tool_calls": "expected_trajectory",
    "must_include": "required_content", "must_not_call": "forbidden_tools",
    "expected_output": "reference_output", "expected_tools": "expected_trajectory",
    "score": "judge_score", "token_limit": "total_tokens", "safety": "audit", "compliance": "audit",
}  # fmt: skip
"""Our name of a field or a metric by the names that other tools give it."""
