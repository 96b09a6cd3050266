"""Evaluate one recorded run and print its report, without a model."""

from evaluation import evaluate

report = evaluate(
    {
        "agent_run": {
            "input": "Turn off device_2 in the Bedroom",
            "final_output": "I have set device_2 to off.",
            "tool_calls": ["list_devices"],  # the tool that switches the device was never called
            "latency_ms": 1840,
        },
        "reference_output": "I have set the device_2 status to off.",
        "expected_trajectory": [
            {"name": "set_device_info", "args": {"device_id": "device_2", "status": "OFF"}}
        ],
        "thresholds": {"rouge_1": 0.8, "latency_ms": 1500},
    }
)

print(report.status)
for alert in report.alerts:
    print(f"  {alert['severity']}: {alert['reason']}")
print("recommended:", report.recommended_action)
