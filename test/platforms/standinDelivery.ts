// Delivers conversions to the stand-ins with the real delivery code and a clock of the test's own, without a relay.

import { afterAll, expect } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { createBreaker } from "../../src/delivery/lanes/breaker.ts";
import { createDeliverer, type QueuedJob } from "../../src/delivery/lanes/deliver.ts";
import type { Job } from "../../src/delivery/job.ts";
import { createSender } from "../../src/delivery/send.ts";
import type { Conversion, Result } from "../../src/kernel/event.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { fullSample } from "../../src/platforms/shared/sample.ts";
import type { Connection, Directory } from "../../src/sites/directory.ts";
import type { StandinId } from "../../standins/index.ts";
import { startStandins, type StandinHandle } from "../../standins/shared/start.ts";
import { leasedUntil } from "../support/lanes.ts";

export const acceptedAt = (handle: StandinHandle) => handle.accepted.reduce((sum, { count }) => sum + count, 0);
/** The reasons for which the stand-in rejected the last call, shown when a test fails. */
export const lastReasons = (handle: StandinHandle) => JSON.stringify(handle.received.at(-1)?.reasons ?? []);

export const connectionOf = (id: StandinId, settings: Record<string, string> = {}): Connection => ({
  siteId: "site",
  id: `to-${id}`,
  platform: id,
  account: id,
  settings: { ...standinConnections[id], ...settings },
  events: null,
  state: "active",
  stateReason: null,
  createdAt: 0,
});

type Outcome = { state: string; reason: string | null };

const outcomeOf = (result: Result): Outcome =>
  result.ok ? { state: "sent", reason: null } : { state: result.status, reason: result.error };

/** Starts every stand-in for the tests of a file. */
export async function createStandinDelivery() {
  const clock = { now: Date.now() };
  const standins = await startStandins({ rateLimits: false, now: () => clock.now });
  const allow = { hosts: new Set<string>(), networks: [] };
  const sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: standins.origins });
  afterAll(async () => {
    await sender.close();
    await standins.close();
  });
  let serial = 0;

  /** A full event of some minutes ago. Each has its own order and second: Microsoft identifies offline conversions by time. */
  function conversionOf(changes: Partial<Conversion> = {}): Conversion {
    serial += 1;
    const time = changes.time ?? clock.now - 60_000 - serial * 1000;
    const eventId = `00000000-0000-8000-a000-${String(serial).padStart(12, "0")}`;
    return fullSample({
      platformEventId: eventId,
      orderId: `A-${serial}`,
      time,
      receivedAt: time + 1000,
      ...changes,
    });
  }

  const jobOf = (connection: Connection, conversion: Conversion, attempts: number): Job => ({
    siteId: connection.siteId,
    eventId: conversion.platformEventId,
    connectionId: connection.id,
    conversion,
    lookedAt: clock.now,
    attemptsMade: attempts,
    expiresAt: clock.now + 30 * dayMs,
    ownership: leasedUntil(clock.now + 60_000),
  });

  function delivery(id: StandinId, settings: Record<string, string> = {}) {
    let connection = connectionOf(id, settings);
    const directory: Directory = {
      refresh: () => Promise.resolve(),
      follow: () => ({ stop: async () => {} }),
      sites: () => [],
      site: () => undefined,
      siteOfHost: () => undefined,
      host: () => undefined,
      key: () => undefined,
      keyNow: async () => undefined,
      source: () => undefined,
      sourceNow: async () => undefined,
      connectionNow: () => Promise.resolve(connection),
      connection: () => connection,
    };
    const reconnections: string[] = [];
    const attempts = createDeliverer({
      directory,
      sender,
      settle: () => Promise.resolve(),
      markForReconnection: (_connection, reason) => Promise.resolve(void reconnections.push(reason)),
      tokens: { fresh: (one) => Promise.resolve(one) },
      breaker: createBreaker(),
      retry: { scheduleMs: [1000], random: () => 0.5 },
      attemptMs: 5000,
      now: () => clock.now,
      elapsed: () => clock.now,
      onDefect: (error) => {
        throw error;
      },
    });

    /** Delivers the conversions as one batch, and then those still queued again, as the worker would. */
    async function deliver(conversions: readonly Conversion[], rounds: number): Promise<Outcome[]> {
      const outcomes = new Map<Conversion, Outcome>();
      for (let round = 0; round < rounds; round++) {
        const open = conversions.filter((one) => (outcomes.get(one)?.state ?? "queued") === "queued");
        if (open.length === 0) break;
        const batch = open.map((conversion): QueuedJob => ({
          job: jobOf(connection, conversion, round),
          since: { at: clock.now, elapsed: clock.now },
          resolve: (result) => void outcomes.set(conversion, outcomeOf(result)),
        }));
        await attempts.deliver(batch);
        // Longer than a breaker stays open.
        clock.now += 6 * 60_000;
      }
      return conversions.map((one) => outcomes.get(one) ?? expect.unreachable("no outcome"));
    }

    return {
      deliver,
      reconnections,
      change: (changes: Record<string, string>) => {
        connection = { ...connection, settings: { ...connection.settings, ...changes } };
      },
    };
  }

  return { clock, standins, conversionOf, delivery };
}
