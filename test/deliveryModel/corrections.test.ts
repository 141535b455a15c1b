// Walks every order of a partial refund, the refund of the rest, the platform's answers, a resend of the queue, a correction and a
// replay, with the real store and workers and a model of what Google counts. A refunded order never counts at full value, and no
// correction makes a conversion of one that Google did not count.

import { afterAll, describe, expect, test } from "vitest";
import { createConfirmationJob } from "../../src/delivery/confirmations/worker.ts";
import { createCorrectionJob } from "../../src/delivery/corrections/worker.ts";
import { sendDue } from "../../src/delivery/due/claim.ts";
import type { Job } from "../../src/delivery/job.ts";
import { createQuota } from "../../src/delivery/lanes/quota.ts";
import type { Lanes } from "../../src/delivery/lanes/lanes.ts";
import { replay } from "../../src/delivery/replay.ts";
import type { Sender } from "../../src/delivery/send.ts";
import { shortId } from "../../src/kernel/ids.ts";
import { hourMs, minuteMs } from "../../src/kernel/time.ts";
import { confirmations as examples } from "../../src/platforms/google_ads/confirmationExamples.ts";
import { connectPlatform } from "../../src/sites/connect.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { changeSiteSettings, findSite } from "../../src/sites/manage.ts";
import { byNode, newAttempt, newEvent, newSite } from "../support/events.ts";
import { createNodes } from "../support/nodes.ts";
import { storeSent } from "../support/sentEvents.ts";

const start = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now: start, checkAddress: () => null };
const settings = {
  customer_id: "123-456-7890",
  access_token: "token",
  conversion_action: "7700000001",
  enhanced_conversions_for_leads: "on",
};

const body = (title: string) => examples.responses.find((one) => one.title === title)?.body ?? expect.unreachable(title);
const bodies = {
  counted: body("every conversion counts"),
  "no click": body("no conversion has a click"),
  "too new": body("the click is too new: the conversion is sent again"),
};
type Verdict = keyof typeof bodies;

/** What Google says of each sending, in their order. Every further one counts. */
const verdicts: Readonly<Record<string, readonly Verdict[]>> = {
  "counts at once": [],
  "counts the second sending": ["too new"],
  "never counts it": ["no click", "no click", "no click", "no click"],
  "does not count the second sending either": ["too new", "no click", "no click", "no click"],
};

/** Google's side: a sending counts once it is decided. A correction of what is not counted makes a conversion. */
function createGoogle(script: readonly Verdict[]) {
  const sendings = new Map<string, { value: number | null; verdict: Verdict }>();
  return {
    counted: null as number | null,
    faults: [] as string[],
    send(value: number | null): string {
      const id = `t-${sendings.size + 1}`;
      sendings.set(id, { value, verdict: script[sendings.size] ?? "counted" });
      return id;
    },
    decide(id: string): string {
      const { value = null, verdict = "counted" } = sendings.get(id) ?? {};
      if (verdict === "counted") this.counted = value;
      return bodies[verdict];
    },
    correct(value: number): void {
      if (this.counted === null) this.faults.push(`a correction to ${value} made a conversion`);
      this.counted = value;
    },
  };
}

const steps = ["refund 30", "refund 70", "confirm", "send due", "correct", "replay"] as const;
type Step = (typeof steps)[number];

function* ordersOf<One>(some: readonly One[]): Generator<One[]> {
  if (some.length === 0) yield [];
  for (const [i, one] of some.entries()) for (const rest of ordersOf(some.toSpliced(i, 1))) yield [one, ...rest];
}

/** The refunds add up in either order, so one is enough. */
const twoRefunds = [...ordersOf<Step>(steps)].filter((walk) => walk.indexOf("refund 30") < walk.indexOf("refund 70"));
/** A conversion that is never counted needs no second refund to be wrong. */
const oneRefund = [...ordersOf<Step>(steps.filter((step) => step !== "refund 70"))];

describe.each(Object.entries(verdicts))("Google %s", async (_what, script) => {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function walk(taken: readonly Step[]): Promise<{ counted: number | null; faults: string[] }> {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = () => findSite(context, siteId);
    const { connection } = await connectPlatform(context, site(), "google_ads", { settings }, by);
    await changeSiteSettings(context, site(), { corrections: "on" }, by);
    await directory.refresh();
    const google = createGoogle(script);
    let at = start;

    const sender: Sender = {
      send({ url, body: sent }) {
        const asked = new URL(url).searchParams.get("requestId");
        if (asked === null)
          for (const event of (JSON.parse(sent) as { events: { conversionValue: number }[] }).events)
            google.correct(event.conversionValue);
        const answer = asked === null ? '{"requestId":"c"}' : google.decide(asked);
        return Promise.resolve({ ok: true, response: { status: 200, headers: {}, body: answer } });
      },
      close: () => Promise.resolve(),
    };
    const job = {
      store,
      sender,
      tokens: { fresh: <One>(one: One) => Promise.resolve(one) },
      quota: createQuota(),
      owner: "node",
      now: () => at,
      elapsed: () => at,
      onDefect: (error: unknown) => expect.unreachable(String(error)),
    };
    const ofSite = { sites: () => [site()] };
    const confirm = createConfirmationJob({ ...job, directory: ofSite, onAsked() {}, onConfirmed() {} });
    const correct = createCorrectionJob({ ...job, directory: ofSite, onCorrected() {} });

    /** Lanes in which Google takes what it is given. */
    const sent: Promise<void>[] = [];
    async function accept({ eventId, connectionId, conversion, attemptsMade }: Job): Promise<void> {
      const response = JSON.stringify({ requestId: google.send(conversion.value) });
      const attempt = newAttempt("sent", { number: attemptsMade + 1, startedAt: at, response });
      const ended = { state: "sent", reason: null, dueAt: 0, attempts: attemptsMade + 1, at, attempt } as const;
      await store.deliveries.settle({ siteId, eventId, connectionId, owner: "node", ...ended });
    }
    const lanes: Lanes = {
      send(one) {
        sent.push(accept(one));
        return Promise.resolve({ ok: true });
      },
      inHand: () => new Set(),
      withdraw: () => false,
      capacity: () => 10,
      depths: () => [],
      idle: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    const clock = { read: async () => ({ now: at, isOff: false }), fromLocal: (one: number) => one, lagMs: () => 0 };
    const due = { ...job, directory, lanes, leaseMs: minuteMs, clock };

    await correct.run();
    at += minuteMs;
    const fields = { name: "purchase", value: 100, currency: "EUR", orderId: "A-1", time: at };
    await storeSent(store, connection, JSON.stringify({ requestId: google.send(100) }), at, fields);

    const refund = async (value: number) => {
      const planned = { connectionId: connection.id, platform: "google_ads", state: "skipped", reason: "no refunds" } as const;
      const given = { name: "refund", receivedAt: at, orderId: "#a-1", value, currency: "EUR" };
      await store.events.accept(newEvent(siteId, given, { deliveries: [planned], ownership: byNode(), claim: shortId() }));
    };
    const take: Record<Step, () => Promise<unknown>> = {
      "refund 30": () => refund(30),
      "refund 70": () => refund(70),
      confirm: () => confirm.run(),
      "send due": async () => {
        await sendDue(due, { siteId, connectionId: connection.id }, { onCapacity() {}, pollAgain() {} });
        await Promise.all(sent.splice(0));
      },
      correct: () => correct.run(),
      replay: () => replay(context, site(), { states: ["sent"] }, { ...by, now: at, dryRun: false }),
    };
    for (const step of taken) {
      at += 3.5 * hourMs;
      await take[step]();
    }
    // Whatever is left to do is done, as the relay would.
    for (let round = 0; round < 8; round++) {
      at += 8 * hourMs;
      for (const step of ["confirm", "send due", "correct"] as const) await take[step]();
    }
    return google;
  }

  test.each([
    ["one refund", oneRefund, 70],
    ...(script.includes("no click") ? [] : [["two refunds", twoRefunds, 0] as const]),
  ] as const)(
    "after %s in any order, what counts is what is left, and no correction makes a conversion",
    async (_name, all, left) => {
      for (const taken of all) {
        const { counted, faults } = await walk(taken);
        expect({ taken, faults }).toEqual({ taken, faults: [] });
        // Google keeps a conversion that was taken back, with the value 0, and may never count it.
        const isNever = script.includes("no click") && counted === null;
        expect([taken, counted ?? (isNever ? left : 0)]).toEqual([taken, left]);
      }
    },
  );
});
