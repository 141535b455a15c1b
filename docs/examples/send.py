"""Sends a conversion and retries temporary failures for two minutes. Python 3.8 or newer, no dependencies."""

import json
import math
import os
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

INBOUND = os.environ["CLEANCAST_INBOUND"]  # https://shop.example.com/__cc/inbound
KEY = os.environ["CLEANCAST_KEY"]  # cc_…


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Never sends the key to another address."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def send_conversion(conversion):
    check(conversion)
    for attempt in range(1, 8):
        status, text, retry_after = post(conversion)
        answer = parsed(text) if status == 200 else None
        # Only the relay answers ok: true; a proxy in between may also answer 200.
        if isinstance(answer, dict) and answer.get("ok") is True:
            return answer
        # A 4xx error is permanent. Anything else may succeed later; a repeat is never counted twice.
        may_pass = status in (0, 200, 429) or status >= 500
        if not may_pass or attempt == 7:
            raise RuntimeError(f"{status} {text}")
        time.sleep(seconds_to_wait(retry_after, attempt))


def check(conversion):
    """Stops an amount that is no number, and an empty order id: without one, repeats are detected for an hour only."""
    value = conversion.get("value")
    if value is not None and (isinstance(value, str) or not math.isfinite(value)):
        raise ValueError(f"value is not a number: {value!r}")
    if not conversion.get("orderId"):
        raise ValueError("orderId is empty")


def post(conversion):
    request = urllib.request.Request(
        INBOUND,
        data=json.dumps(conversion).encode(),
        headers={"X-CC-Api-Key": KEY, "Content-Type": "application/json"},
    )
    try:
        with opener.open(request, timeout=15) as response:
            return response.status, response.read().decode(errors="replace"), response.headers.get("Retry-After")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace"), error.headers.get("Retry-After")
    except OSError as error:
        return 0, f"no answer: {error}", None


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def seconds_to_wait(retry_after, attempt):
    """Reads Retry-After, in seconds or as a date; at most a minute."""
    seconds = 0
    try:
        if retry_after and retry_after.isdecimal():
            seconds = int(retry_after)
        elif retry_after:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (TypeError, ValueError):
        pass
    return min(seconds if seconds > 0 else 2**attempt, 60)


# Sends an example if you run this file, and nothing if you import it.
if __name__ == "__main__":
    answer = send_conversion(
        {
            "email": "python@example.com",
            "event": "purchase",
            "value": 49.9,
            "currency": "EUR",
            "orderId": "PYTHON-1",
        }
    )
    print(json.dumps(answer))
