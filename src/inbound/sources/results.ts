// What became of the entries of a request, as people see it.

import { maskAndCut } from "../../kernel/maskAddresses.ts";
import type { IgnoreReason } from "../../sources/kind.ts";
import type { Mapped } from "../../sources/run.ts";
import type { SourceOutcome } from "../../store/sources/sourceRequests.ts";

/** What became of one entry. */
export type SourceResult = {
  outcome: SourceOutcome;
  reason: string | null;
  detail: string | null;
  type: string;
  deliveryId: string | null;
  eventId: string | null;
};

const maxDeliveryId = 200;
const maxType = 100;

/** The sender's word for the kind of event, as it is kept and shown: a mapping may take it from anywhere in the request. */
export const keptType = (type: string) => maskAndCut(type, maxType);

export const resultOf = ({ type, deliveryId }: Pick<Mapped, "type" | "deliveryId">): SourceResult => ({
  outcome: "accepted",
  reason: null,
  detail: null,
  type: keptType(type),
  deliveryId: deliveryId === null ? null : maskAndCut(deliveryId, maxDeliveryId),
  eventId: null,
});

export const ignored = (outcome: Mapped, reason: IgnoreReason, detail: string | null = null): SourceResult => ({
  ...resultOf(outcome),
  outcome: "ignored",
  reason,
  detail,
});
