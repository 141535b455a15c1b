// Sources that need a person: with a real store, whose rows the endpoint of sources writes.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { checkSources } from "../doctor/sources.ts";
import type { StoreContext } from "../doctor/finding.ts";
import { ulid } from "../kernel/ids.ts";
import { english } from "../kernel/messages/message.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import { createDirectory, type Site, type Source } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { addSource, setSourceState } from "../sites/sources.ts";
import type { SourceOutcome } from "../store/sources/sourceRequests.ts";
import type { Alert } from "../store/statistics/alerts.ts";
import { createSignatureCheck, createSourceFailureCheck, createSourceSilenceCheck } from "./sources.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now: now - 40 * dayMs };

describe("sources that need a person", async () => {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function add(kind: string, settings: Record<string, string> = { signing_secret: "s" }): Promise<Source> {
    const siteId = await newSite(store);
    await directory.refresh();
    return (await addSource(context, findSite(context, siteId), kind, { settings }, by)).source;
  }

  /** Stores requests, one a minute, of which the last came `ago`. */
  async function received({ siteId, id: sourceId }: Source, outcome: SourceOutcome, count: number, ago = 0): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => {
      const at = now - ago - i * minuteMs;
      return {
        siteId,
        sourceId,
        id: ulid(at),
        at,
        outcome,
        reason: null,
        detail: null,
        type: "",
        deliveryId: null,
        eventId: null,
        dueAt: null,
        attempts: 0,
      };
    });
    await store.sourceRequests.add(rows);
  }

  const siteOf = async ({ siteId }: Source): Promise<Site> => {
    await directory.refresh();
    return directory.site(siteId) as Site;
  };

  async function find(source: Source, check: ReturnType<typeof createSignatureCheck>): Promise<string[]> {
    const site = await siteOf(source);
    expect(check.mayFind(site, now)).toBe(true);
    const findings = await check.check(store, site, [], now);
    // What was found is not read again for a while.
    expect(check.mayFind(site, now + minuteMs)).toBe(findings.length > 0);
    return findings.map(({ subject, text }) => {
      expect(subject).toBe(source.id);
      return english(text);
    });
  }

  async function diagnose(source: Source): Promise<string[]> {
    const site = await siteOf(source);
    const findings = await Array.fromAsync(checkSources(site, { store, directory, now } as StoreContext));
    return findings.map(({ level, what }) => `${level}: ${what.replace(/^.*\(\w+\)/, "it")}`);
  }

  test("three wrong signatures in an hour raise an alert, unless more requests are authentic", async () => {
    const source = await add("stripe");
    await received(source, "refused", 2);
    expect(await find(source, createSignatureCheck())).toEqual([]);
    await received(source, "refused", 1, 10 * minuteMs);
    expect(await find(source, createSignatureCheck())).toEqual([
      "Stripe: 3 requests with a wrong signature since 2026-11-15 11:50 UTC. They are refused, and nothing of them is counted.",
    ]);
    expect(await diagnose(source)).toContain("error: it: the last 3 requests got an error, since 2026-11-15 11:50 UTC");
    await received(source, "accepted", 4, 20 * minuteMs);
    expect(await find(source, createSignatureCheck())).toEqual([]);
  });

  test("old wrong signatures raise none", async () => {
    const source = await add("stripe");
    await received(source, "refused", 5, 2 * hourMs);
    expect(await find(source, createSignatureCheck())).toEqual([]);
  });

  test("a sender that counts failures is reported after half of them, and one success ends it", async () => {
    const source = await add("shopify");
    await received(source, "accepted", 1, hourMs);
    await received(source, "postponed", 3, minuteMs);
    expect(await find(source, createSourceFailureCheck())).toEqual([]);
    await received(source, "refused", 1);
    expect(await find(source, createSourceFailureCheck())).toEqual([
      "The last 4 requests of Shopify got an error, since 2026-11-15 11:57 UTC. The sender switches its webhook off after 8 failures in a row.",
    ]);
    await received(source, "ignored", 1, -minuteMs);
    expect(await find(source, createSourceFailureCheck())).toEqual([]);
  });

  test("a sender that counts hours is reported after half of them, others after twelve", async () => {
    const [calendly, stripe] = [await add("calendly"), await add("stripe")];
    for (const source of [calendly, stripe]) {
      await received(source, "postponed", 3, 11 * hourMs);
      expect(await find(source, createSourceFailureCheck())).toEqual([]);
      await received(source, "postponed", 1, 13 * hourMs);
    }
    expect(await find(calendly, createSourceFailureCheck())).toEqual([
      expect.stringContaining("switches its webhook off after 24 hours without a success."),
    ]);
    expect(await find(stripe, createSourceFailureCheck())).toEqual([
      expect.stringContaining("Senders switch a webhook off that fails for too long."),
    ]);
  });

  test("an unusual silence raises an alert, which the next request ends; a paused source is not judged", async () => {
    const source = await add("stripe");
    const { siteId, id: keyId } = source;
    const thisHour = Math.floor(now / hourMs);
    const hours = Array.from({ length: 29 * 24 }, (_, i) => thisHour - 5 - i);
    await store.keyUse.addUses(hours.map((hour) => ({ siteId, keyId, hour, uses: 3, lastUsedAt: hour * hourMs })));
    const check = createSourceSilenceCheck();
    const site = await siteOf(source);
    const [found] = await check.check(store, site, [], now);
    expect(english(found?.text ?? "")).toBe(
      "Stripe has sent no request since 2026-11-15 07:00 UTC. In the last four weeks the longest pause at these hours was about an hour.",
    );
    const open: Alert = {
      ...(found ?? { kind: "source silence", subject: "", text: "" }),
      siteId,
      beganAt: now,
      notifiedAt: null,
      endedAt: null,
      notifications: {},
    };
    expect(await createSourceSilenceCheck().check(store, site, [open], now + hourMs)).toEqual([found]);
    await store.keyUse.addUses([{ siteId, keyId, hour: thisHour, uses: 1, lastUsedAt: now + minuteMs }]);
    expect(await createSourceSilenceCheck().check(store, site, [open], now + hourMs)).toEqual([]);
    await setSourceState(context, source, "paused", by);
    expect(await createSourceSilenceCheck().check(store, await siteOf(source), [], now + 9 * hourMs)).toEqual([]);
    expect(await diagnose(source)).toEqual(["note: it is paused: its sender has to repeat every request"]);
  });

  test("doctor names a missing secret, and a source that never received a request", async () => {
    expect(await diagnose(await add("stripe", {}))).toEqual([
      "warning: it has no signing_secret yet: its sender has to repeat every request",
    ]);
    expect(await diagnose(await add("stripe"))).toEqual(["warning: it has never received a request"]);
  });
});
