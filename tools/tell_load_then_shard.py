"""Tells a person what load-then-shard would have needed, from a plan.

    shardwise plan CHECKPOINT ... --device-memory LIMIT --json | python3 tools/tell_load_then_shard.py

Exit status 1 when device 0 could have given it.
"""

import json
import sys


def whole_bytes(tensor, devices):
    return tensor["shard_bytes"] * (devices // tensor["replicas"])


def main():
    plan = json.load(sys.stdin)
    devices = plan["devices"]
    largest = max(plan["tensors"], key=lambda tensor: whole_bytes(tensor, len(devices)))
    whole, shard = whole_bytes(largest, len(devices)), largest["shard_bytes"]
    needed, limit = plan["load_then_shard"]["device0_peak_bytes"], devices[0]["limit_bytes"]
    fullest = max(device["peak_bytes"] for device in devices)
    rows = [
        (f"T, the largest tensor ({largest['name']})", whole),
        ("2T + T/N, to cut it on device 0", 2 * whole + shard),
        ("peak of device 0 with load-then-shard", needed),
        ("limit of each device", limit),
        ("peak of the fullest device with shardwise", fullest),
    ]
    width = max(len(text) for text, _ in rows)
    for text, count in rows:
        print(f"  {text:<{width}}  {count:>13,} bytes")
    if needed <= limit:
        print("  load-then-shard would fit too")
        return 1
    print(f"  load-then-shard needs {needed / limit:.1f} times what device 0 has: RESOURCE_EXHAUSTED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
