"""Runs one call of the Python client per line. See languages.ts."""

import json
import sys
import traceback

sys.path.insert(0, sys.argv[1])
from cleancast import Cleancast, CleancastError  # noqa: E402


def shown(outcome):
    outcome = dict(outcome)
    if "retry_after" in outcome:
        outcome["retryAfterMs"] = round(outcome.pop("retry_after") * 1000)
    return outcome


def run(call, options, conversions):
    try:
        client = Cleancast(
            options["url"],
            options["key"],
            timeout=options["timeoutMs"] / 1000,
            budget=options["budgetMs"] / 1000,
            batch_budget=options["budgetMs"] / 1000,
            first_delay=options["firstDelayMs"] / 1000,
        )
    except ValueError as error:
        return {"invalid": str(error), "dump": traceback.format_exc()}
    dump = f"{client!r} {client} {vars(client)}"
    try:
        if call == "sendBatch":
            return {"outcomes": [shown(one) for one in client.send_batch(conversions)], "dump": dump}
        return {"outcomes": [shown(client.send(conversions[0]))], "dump": dump}
    except CleancastError as error:
        outcome = {"ok": False, "status": error.status, "error": str(error), "retryable": error.retryable}
        if error.retry_after is not None:
            outcome["retry_after"] = error.retry_after
        return {"outcomes": [shown(outcome)], "dump": dump + traceback.format_exc()}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(run(request["call"], request["options"], request["conversions"])), flush=True)
