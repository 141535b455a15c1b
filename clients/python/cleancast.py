# Copyright (c) 2026 The Cleancast authors
# SPDX-License-Identifier: MIT

"""Sends conversions to a Cleancast relay. Python 3.8 or newer, no dependencies, one file.

    from cleancast import Cleancast

    cleancast = Cleancast("https://shop.example.com", os.environ["CLEANCAST_KEY"])
    cleancast.send({"email": "ada@example.com", "event": "purchase", "value": 49.9, "orderId": "A-1001"})

Temporary failures are repeated within a time budget. Repeating is safe because the relay answers an event that it has
already with `deduped`; every repeat sends the bytes of the first attempt, so the order id is the same.
"""

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

__all__ = ["Cleancast", "CleancastError"]

# The relay's limits of a batch.
MAX_BATCH_EVENTS = 500
MAX_BATCH_BYTES = 2 * 1024 * 1024
MAX_DELAY = 30.0
# An answer to the largest batch is far smaller.
MAX_ANSWER_BYTES = 8 * 1024 * 1024
# An error message repeats no more of an answer, which may be a page of a proxy.
MAX_ERROR_LENGTH = 300


class CleancastError(Exception):
    """A conversion was not accepted, after all attempts."""

    def __init__(self, refusal):
        status, error = refusal["status"], refusal["error"]
        super().__init__(f"{status} {error}" if status else error)
        # The HTTP status; 0 if no answer arrived.
        self.status = status
        # True if the same conversion may be accepted later.
        self.retryable = refusal["retryable"]
        # The wait that the relay asked for, in seconds, or None.
        self.retry_after = refusal.get("retry_after")


class Cleancast:
    """A client for one site. It keeps no state between calls, so threads may share it."""

    def __init__(self, url, key, timeout=15.0, budget=60.0, first_delay=0.5):
        """
        url: the address of the relay, with or without /__cc/inbound
        key: an inbound key of the site, cc_…
        timeout: the longest wait for one answer, in seconds; the relay answers within 10
        budget: the time for all attempts of one call, in seconds
        first_delay: the first wait between attempts, in seconds; it doubles each time. Retry-After goes first
        """
        self._inbound = _inbound_address(url)
        # The message does not repeat the value, which may be a secret in the wrong place.
        if not isinstance(key, str) or not re.fullmatch(r"cc_[A-Za-z0-9_]+", key):
            raise ValueError("key must be an inbound key of the site, which begins with cc_")
        # A closure instead of an attribute: vars() and error trackers that show local objects do not see the key.
        self._key = lambda: key
        for name, value in (("timeout", timeout), ("budget", budget), ("first_delay", first_delay)):
            if not value > 0:
                raise ValueError(f"{name} must be a positive number")
        self._timeout, self._budget, self._first_delay = timeout, budget, first_delay

    def __repr__(self):
        return f"Cleancast({self._inbound!r})"

    def send(self, conversion):
        """Sends one conversion and returns the relay's answer. Raises CleancastError if it was not accepted."""
        deadline = time.monotonic() + self._budget
        (outcome,) = self._deliver([_serialise(conversion)], deadline, batch=False)
        if outcome["ok"]:
            return outcome
        raise CleancastError(outcome)

    def send_batch(self, conversions):
        """Sends any number of conversions and returns the outcome of each, in order.

        A refused one is {"ok": False, "status": …, "error": …, "retryable": …}; it raises no error. Send the ones that are
        `retryable` again later.
        """
        deadline = time.monotonic() + self._budget
        outcomes = []
        for batch in _split_into_batches([_serialise(one) for one in conversions]):
            outcomes += self._deliver(batch, deadline, batch=True)
        return outcomes

    def _deliver(self, bodies, deadline, batch):
        outcomes = [_refusal(0, "not sent: the time budget was used", None)] * len(bodies)
        pending = list(range(len(bodies)))
        attempt = 0
        while True:
            timeout = min(self._timeout, deadline - time.monotonic())
            # Of a list with several batches, the later ones may find the budget used.
            if timeout <= 0:
                return outcomes
            sent = [bodies[index] for index in pending]
            body = b'{"events":[' + b",".join(sent) + b"]}" if batch else sent[0]
            status, text, retry_after = self._exchange(body, timeout, batch)
            if status == 413 and len(sent) > 1:
                # A proxy may allow smaller bodies than the relay does.
                middle = (len(sent) + 1) // 2
                found = self._deliver(sent[:middle], deadline, batch) + self._deliver(sent[middle:], deadline, batch)
            elif batch:
                found = _read_batch(status, text, retry_after, len(sent))
            else:
                found = [_read_single(status, text, retry_after)]
            for index, outcome in zip(pending, found):
                outcomes[index] = outcome
            if status == 413:
                return outcomes
            pending = [index for index in pending if not outcomes[index]["ok"] and outcomes[index]["retryable"]]
            if not pending:
                return outcomes
            # The back-off is the least wait, so that a Retry-After of 0 makes no busy loop. The random half keeps many
            # senders from returning at the same moment.
            back_off = min(self._first_delay * 2**attempt, MAX_DELAY) * random.uniform(0.5, 1)
            delay = max(retry_after or 0, back_off)
            if time.monotonic() + delay >= deadline:
                return outcomes
            time.sleep(delay)
            attempt += 1

    def _exchange(self, body, timeout, batch):
        """Returns status, text without the key, and Retry-After in seconds. The status is 0 if no answer arrived."""
        key = self._key()
        request = urllib.request.Request(
            self._inbound + ("/batch" if batch else ""),
            data=body,
            headers={"X-CC-Api-Key": key, "Content-Type": "application/json"},
        )
        ends = time.monotonic() + timeout
        try:
            try:
                response = _opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                # A proxy or an error page may repeat the request's headers.
                text = _read(response, ends).decode(errors="replace").replace(key, "[key]")
                return response.status, text, _read_retry_after(response.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException, ValueError):
            # The cause is not passed on, because it may contain the request.
            return 0, "no answer", None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the key to another address."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _read(response, ends):
    """Reads the whole body. The time limit of a socket starts again with every byte, so the end is checked here too."""
    parts, size = [], 0
    while True:
        part = response.read1(65536)
        if not part:
            # read1() does not notice a body that is shorter than its Content-Length.
            if getattr(response, "length", None):
                raise http.client.IncompleteRead(b"")
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if time.monotonic() > ends or size > MAX_ANSWER_BYTES:
            raise TimeoutError


def _read_retry_after(header):
    """Reads Retry-After, in seconds or as a date."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError):
        return None


def _read_single(status, text, retry_after):
    body = _parse(text) if status == 200 else None
    # Only the relay answers ok: true; a proxy in between may also answer 200.
    return body if _is_accepted(body) else _refusal_of(status, text, retry_after)


def _read_batch(status, text, retry_after, count):
    body = _parse(text) if status == 200 else None
    results = body.get("results") if _is_accepted(body) else None
    if not isinstance(results, list) or len(results) != count:
        return [_refusal_of(status, text, retry_after)] * count
    return [one if _is_accepted(one) else _refusal_in(one, retry_after) for one in results]


def _refusal_in(result, retry_after):
    """Reads the refusal of one event of a batch."""
    result = result if isinstance(result, dict) else {}
    status, error = result.get("status"), result.get("error")
    return _refusal(
        status if isinstance(status, int) else 0,
        error if isinstance(error, str) else "no reason given",
        retry_after,
    )


def _refusal_of(status, text, retry_after):
    """Reads the refusal of a whole request: JSON from the relay, any text from a proxy."""
    body = _parse(text)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, str):
        error = text.strip()
    return _refusal(status, f"the answer is not the relay's: {error}" if status == 200 else error, retry_after)


def _refusal(status, error, retry_after):
    # Every other status says that the request itself is wrong, so a repeat would fail in the same way.
    retryable = status in (0, 200, 429) or status >= 500
    refusal = {
        "ok": False,
        "status": status,
        "error": error[:MAX_ERROR_LENGTH] or f"status {status}",
        "retryable": retryable,
    }
    if retryable and retry_after is not None:
        refusal["retry_after"] = retry_after
    return refusal


def _is_accepted(body):
    return isinstance(body, dict) and body.get("ok") is True


def _parse(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _serialise(conversion):
    if not isinstance(conversion, dict):
        raise TypeError("a conversion must be a dict")
    # NaN and Infinity are not JSON; allow_nan=False raises ValueError for them.
    return json.dumps(conversion, allow_nan=False, separators=(",", ":")).encode()


def _split_into_batches(bodies):
    batches, size = [], 0
    for body in bodies:
        # With the comma that follows it; the rest of a body, {"events":[]}, has 13 bytes.
        added = len(body) + 1
        if batches and len(batches[-1]) < MAX_BATCH_EVENTS and size + added + 13 <= MAX_BATCH_BYTES:
            batches[-1].append(body)
            size += added
        else:
            batches.append([body])
            size = added
    return batches


def _inbound_address(url):
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must be the relay's address, such as https://shop.example.com")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError("url must begin with https://: the key would be readable on the way")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not contain a user name or password")
    path = re.sub(r"/__cc/inbound(/batch)?$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}/__cc/inbound"
