# Copyright (c) 2026 The Cleancast authors
# SPDX-License-Identifier: MIT

"""Sends conversions to a Cleancast relay. Python 3.8 or newer, no dependencies, with types.

    from cleancast import Cleancast

    cleancast = Cleancast("https://shop.example.com", os.environ["CLEANCAST_KEY"])
    cleancast.send({"email": "ada@example.com", "event": "purchase", "value": 49.9, "orderId": "A-1001"})

Temporary failures are repeated within a time budget. Repeating is safe because the relay answers an event that it has
already with `deduped`; every repeat sends the bytes of the first attempt, so the order id is the same.
"""

import asyncio
import functools
import http.client
import json
import random
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from typing import Any, Iterable, List, Optional, Tuple, cast
from urllib.parse import urlsplit

from .conversion import Accepted, Conversion, Item, Outcome, PlatformResult, Refused

__all__ = [
    "Accepted",
    "AsyncCleancast",
    "Cleancast",
    "CleancastError",
    "Conversion",
    "Item",
    "Outcome",
    "PlatformResult",
    "Refused",
]

# The relay's limits of a batch.
MAX_BATCH_EVENTS = 500
MAX_BATCH_BYTES = 2 * 1024 * 1024
MAX_DELAY = 30.0
# An answer to the largest batch is far smaller.
MAX_ANSWER_BYTES = 8 * 1024 * 1024
# An error message repeats no more of an answer, which may be a page of a proxy.
MAX_ERROR_LENGTH = 300


class CleancastError(Exception):
    """A conversion was not accepted, after all attempts.

    Where no answer arrived, __cause__ is the error of the connection, such as that of a name that was not found.
    """

    status: int
    retryable: bool
    retry_after: Optional[float]

    def __init__(self, refusal: Refused) -> None:
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

    def __init__(
        self,
        url: str,
        key: str,
        timeout: float = 15.0,
        budget: float = 10.0,
        batch_budget: float = 60.0,
        first_delay: float = 0.5,
    ) -> None:
        """
        url: the address of the relay, with or without /__cc/inbound
        key: an inbound key of the site, cc_…
        timeout: the longest wait for one answer, in seconds; the relay answers within 10
        budget: the time for all attempts of send, in seconds: a visitor may be waiting for it
        batch_budget: the time for all attempts of send_batch, in seconds
        first_delay: the first wait between attempts, in seconds; it doubles each time. Retry-After goes first
        """
        self._inbound = _inbound_address(url)
        # The message does not repeat the value, which may be a secret in the wrong place.
        if not isinstance(key, str) or not re.fullmatch(r"cc_[A-Za-z0-9_]+", key):
            raise ValueError("key must be an inbound key of the site, which begins with cc_")
        # A closure instead of an attribute: vars() and error trackers that show local objects do not see the key.
        self._key = lambda: key
        times = {"timeout": timeout, "budget": budget, "batch_budget": batch_budget, "first_delay": first_delay}
        for name, value in times.items():
            if not value > 0:
                raise ValueError(f"{name} must be a positive number")
        self._timeout, self._budget, self._batch_budget, self._first_delay = times.values()

    def __repr__(self) -> str:
        return f"Cleancast({self._inbound!r})"

    def send(self, conversion: Conversion) -> Accepted:
        """Sends one conversion and returns the relay's answer. Raises CleancastError if it was not accepted."""
        deadline = time.monotonic() + self._budget
        causes: List[Exception] = []
        (outcome,) = self._deliver([_serialise(conversion)], deadline, False, causes)
        if outcome["ok"] is True:
            return outcome
        raise CleancastError(outcome) from (causes[-1] if causes and outcome["status"] == 0 else None)

    def send_batch(self, conversions: Iterable[Conversion]) -> List[Outcome]:
        """Sends any number of conversions and returns the outcome of each, in order.

        A refused one is {"ok": False, "status": …, "error": …, "retryable": …}; it raises no error. Send the ones that are
        `retryable` again later.
        """
        deadline = time.monotonic() + self._batch_budget
        outcomes: List[Outcome] = []
        for batch in _split_into_batches([_serialise(one) for one in conversions]):
            outcomes += self._deliver(batch, deadline, True, [])
        return outcomes

    def _deliver(self, bodies: List[bytes], deadline: float, batch: bool, causes: List[Exception]) -> List[Outcome]:
        outcomes: List[Outcome] = [_refusal(0, "not sent: the time budget was used", None)] * len(bodies)
        pending = list(range(len(bodies)))
        attempt = 0
        while True:
            timeout = min(self._timeout, deadline - time.monotonic())
            # Of a list with several batches, the later ones may find the budget used.
            if timeout <= 0:
                return outcomes
            sent = [bodies[index] for index in pending]
            body = b'{"events":[' + b",".join(sent) + b"]}" if batch else sent[0]
            status, text, retry_after, cause = self._exchange(body, timeout, batch)
            # The budget cut this attempt short: the one before says more.
            if status == 0 and attempt > 0 and timeout < self._timeout:
                return outcomes
            if cause:
                causes.append(cause)
            if status == 413 and len(sent) > 1:
                # A proxy may allow smaller bodies than the relay does.
                middle = (len(sent) + 1) // 2
                found = self._deliver(sent[:middle], deadline, batch, causes)
                found += self._deliver(sent[middle:], deadline, batch, causes)
            elif batch:
                found = _read_batch(status, text, retry_after, len(sent))
            else:
                found = [_read_single(status, text, retry_after)]
            for index, outcome in zip(pending, found):
                outcomes[index] = outcome
            if status == 413:
                return outcomes
            pending = [index for index in pending if _is_retryable(outcomes[index])]
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

    def _exchange(
        self, body: bytes, timeout: float, batch: bool
    ) -> Tuple[int, str, Optional[float], Optional[Exception]]:
        """Returns status, text without the key, Retry-After in seconds, and the error if no answer arrived (status 0)."""
        key = self._key()
        request = urllib.request.Request(
            self._inbound + ("/batch" if batch else ""),
            data=body,
            headers={"X-CC-Api-Key": key, "Content-Type": "application/json"},
        )
        ends = time.monotonic() + timeout
        try:
            try:
                response: Any = _opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                # A proxy or an error page may repeat the request's headers.
                text = _read(response, ends).decode(errors="replace").replace(key, "[key]")
                return response.status, text, _read_retry_after(response.headers.get("Retry-After")), None
        except (OSError, http.client.HTTPException, ValueError) as error:
            # No error of the standard library contains headers; one that does must not bring the key into a log.
            return 0, f"no answer: {_describe(error, timeout)}", None, None if key in repr(error) else error


class AsyncCleancast:
    """The client for asyncio. Each call runs in a thread of the loop's executor: the standard library has no other HTTP client."""

    def __init__(self, client: Cleancast) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"Async{self._client!r}"

    async def send(self, conversion: Conversion) -> Accepted:
        """Sends one conversion and returns the relay's answer. Raises CleancastError if it was not accepted."""
        call = functools.partial(self._client.send, conversion)
        return await asyncio.get_running_loop().run_in_executor(None, call)

    async def send_batch(self, conversions: Iterable[Conversion]) -> List[Outcome]:
        """Sends any number of conversions and returns the outcome of each, in order."""
        call = functools.partial(self._client.send_batch, list(conversions))
        return await asyncio.get_running_loop().run_in_executor(None, call)


def _describe(error: Exception, timeout: float) -> str:
    """Says in plain words why no answer arrived, with the number of the system's error."""
    reason: Any = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, socket.gaierror):
        return "the host name was not found"
    if isinstance(reason, ssl.SSLError):
        return f"TLS failed ({reason.reason or 'unknown'})"
    if isinstance(reason, (TimeoutError, socket.timeout)):
        return f"nothing within {timeout:g} seconds"
    if isinstance(reason, ConnectionRefusedError):
        return "connection refused"
    if isinstance(reason, (ConnectionError, http.client.HTTPException)):
        return "the connection was closed"
    return f"the request failed ({type(reason).__name__})"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the key to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _read(response: Any, ends: float) -> bytes:
    """Reads the whole body. The time limit of a socket starts again with every byte, so the end is checked here too."""
    parts: List[bytes] = []
    size = 0
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


def _read_retry_after(header: Optional[str]) -> Optional[float]:
    """Reads Retry-After, in seconds or as a date."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError):
        return None


def _read_single(status: int, text: str, retry_after: Optional[float]) -> Outcome:
    body = _parse(text) if status == 200 else None
    # Only the relay answers ok: true; a proxy in between may also answer 200.
    return cast(Accepted, body) if _is_accepted(body) else _refusal_of(status, text, retry_after)


def _read_batch(status: int, text: str, retry_after: Optional[float], count: int) -> List[Outcome]:
    body = _parse(text) if status == 200 else None
    results = body.get("results") if isinstance(body, dict) and body.get("ok") is True else None
    if not isinstance(results, list) or len(results) != count:
        return [cast(Outcome, _refusal_of(status, text, retry_after))] * count
    return [cast(Accepted, one) if _is_accepted(one) else _refusal_in(one, retry_after) for one in results]


def _refusal_in(result: Any, retry_after: Optional[float]) -> Refused:
    """Reads the refusal of one event of a batch."""
    result = result if isinstance(result, dict) else {}
    status, error = result.get("status"), result.get("error")
    return _refusal(
        status if isinstance(status, int) else 0,
        error if isinstance(error, str) else "no reason given",
        retry_after,
    )


def _refusal_of(status: int, text: str, retry_after: Optional[float]) -> Refused:
    """Reads the refusal of a whole request: JSON from the relay, any text from a proxy."""
    body = _parse(text)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, str):
        error = text.strip()
    return _refusal(status, f"the answer is not the relay's: {error}" if status == 200 else error, retry_after)


def _refusal(status: int, error: str, retry_after: Optional[float]) -> Refused:
    # Every other status says that the request itself is wrong, so a repeat would fail in the same way.
    retryable = status in (0, 200, 429) or status >= 500
    refusal: Refused = {
        "ok": False,
        "status": status,
        "error": error[:MAX_ERROR_LENGTH] or f"status {status}",
        "retryable": retryable,
    }
    if retryable and retry_after is not None:
        refusal["retry_after"] = retry_after
    return refusal


def _is_retryable(outcome: Outcome) -> bool:
    return outcome["ok"] is False and outcome["retryable"]


def _is_accepted(body: Any) -> bool:
    return isinstance(body, dict) and body.get("ok") is True


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _serialise(conversion: Conversion) -> bytes:
    if not isinstance(conversion, dict):
        raise TypeError("a conversion must be a dict")
    # NaN and Infinity are not JSON; allow_nan=False raises ValueError for them.
    return json.dumps(conversion, allow_nan=False, separators=(",", ":")).encode()


def _split_into_batches(bodies: List[bytes]) -> List[List[bytes]]:
    batches: List[List[bytes]] = []
    size = 0
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


def _inbound_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must be the relay's address, such as https://shop.example.com")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError("url must begin with https://: the key would be readable on the way")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not contain a user name or password")
    path = re.sub(r"/__cc/inbound(/batch)?$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}/__cc/inbound"
