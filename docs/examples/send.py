"""Sends a conversion, and again while that may help. Python 3.8 or newer, no packages."""

import json
import os
import time
import urllib.error
import urllib.request

INBOUND = os.environ["CLEANCAST_INBOUND"]  # https://shop.example.com/__cc/inbound
KEY = os.environ["CLEANCAST_KEY"]  # cc_…


def send_conversion(conversion):
    request = urllib.request.Request(
        INBOUND,
        data=json.dumps(conversion).encode(),
        headers={"X-CC-Api-Key": KEY, "Content-Type": "application/json"},
    )
    for attempt in range(1, 5):
        wait = 2**attempt
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            # 4xx: the request is wrong and stays wrong. Anything else may pass later; a repeat is never counted twice.
            if error.code != 429 and error.code < 500 or attempt == 4:
                raise RuntimeError(f"{error.code} {error.read().decode()}") from None
            wait = min(int(error.headers.get("Retry-After") or wait), 60)
        except OSError:
            if attempt == 4:
                raise
        time.sleep(wait)


answer = send_conversion(
    {
        "email": "ada@example.com",
        "event": "purchase",
        "value": 49.9,
        "currency": "EUR",
        "orderId": "A-1003",
    }
)
print(json.dumps(answer))
