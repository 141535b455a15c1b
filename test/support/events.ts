// Builds events, deliveries and sites for tests of the store; a test states only the fields that matter to it.

import type { Attribution, Event } from "../../src/kernel/event.ts";
import { shortId, ulid } from "../../src/kernel/ids.ts";
import type { Attempt, NewDelivery, Settlement } from "../../src/store/deliveries/delivery.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import type { NodeOwnership } from "../../src/store/deliveries/ownership.ts";
import type { AuditLine } from "../../src/store/sites/audit.ts";
import type { Store } from "../../src/store/store.ts";
import { sha256 } from "./sha256.ts";

const now = Date.UTC(2026, 10, 15, 12);

export const unattributed: Attribution = {
  consent: "unknown",
  withheld: null,
  identity: "none",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
};

export const queuedDelivery = (connectionId = "c1", platform = "sandbox"): NewDelivery => ({
  connectionId,
  platform,
  state: "queued",
  reason: null,
});

/** The ownership of an event whose first attempts the node makes. */
export const byNode = (owner = "node-a"): NodeOwnership => ({ by: "node", owner, at: now });

/** A live purchase that claims its own id, with one delivery that `node-a` sends. */
export function newEvent(siteId: string, fields: Partial<Event> = {}, more: Partial<NewEvent> = {}): NewEvent {
  const receivedAt = fields.receivedAt ?? now;
  const deliveries = more.deliveries ?? [queuedDelivery()];
  const id = fields.id ?? ulid(receivedAt);
  return {
    event: {
      id,
      siteId,
      keyId: "key",
      mode: "live",
      name: "purchase",
      value: 12.5,
      currency: "EUR",
      orderId: "A-1",
      orderEventId: null,
      time: receivedAt,
      receivedAt,
      person: { emailSha256: sha256("e".repeat(64)) },
      extra: null,
      ...fields,
    },
    attribution: unattributed,
    filterReasons: [],
    claim: id,
    claimUntil: receivedAt + 3_600_000,
    orderEventId: null,
    personRef: 0,
    ownership: { by: "row", owner: "node-a", at: receivedAt, dueAt: receivedAt + 30_000 },
    ...more,
    deliveries,
  };
}

/** The outcome that `node-a` writes of a delivery to `c1`. */
export const settlementOf = (
  { event }: Pick<NewEvent, "event">,
  state: Settlement["state"],
  changes: Partial<Settlement> = {},
): Settlement => ({
  siteId: event.siteId,
  eventId: event.id,
  connectionId: "c1",
  owner: "node-a",
  state,
  reason: null,
  dueAt: 0,
  attempts: 1,
  at: now,
  attempt: null,
  ...changes,
});

export const newAttempt = (state: Attempt["state"], changes: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  startedAt: now,
  durationMs: 1,
  state,
  reason: null,
  httpStatus: 200,
  batch: 1,
  request: "POST /",
  response: null,
  ...changes,
});

export const auditLine = (siteId: string, action = "test", at = now): AuditLine => ({
  siteId,
  actor: "test",
  action,
  detail: {},
  at,
});

export async function newSite(store: Store): Promise<string> {
  const id = shortId();
  await store.configuration.addSite(auditLine(id), {
    name: id,
    settings: {},
    hosts: [`${id}.example.com`],
  });
  return id;
}
