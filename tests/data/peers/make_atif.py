"""Writes trajectories with Harbor's converters and models, and with those of the package `atif`."""

import json
import tempfile
import typing
from pathlib import Path

import typing_extensions

# Harbor asks for Python 3.12; these two names are all that its converters need of it.
typing.override, typing.TypedDict = typing_extensions.override, typing_extensions.TypedDict

import atif
from harbor.agents.installed.claude_code import ClaudeCode
from harbor.agents.installed.cline.trajectory import convert_messages_to_trajectory
from harbor.agents.installed.gemini_cli import GeminiCli
from harbor.agents.installed.kimi_code_trajectory import parse_stream_json, to_trajectory
from harbor.agents.installed.strands_trajectory import convert_strands_to_atif
from harbor.models.trajectories import Trajectory
from scripted import ANSWER, BOTH, EMMA, MOBY, QUESTION, write

KIND = "atif"
FOLDER = Path(tempfile.mkdtemp())


def save(name, trajectory):
    write(KIND, name, trajectory.to_json_dict())


def text(words):
    return {"type": "text", "text": words}


def use(number, args):
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "price_of", "input": args}


def result(number, content, **fields):
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, **fields}


def claude_code(*messages, **fields):
    """Writes a session of Claude Code; a message is (role, content) or (role, content, fields)."""
    folder = Path(tempfile.mkdtemp())
    events = []
    for number, (role, content, *more) in enumerate(messages):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "model": "claude-x", "usage": {"input_tokens": 40, "output_tokens": 8}}
        event = {"type": role, "uuid": f"u{number}", "sessionId": "s1", "version": "2.0", "message": message,
                 "timestamp": f"2026-01-01T00:00:{number:02}Z", **fields}  # fmt: skip
        events.append({**event, **(more[0] if more else {})})
    (folder / "s1.jsonl").write_text("\n".join(map(json.dumps, events)))
    return ClaudeCode(logs_dir=folder)._convert_events_to_trajectory(folder)


thought = {"type": "thinking", "thinking": "Look it up.", "signature": "s"}
asked = ("user", QUESTION)
save("claude-code", claude_code(asked, ("assistant", [thought, use(1, MOBY)]), ("user", [result(1, "12.5")]),
                                ("assistant", [text(ANSWER)])))
save("error-result", claude_code(asked, ("assistant", [use(1, MOBY)]),
                                 ("user", [result(1, "no such title", is_error=True)]),
                                 ("assistant", [text("I do not know.")])))
save("missing-answer", claude_code(asked, ("assistant", [use(1, MOBY)])))
aside = {"isSidechain": True, "agentId": "a1"}
save("nested-agent", claude_code(
    asked, ("assistant", [{**use(1, {"prompt": "Find it."}), "name": "Task"}]), ("user", "Find it.", aside),
    ("assistant", [use(2, MOBY)], aside), ("user", [result(2, "12.5")], aside), ("assistant", [text("12.5")], aside),
    ("user", [result(1, "12.5")]), ("assistant", [text(ANSWER)])))  # fmt: skip
gemini = {"sessionId": "g1", "messages": [
    {"type": "user", "content": [text(BOTH)], "timestamp": "2026-01-01T00:00:00Z"},
    {"type": "gemini", "content": "", "model": "gemini-x", "timestamp": "2026-01-01T00:00:01Z",
     "tokens": {"input": 40, "output": 8, "cached": 4}, "toolCalls": [
         {"id": str(number), "name": "price_of", "args": args,
          "result": [{"functionResponse": {"response": {"output": price}}}]}
         for number, args, price in ((1, MOBY, "12.5"), (2, EMMA, "8"))]},
    {"type": "gemini", "content": "12.5 and 8.", "model": "gemini-x", "timestamp": "2026-01-01T00:00:02Z"},
]}  # fmt: skip
save("parallel-calls", GeminiCli(logs_dir=FOLDER)._convert_gemini_to_atif(gemini))
cost = {"inputTokens": 40, "outputTokens": 8, "cost": 0.01}
save("cline", convert_messages_to_trajectory({"sessionId": "c1", "messages": [
    {"role": "user", "content": QUESTION, "ts": 1000},
    {"role": "assistant", "content": [text("I look."), use(1, MOBY)], "ts": 2000, "metrics": cost},
    {"role": "user", "content": [result(1, [text("12.5")])], "ts": 3000},
    {"role": "assistant", "content": [text(ANSWER)], "ts": 4000, "metrics": cost},
]}, agent_name="cline", agent_version="1"))  # fmt: skip
log = FOLDER / "kimi.jsonl"
calls = [{"id": "1", "function": {"name": "price_of", "arguments": json.dumps(MOBY)}}]
log.write_text("\n".join(map(json.dumps, [
    {"role": "meta", "type": "session.resume_hint", "session_id": "k1"},
    {"role": "assistant", "content": None, "tool_calls": calls},
    {"role": "tool", "tool_call_id": "1", "content": "12.5"}, {"role": "assistant", "content": ANSWER}])))  # fmt: skip
save("without-user", to_trajectory(parse_stream_json(log), agent_name="kimi", agent_version="1", model_name="kimi-x"))


def event(role, *blocks, old=False):
    return {"kind": "message", "message": {"role": role, "content": list(blocks)}, "is_preexisting_context": old,
            "timestamp": "2026-01-01T00:00:00Z"}  # fmt: skip


def strands_use(number, args):
    return {"toolUse": {"toolUseId": number, "name": "price_of", "input": args}}


def strands_result(number, words, status="success"):
    return {"toolResult": {"toolUseId": number, "content": [{"text": words}], "status": status}}


save("multi-turn", convert_strands_to_atif(
    instruction=QUESTION, agent_name="strands", agent_version="1", session_id="st", result={
        "output": "8 euros.", "usage": {"inputTokens": 40, "outputTokens": 8}, "stop_reason": "end_turn",
        "observed_model": {"model_id": "x"}, "tools": [{"name": "price_of"}]},
    events=[event("user", {"text": QUESTION}, old=True), event("assistant", strands_use("1", MOBY), old=True),
            event("user", strands_result("1", "12.5"), old=True), event("assistant", {"text": ANSWER}, old=True),
            event("user", {"text": "And Emma?"}), event("assistant", strands_use("2", EMMA)),
            event("user", strands_result("2", "closed", "error")), event("assistant", {"text": "8 euros."})]))
AGENT = {"name": "shop", "version": "1", "model_name": "x"}
steps = [{"step_id": 1, "source": "user", "message": QUESTION},
         {"step_id": 2, "source": "agent", "message": ANSWER, "metrics": {"prompt_tokens": 40, "completion_tokens": 8}}]
child = {"schema_version": "ATIF-v1.8", "trajectory_id": "child", "agent": {**AGENT, "name": "clerk"}, "steps": steps}
reference = {"results": [{"source_call_id": "1", "subagent_trajectory_ref": [{"trajectory_id": "child"}]}]}
delegates = {"step_id": 2, "source": "agent", "message": "", "observation": reference, "llm_call_count": 1,
             "tool_calls": [{"tool_call_id": "1", "function_name": "ask", "arguments": {}}]}  # fmt: skip
parent = [steps[0], delegates, {**steps[1], "step_id": 3}]
save("subagents", atif.Trajectory(schema_version="ATIF-v1.8", agent=AGENT, session_id="a1", steps=parent, subagent_trajectories=[child]))
pixel = {"type": "image", "source": {"media_type": "image/png", "path": "pixel.png"}}
sound = {"type": "audio", "source": {"media_type": "audio/wav", "path": "x.wav", "duration_sec": 1}}
look = {"step_id": 1, "source": "user", "message": [text("What is it?"), pixel, sound]}
said = {"step_id": 3, "source": "agent", "message": [text("A pixel.")], "reasoning_effort": "high"}
system = {"step_id": 2, "source": "system", "message": "The file is loaded.",
          "observation": {"results": [{"content": "loaded"}]}}  # fmt: skip
save("image", Trajectory(agent=AGENT, session_id="h1", steps=[look, system, said], notes="A test."))
for minor in range(6):
    save(f"version-1.{minor}", Trajectory(schema_version=f"ATIF-v1.{minor}", agent=AGENT, session_id="old",
                                          steps=steps, final_metrics={"total_prompt_tokens": 40}))
