# Copyright (c) 2026 The Cleancast authors
# SPDX-License-Identifier: MIT

"""The fields of a conversion and the answers of the relay, as docs/reference/inbound.md defines them."""

from typing import Dict, List, Literal, TypedDict, Union


class _ItemId(TypedDict):
    # The product's id, as in your catalogues at the platforms.
    id: Union[str, int]


class Item(_ItemId, total=False):
    """A product of an order."""

    name: str
    category: str
    brand: str
    # The price of one piece, in the currency of the conversion.
    price: float
    quantity: int


class _Event(TypedDict):
    # The name of the event, such as purchase, lead or refund.
    event: str


class Conversion(_Event, total=False):
    """One conversion. It needs email, or hashed_email: the SHA-256 of the trimmed, lower-cased address."""

    email: str
    hashed_email: str
    # Not negative. For a refund, send an event named refund.
    value: float
    # ISO 4217; default USD.
    currency: str
    # The id of the order, deal or call. Repeats with the same id are detected for 90 days.
    orderId: Union[str, int]
    # The id of a refund, so that each partial refund of an order counts.
    refundId: Union[str, int]
    # Meta's id of a lead from one of its forms.
    leadId: Union[str, int]
    # Click ids that you know, such as {"gclid": "…"}; they join those of the person's visits.
    clickIds: Dict[str, str]
    # The time of the click, in the form of eventTime.
    clickTime: Union[str, int]
    firstName: str
    lastName: str
    # With country code, unless the site has a country.
    phone: Union[str, int]
    # ISO 8601 or Unix seconds, at most 90 days ago. Default: the time of arrival.
    eventTime: Union[str, int]
    # At most 100.
    items: List[Item]


class _PlatformOk(TypedDict):
    ok: bool


class PlatformResult(_PlatformOk, total=False):
    status: Literal["queued", "skipped", "rejected", "parked"]
    error: str


class _AcceptedOk(TypedDict):
    ok: Literal[True]


class Accepted(_AcceptedOk, total=False):
    """The relay stored the conversion, knew it already (deduped), or filtered it by a rule of the site (filtered)."""

    event: str
    results: Dict[str, PlatformResult]
    deduped: bool
    filtered: bool


class _Refusal(TypedDict):
    ok: Literal[False]
    # The HTTP status; 0 if no answer arrived.
    status: int
    error: str
    # True if the cause is temporary: send the same conversion again later. A repeat is never counted twice.
    retryable: bool


class Refused(_Refusal, total=False):
    """The conversion was not accepted."""

    # The wait that the relay asked for, in seconds.
    retry_after: float


Outcome = Union[Accepted, Refused]
