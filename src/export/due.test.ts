// Scheduled exports on both engines: each row in exactly one file, whatever changes later and whenever an export is interrupted.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { newAttempt, newEvent, newSite, queuedDelivery, settlementOf, unattributed } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { readPayload } from "../collect/payload.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { createDirectory } from "../sites/directory.ts";
import type { NewEvent } from "../store/events/events.ts";
import type { Store } from "../store/store.ts";
import { exportDue } from "./due.ts";
import { removeDataExport, setDataExport } from "./manage.ts";
import { createUploader } from "./upload.ts";

const start = Date.UTC(2026, 10, 15, 12);
const nobody = readAllowList("") as AllowList;

type Line = Record<string, string | number | null>;

/** The rows of all files of a table, listed by a manifest or not. */
function rowsOf(folder: string, table: string): Line[] {
  return filesIn(folder)
    .filter((name) => name.includes(`/table=${table}/`))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean))
    .map((line) => JSON.parse(line) as Line);
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

/** A generator whose numbers a seed decides. */
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class Killed extends Error {}

describe.each(["sqlite", "postgres"] as const)("scheduled exports on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  const uploader = createUploader({ allow: nobody, connectMs: 1000, maxMs: 1000 });
  afterAll(async () => {
    await uploader.close();
    await close();
  });

  const by = (now: number, exportFolder: string | null) => ({ actor: "test", now, allowPrivate: nobody, exportFolder });

  async function siteWith(exportFolder: string, at: number, since?: number) {
    const siteId = await newSite(store);
    const directory = createDirectory(store);
    await directory.refresh();
    const site = directory.site(siteId);
    if (!site) throw new Error("there is no site");
    const set = (now = at, from = since) =>
      setDataExport(store, site, { to: "folder", format: "ndjson", since: from }, by(now, exportFolder));
    /** Exports what is due. `steps` is how many files are written before the process is killed. */
    const run = (now: number, on: Store = store, steps = Infinity) => {
      let left = steps;
      const mayContinue = async () => {
        if (left <= 0) throw new Killed();
        left -= 1;
        return true;
      };
      // Other tests have exports in the same store.
      const own = { site: (id: string) => (id === siteId ? site : undefined) };
      return exportDue({ store: on, directory: own, exportFolder, uploader, mayContinue, now: () => now });
    };
    return { siteId, site, set, run };
  }

  test.each([1, 2, 3])("each row is in exactly one file, with the last state of every delivery (seed %i)", async (seed) => {
    const random = randomFrom(seed);
    const folder = freshFolder();
    const began = start + 3 * hourMs;
    const { siteId, set, run } = await siteWith(folder, began + 10 * minuteMs, start);
    const items: NewEvent[] = [];
    const released = new Map<string, number>();
    const attempts = new Map<string, number>();
    const pick = () => items[random(items.length)];

    async function accept(at: number): Promise<void> {
      const isFiltered = random(5) === 0;
      const item = newEvent(
        siteId,
        { receivedAt: at, orderId: `A-${items.length}` },
        isFiltered
          ? { filterReasons: [{ code: "bot" as never, detail: null }], deliveries: [] }
          : { deliveries: [queuedDelivery("c1"), queuedDelivery("c2")] },
      );
      await store.events.accept(item);
      items.push(item);
    }

    /** Attempts a delivery that has a row. */
    async function attempt(at: number): Promise<void> {
      const item = pick();
      if (!item) return;
      const connectionId = random(2) ? "c1" : "c2";
      const known = (await store.deliveries.listByEvent(siteId, item.event.id)).find((one) => one.connectionId === connectionId);
      if (!known) return;
      const state = random(3) === 0 ? "sent" : "queued";
      const key = `${item.event.id} ${connectionId}`;
      const number = (attempts.get(key) ?? 0) + 1;
      if (known.state !== "queued") {
        const logKey = { eventId: item.event.id, connectionId };
        expect(await store.syncLog.requeue(siteId, [logKey], ["sent", "skipped"], at - 2)).toBe(1);
      }
      const owner = { by: "row", owner: "node-x", at: at - 1, dueAt: at + 30 * hourMs } as const;
      // Makes it due, whatever its lease is.
      await store.deliveries.settle(
        settlementOf(item, "queued", { connectionId, owner: known.owner, at: at - 1, attempts: number - 1 }),
      );
      const claimed = await store.deliveries.claimDue({ siteId, connectionId }, owner, 1000);
      for (const one of claimed) {
        const isIt = one.eventId === item.event.id;
        const made = newAttempt(state, { number, startedAt: at - 1 });
        await store.deliveries.settle({
          ...settlementOf(item, isIt ? state : "queued", {
            connectionId,
            owner: "node-x",
            at,
            dueAt: 0,
            attempts: isIt ? number : one.attempts,
          }),
          eventId: one.eventId,
          attempt: isIt ? made : null,
        });
        if (isIt) attempts.set(key, number);
      }
    }

    async function confirm(at: number): Promise<void> {
      const item = pick();
      if (!item || item.filterReasons.length > 0) return;
      const question = { siteId, connectionId: "c1", subject: "s", eventIds: [], acceptedAt: at - 1, asked: 1, dueAt: at };
      const confirmation = { state: random(2) ? ("confirmed" as const) : ("not counted" as const), reason: null, detail: null };
      const answer = { eventId: item.event.id, confirmation, countedAs: { state: confirmation.state, reason: null } };
      await store.confirmations.answer(question, "sandbox", [answer], 0, at);
    }

    async function correct(at: number): Promise<void> {
      const item = pick();
      if (!item || item.filterReasons.length > 0) return;
      const found = { siteId, eventId: item.event.id, connectionId: "c2", state: "waiting" as const, value: random(100) };
      await store.corrections.add(siteId, [{ ...found, source: "order list", reason: null, dueAt: at, updatedAt: at }]);
    }

    async function release(at: number): Promise<void> {
      const item = items.find(({ event, filterReasons }) => filterReasons.length > 0 && !released.has(event.id));
      if (!item) return;
      const skipped = { ...queuedDelivery("c2"), state: "skipped" as const, reason: "no match key" };
      const deliveries = [queuedDelivery("c1"), skipped];
      const how = { attribution: unattributed, deliveries, orderEventId: null, claimUntil: at + hourMs };
      expect(await store.events.release({ siteId, eventId: item.event.id, ...how, now: at })).toEqual(deliveries);
      released.set(item.event.id, at);
    }

    const actions = [accept, accept, accept, attempt, attempt, confirm, correct, release];
    const end = start + 8 * hourMs;
    let readAt = began + hourMs + 16 * minuteMs;
    let isSet = false;
    for (let at = start + 5; at < end; at += 1 + random(6 * minuteMs)) {
      if (!isSet && at >= began) {
        await set();
        isSet = true;
      }
      for (; at >= readAt; readAt += hourMs) {
        // Interrupted a few times, on either node.
        for (let tries = random(4); tries > 0; tries -= 1)
          await run(readAt, random(2) ? store : other, random(8)).catch((error: unknown) => {
            if (!(error instanceof Killed)) throw error;
          });
        // What is exported later may have changed meanwhile.
        if (random(3) > 0) await run(readAt, random(2) ? store : other);
      }
      await actions[random(actions.length)]?.(at);
    }
    await run(end + 2 * hourMs);

    const idsOf = (table: string) => rowsOf(folder, table).map(({ event_id: id }) => String(id));
    expect(idsOf("events").toSorted()).toEqual(items.map(({ event }) => event.id).toSorted());
    const hourOf = (at: number) => Math.floor(at / hourMs);
    const receivedIn = new Map(items.map(({ event }) => [event.id, hourOf(event.receivedAt)]));
    // What was released in its own hour, or before the export began, is in the table of events as it is.
    const later = [...released].filter(([id, at]) => hourOf(at) > (receivedIn.get(id) ?? 0) && at >= began);
    expect(idsOf("event_changes").toSorted()).toEqual(later.map(([id]) => id).toSorted());
    expect(later.length).toBeGreaterThan(0);
    const keyOf = (line: Line) => `${line.event_id} ${line.connection_id}`;
    const stored = items.map(async ({ event }) =>
      (await store.deliveries.listAttempts(siteId, event.id)).map((one) => `${event.id} ${one.connectionId} ${one.number}`),
    );
    const made = (await Promise.all(stored)).flat();
    expect(
      rowsOf(folder, "attempts")
        .map((one) => `${keyOf(one)} ${one.number}`)
        .toSorted(),
    ).toEqual(made.toSorted());
    expect(made.length).toBeGreaterThan(10);

    const changes = rowsOf(folder, "delivery_changes");
    expect(new Set(changes.map((one) => `${keyOf(one)} ${one.updated_at}`)).size).toBe(changes.length);
    expect(changes.length).toBeGreaterThan(10);
    const last = new Map<string, Line>();
    for (const line of [...rowsOf(folder, "deliveries"), ...changes])
      if (String(last.get(keyOf(line))?.updated_at ?? "") <= String(line.updated_at)) last.set(keyOf(line), line);
    const ids = items.map(({ event }) => event.id);
    const confirmations = await store.confirmations.listByEvents(siteId, ids);
    const corrections = await store.corrections.listByEvents(siteId, ids);
    const deliveries = [...(await store.deliveries.listByEvents(siteId, ids)).values()].flat();
    const isOf = (delivery: { eventId: string; connectionId: string }) => (one: { eventId: string; connectionId: string }) =>
      one.eventId === delivery.eventId && one.connectionId === delivery.connectionId;
    for (const delivery of deliveries)
      expect(last.get(`${delivery.eventId} ${delivery.connectionId}`)).toMatchObject({
        state: delivery.state,
        attempts: delivery.attempts,
        confirmation: confirmations.find(isOf(delivery))?.state ?? null,
        corrected_value: corrections.find(isOf(delivery))?.value ?? null,
      });
    expect(last.size).toBe(deliveries.length);

    const manifests = filesIn(folder).filter((name) => name.endsWith("manifest.json"));
    const listed = manifests.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).files);
    expect(listed.map(({ key }) => key).toSorted()).toEqual(filesIn(folder).filter((name) => name.endsWith(".ndjson")));
    for (const { key, sha256 } of listed)
      expect(
        createHash("sha256")
          .update(readFileSync(join(folder, key)))
          .digest("hex"),
      ).toBe(sha256);
  });

  test("an hour that is written again keeps no row of the interrupted export that belongs to a later hour by now", async () => {
    const folder = freshFolder();
    const { siteId, set, run } = await siteWith(folder, start);
    const item = newEvent(siteId, { receivedAt: start + 1 });
    await store.events.accept(item);
    await set();
    await run(start + hourMs + 16 * minuteMs);
    const hold = (at: number) => store.deliveries.settle(settlementOf(item, "queued", { at, dueAt: at }));
    await hold(start + hourMs + 20 * minuteMs);
    // The file of changes is there, the manifest is not.
    await expect(run(start + 2 * hourMs + 16 * minuteMs, store, 2)).rejects.toThrow(Killed);
    expect(rowsOf(folder, "delivery_changes")).toHaveLength(1);
    const due = { siteId, connectionId: "c1" };
    const owner = { by: "row", owner: "node-b", at: start + 2 * hourMs + 20 * minuteMs, dueAt: start + 9 * hourMs } as const;
    expect(await store.deliveries.claimDue(due, owner, 10)).toHaveLength(1);
    await run(start + 2 * hourMs + 30 * minuteMs, other);
    expect(rowsOf(folder, "delivery_changes")).toEqual([]);
    await run(start + 3 * hourMs + 16 * minuteMs);
    expect(rowsOf(folder, "delivery_changes")).toMatchObject([{ event_id: item.event.id, state: "queued" }]);
  });

  test("hours are written again after the clock was set back into them, until each row is in one file", async () => {
    const folder = freshFolder();
    const { siteId, set, run } = await siteWith(folder, start);
    await set();
    const accept = (at: number) => store.events.accept(newEvent(siteId, { receivedAt: at, orderId: `A-${at}` }));
    const times = [start + 1, start + hourMs + 50 * minuteMs, start + 2 * hourMs + 1, start + 3 * hourMs + 1];
    for (const at of times) await accept(at);
    await run(start + 4 * hourMs + 16 * minuteMs);
    expect(rowsOf(folder, "events")).toHaveLength(4);
    // Two hours and a half back. It is noticed when another hour has begun.
    const later = [start + hourMs + 55 * minuteMs, start + 2 * hourMs + 10 * minuteMs, start + 3 * hourMs + 20 * minuteMs];
    await accept(later[0] ?? 0);
    await run(start + 2 * hourMs + minuteMs);
    await accept(later[1] ?? 0);
    expect(await store.dataExports.find(siteId)).toMatchObject({
      nextHour: start + hourMs,
      dueAt: start + 2 * hourMs + 15 * minuteMs,
    });
    // Interrupted in the second hour.
    await expect(run(start + 3 * hourMs + 16 * minuteMs, store, 6)).rejects.toThrow(Killed);
    await accept(later[2] ?? 0);
    await run(start + 5 * hourMs + 16 * minuteMs, other);
    const received = rowsOf(folder, "events").map(({ received_at: at }) => Date.parse(String(at)));
    expect(received.toSorted()).toEqual([...times, ...later].toSorted());
    expect(await run(start + 5 * hourMs + 17 * minuteMs)).toEqual([]);
  });

  test("an event from a node whose clock is behind opens its hour again, also while it is written", async () => {
    const folder = freshFolder();
    const { siteId, site, set, run } = await siteWith(folder, start);
    await set();
    const complete = start + hourMs + 16 * minuteMs;
    const late = (at: number, orderId: string) => {
      const item = newEvent(siteId, { receivedAt: at, orderId });
      return store.events.accept({ ...item, ownership: { ...item.ownership, at: complete } });
    };
    await store.events.accept(newEvent(siteId, { receivedAt: start + 1, orderId: "A-0" }));
    let files = 0;
    const own = { site: (id: string) => (id === siteId ? site : undefined) };
    const mayContinue = async () => {
      files += 1;
      // The file of events is there, the manifest is not.
      if (files === 3) await late(start + 2, "A-1");
      return true;
    };
    await exportDue({ store, directory: own, exportFolder: folder, uploader, mayContinue, now: () => complete });
    expect(files).toBeGreaterThan(3);
    expect(rowsOf(folder, "events")).toHaveLength(2);
    await late(start + 3, "A-2");
    await run(complete);
    expect(rowsOf(folder, "events")).toHaveLength(3);
    expect(rowsOf(folder, "deliveries")).toHaveLength(3);
  });

  test("an event keeps the source, medium and campaign of its visit", async () => {
    const folder = freshFolder();
    const { siteId, set, run } = await siteWith(folder, start);
    const params = { utm_source: "google", utm_medium: "cpc", utm_campaign: "autumn" };
    const utm = readPayload(JSON.stringify({ params }), start)?.utm ?? {};
    await store.events.accept(newEvent(siteId, { receivedAt: start + 1 }, { attribution: { ...unattributed, utm } }));
    await set();
    await run(start + hourMs + 16 * minuteMs);
    expect(rowsOf(folder, "events")).toMatchObject([params]);
  });

  test("an hour that cannot be written is tried again ten minutes later, and no hour is left out", async () => {
    const folder = freshFolder();
    const { siteId, site, set, run } = await siteWith(folder, start);
    const own = { site: (id: string) => (id === siteId ? site : undefined) };
    await store.events.accept(newEvent(siteId, { receivedAt: start + 1 }));
    await set();
    const complete = start + hourMs + 16 * minuteMs;
    expect(await run(complete - 2 * minuteMs)).toMatchObject([{ hours: 0, error: null }]);
    const broken = { store, directory: own, exportFolder: null, uploader, mayContinue: async () => true, now: () => complete };
    expect(await exportDue(broken)).toMatchObject([{ hours: 0, error: expect.stringContaining("CLEANCAST_EXPORT_FOLDER") }]);
    expect(await store.dataExports.find(siteId)).toMatchObject({ failingSince: complete, nextHour: start });
    expect(await run(complete + 9 * minuteMs)).toEqual([]);
    expect(await run(complete + 3 * hourMs)).toMatchObject([{ hours: 4, rows: 2, error: null }]);
    expect(await store.dataExports.find(siteId)).toMatchObject({ error: null, failingSince: null, nextHour: start + 4 * hourMs });

    await removeDataExport(store, siteId, by(complete, folder));
    expect(await run(complete + 9 * hourMs)).toEqual([]);
    await expect(removeDataExport(store, siteId, by(complete, folder))).rejects.toThrow("no data export");
  });

  test("at the same place an export goes on where it was, and adds an earlier past; at another one it begins anew", async () => {
    const folder = freshFolder();
    const now = start + 5 * hourMs;
    const { siteId, site, set, run } = await siteWith(folder, now);
    for (const hour of [0, 2, 4]) await store.events.accept(newEvent(siteId, { receivedAt: start + hour * hourMs }));
    await set(now, start + 3 * hourMs);
    await run(now + 2 * hourMs);
    expect(rowsOf(folder, "events")).toHaveLength(1);
    const next = (await store.dataExports.find(siteId))?.nextHour;
    await set(now + 2 * hourMs);
    expect(await store.dataExports.find(siteId)).toMatchObject({ nextHour: next, liveHour: now });
    // The first event is younger: there is nothing to export before it.
    await set(now + 2 * hourMs, start - 24 * hourMs);
    expect(await store.dataExports.find(siteId)).toMatchObject({ fromHour: start, nextHour: start, liveHour: now });
    expect(await run(now + 2 * hourMs)).toMatchObject([{ hours: 3 }]);
    expect(rowsOf(folder, "events")).toHaveLength(3);

    const bucket = { to: "s3://some-bucket/x", endpoint: "https://s3.example.com", keyId: "K", secret: "s" };
    await setDataExport(store, site, bucket, by(now + 3 * hourMs, folder));
    expect(await store.dataExports.find(siteId)).toMatchObject({ fromHour: now + 3 * hourMs, liveHour: now + 3 * hourMs });
    await setDataExport(store, site, { to: "s3://some-bucket/x", people: true }, by(now + 3 * hourMs, folder));
    expect(await store.dataExports.find(siteId)).toMatchObject({ options: { people: true }, target: { secret: "s" } });
    const elsewhere = { ...bucket, endpoint: "https://s3.other.example", keyId: undefined, secret: undefined };
    await expect(setDataExport(store, site, elsewhere, by(now, folder))).rejects.toThrow("keyId and secret are needed");
  });

  test.each([
    [{ to: "folder" }, "CLEANCAST_EXPORT_FOLDER"],
    [{ to: "/etc" }, "to must be folder or s3://"],
    [{ to: "s3://b" }, "to must be folder or s3://"],
    [{ to: "s3://bucket/../x" }, "to must be folder or s3://"],
    [{ to: "s3://bucket" }, "endpoint must be"],
    [{ to: "s3://bucket", endpoint: "http://s3.example.com" }, "https"],
    [{ to: "s3://bucket", endpoint: "https://169.254.169.254" }, "private address"],
    [{ to: "s3://bucket", endpoint: "https://u:p@s3.example.com" }, "user name"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com/?x" }, "endpoint must be"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com", region: "a b" }, "region must be"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com", keyId: "K" }, "keyId and secret are needed"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com", keyId: "K", secret: "a\nb" }, "printable ASCII"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com", keyId: "K", secret: "s", since: "2020-01-01" }, "400 days"],
    [{ to: "s3://bucket", endpoint: "https://s3.example.com", keyId: "K", secret: "s", since: "2030-01-01" }, "in the past"],
  ])("%j is refused", async (wanted, message) => {
    const { siteId, site } = await siteWith(freshFolder(), start);
    await expect(setDataExport(store, site, wanted, by(start, null))).rejects.toThrow(message);
    expect(await store.dataExports.find(siteId)).toBeNull();
  });
});
