// The dispatch step: all connections are tried in parallel, and the answer has a result for each platform.

import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, freshEvent, summarize } from "./answers.ts";

/** No server listens on this port. */
const deadUrl = "http://127.0.0.1:9/";

const sent = accepted("purchase", { webhook: { ok: true } });
const failed = (status: string, error: string) => accepted("purchase", { webhook: { ok: false, status, error } });

function answering(status: number, headers: Record<string, string> = {}): Receiver["behave"] {
  return (_request, response) => response.writeHead(status, headers).end("{}");
}

/** Returns the sorted order ids of some events. */
const ordersOf = (events: readonly { orderId?: unknown }[]) => events.map(({ orderId }) => String(orderId)).toSorted();

describe.each(endToEndEngines)("results per platform on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  const sites = new Map<string, TestSite>();
  const connections = new Map<string, string>();
  const behaviours = new Map<string, Receiver["behave"]>();

  /** Adds a site with a webhook for each path; each path of the receiver has its own behaviour. */
  async function site(name: string, ...paths: string[]): Promise<TestSite> {
    const added = await home.addSite(`${name}.example`);
    for (const path of paths) {
      const url = path.startsWith("http") ? path : `${receiver.url}/${path}`;
      connections.set(path, (await home.run("connection", "add", added.host, "webhook", `url=${url}`)).connection.id);
    }
    sites.set(name, added);
    return added;
  }

  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.behave = (request, response) => (behaviours.get(request.path.slice(1)) ?? answering(200))(request, response);
    home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "2", CLEANCAST_ATTEMPT_SECONDS: "3" });
    await site("none");
    await site("one", "one");
    await site("two", "two-a", "two-b");
    await site("mixed", "mixed");
    await home.run("connection", "add", "mixed.example", "sandbox");
    await site("picky");
    for (const [path, events] of [
      ["picky", "events=Purchase, lead"],
      ["rest", "events=refund"],
    ] as const) {
      const url = `url=${receiver.url}/${path}`;
      connections.set(path, (await home.run("connection", "add", "picky.example", "webhook", url, events)).connection.id);
    }
    await site("broken", "broken");
    await site("dead", deadUrl);
    await site("hanging", "hanging", "healthy");
    await site("failing", "failing");
    await site("parked", "parked");
    await site("paused", "paused");
    await home.run("connection", "pause", String(connections.get("paused")));
    await site("left", "left", "kept");
    await home.run("connection", "remove", String(connections.get("left")), "--yes");
    relay = await home.start();
  });

  const send = async (name: string, event = freshEvent()) => summarize(await relay.post(sites.get(name)?.key ?? "", event));
  const arrived = (path: string) => receiver.got.filter((one) => one.path === `/${path}`).map((one) => JSON.parse(one.text));
  const states = async (name: string) => {
    const { items: events } = await home.run("event", "list", `${name}.example`);
    return events.map((event: { deliveries: { state: string; reason: string | null }[] }) =>
      event.deliveries.map(({ state, reason }) => [state, reason]),
    );
  };

  test("the results of a site without connections are empty", async () => {
    expect(await send("none")).toEqual(accepted("purchase", {}));
  });

  test("the result of a platform that accepts is ok and nothing else", async () => {
    expect(await send("one")).toEqual(sent);
    expect(arrived("one")).toHaveLength(1);
    expect(await states("one")).toEqual([[["sent", null]]]);
  });

  test("the results have a key for every connected platform", async () => {
    const { text } = await send("mixed");
    expect(JSON.parse(text)).toEqual({
      ok: true,
      event: "purchase",
      results: { webhook: { ok: true }, sandbox: { ok: true } },
    });
  });

  test("a failing platform does not affect the other's result, and the status is 200", async () => {
    behaviours.set("mixed", answering(500));
    const { status, text } = await send("mixed");
    behaviours.delete("mixed");
    expect([status, JSON.parse(text).results]).toEqual([
      200,
      { webhook: { ok: false, status: "queued", error: "HTTP 500" }, sandbox: { ok: true } },
    ]);
  });

  test("all connections are tried in parallel", async () => {
    const waiting: ServerResponse[] = [];
    // Neither request is answered before both have arrived.
    const together: Receiver["behave"] = (_request, response) => {
      waiting.push(response);
      if (waiting.length === 2) for (const one of waiting) one.writeHead(200).end();
    };
    behaviours.set("two-a", together);
    behaviours.set("two-b", together);
    expect(await send("two")).toEqual(sent);
  });

  test("two connections of one platform share its key, which is ok only when both are, and the error names the one", async () => {
    const [ok, no] = [answering(200), answering(400)];
    const rejectedBy = (...paths: string[]) => {
      const named = paths.map((path) => `connection ${connections.get(path)}: HTTP 400`);
      return failed("rejected", named.join("; "));
    };
    for (const [a, b, expected] of [
      [ok, ok, [sent]],
      [ok, no, [rejectedBy("two-b")]],
      [no, ok, [rejectedBy("two-a")]],
      [no, no, [rejectedBy("two-a", "two-b"), rejectedBy("two-b", "two-a")]],
    ] as const) {
      behaviours.set("two-a", a);
      behaviours.set("two-b", b);
      expect(expected).toContainEqual(await send("two"));
    }
    // Both receive each event under the same id.
    const [a, b] = ["two-a", "two-b"].map((path) => arrived(path).map(({ platformEventId }) => platformEventId));
    expect(a).toEqual(b);
  });

  test("an event that the connection does not select is skipped; names are compared in any case", async () => {
    for (const event of ["purchase", "PURCHASE", "Lead", " lead "]) {
      const answer = await send("picky", freshEvent({ event }));
      // The second connection selects none of these.
      const error = `connection ${connections.get("rest")}: event not selected`;
      expect(answer).toEqual(accepted(event, { webhook: { ok: false, status: "skipped", error } }));
    }
    expect(arrived("picky").map(({ event }) => event)).toEqual(["purchase", "PURCHASE", "Lead", " lead "]);
    expect(arrived("rest")).toEqual([]);
    const { text } = await send("picky", freshEvent({ event: "signup" }));
    for (const path of ["picky", "rest"]) expect(text).toContain(`connection ${connections.get(path)}: event not selected`);
    expect(arrived("picky")).toHaveLength(4);
  });

  test.each([
    [400, "rejected", "HTTP 400"],
    [404, "rejected", "HTTP 404"],
    [422, "rejected", "HTTP 422"],
    [302, "rejected", "HTTP 302: redirects are not followed"],
    [408, "queued", "HTTP 408"],
    [425, "queued", "HTTP 425"],
    [429, "queued", "HTTP 429"],
    [500, "queued", "HTTP 500"],
    [503, "queued", "HTTP 503"],
  ])("a platform that answers %d leaves the event %s", async (status, state, error) => {
    behaviours.set("broken", answering(status, status === 302 ? { location: `${receiver.url}/elsewhere` } : {}));
    expect(await send("broken")).toEqual(failed(state, error));
    expect((await states("broken"))[0]).toEqual([[state, error]]);
    behaviours.delete("broken");
    expect(arrived("elsewhere")).toEqual([]);
    // Several failures in a row would open the breaker, and the next events would not be tried.
    if (state === "queued") await eventually("the event is sent", async () => (await states("broken"))[0]?.[0]?.[0] === "sent");
  });

  test("a 429 that asks to wait for a month gives one of the four statuses", async () => {
    behaviours.set("broken", answering(429, { "retry-after": String(30 * 86_400) }));
    const { text } = await send("broken");
    behaviours.delete("broken");
    const { status } = JSON.parse(text).results.webhook;
    expect(["queued", "skipped", "rejected", "parked"]).toContain(status);
  });

  test("a platform that cannot be reached leaves the event queued", async () => {
    expect(await send("dead")).toEqual(failed("queued", "connection refused"));
  });

  test("a platform that does not answer in time affects only its own result", async () => {
    behaviours.set("hanging", () => {});
    const error = `connection ${connections.get("hanging")}: no answer within 3 s`;
    expect(await send("hanging")).toEqual(failed("queued", error));
    expect(arrived("healthy")).toHaveLength(1);
    behaviours.delete("hanging");
  });

  test("a queued event is retried under the same id until it is sent", async () => {
    behaviours.set("failing", answering(500));
    const event = freshEvent();
    expect(await send("failing", event)).toEqual(failed("queued", "HTTP 500"));
    behaviours.set("failing", answering(200));
    await eventually("the event is sent", async () => {
      const [delivery] = (await states("failing"))[0];
      return delivery[0] === "sent";
    });
    const attempts = arrived("failing");
    expect(attempts).toHaveLength(2);
    expect(attempts[1]).toEqual(attempts[0]);

    const trace = await home.run("event", "show", attempts[0].platformEventId);
    expect(trace.deliveries).toEqual([
      {
        connection: connections.get("failing"),
        platform: "webhook",
        state: "sent",
        reason: null,
        reasonPersists: false,
        sentAs: null,
        attempts: 2,
        nextTryAt: null,
        updatedAt: expect.any(Number),
        confirmation: null,
        correction: null,
        log: [
          expect.objectContaining({ number: 1, state: "queued", reason: "HTTP 500", httpStatus: 500 }),
          expect.objectContaining({
            number: 2,
            state: "sent",
            reason: null,
            httpStatus: 200,
            response: "{}",
          }),
        ],
      },
    ]);
  });

  test("a platform's 401 parks the connection until it is reconnected, and only then are its events sent", async () => {
    behaviours.set("parked", answering(401));
    const needs = failed("parked", "needs reconnection: HTTP 401: not authorised");
    const events = [freshEvent(), freshEvent(), freshEvent()];
    expect(await send("parked", events[0])).toEqual(needs);
    // The connection is parked, so the platform is not called again.
    behaviours.set("parked", answering(200));
    expect(await send("parked", events[1])).toEqual(needs);
    expect(await send("parked", events[2])).toEqual(needs);
    expect(arrived("parked")).toHaveLength(1);
    const listed = await home.run("connection", "list", "parked.example");
    expect(listed.items).toMatchObject([{ state: "needs reconnection", stateReason: "HTTP 401: not authorised" }]);

    const url = `url=${receiver.url}/parked`;
    expect(await home.run("connection", "add", "parked.example", "webhook", url)).toMatchObject({
      connection: { id: connections.get("parked"), platform: "webhook" },
      isNew: false,
      released: expect.any(Number),
    });
    // An event that arrives before the relay has read the change is sent too.
    events.push(freshEvent());
    await send("parked", events[3]);
    await eventually("all events are sent", () => arrived("parked").length >= 5);
    expect(ordersOf(arrived("parked"))).toEqual(ordersOf([...events.slice(0, 1), ...events]));
    expect(await send("parked")).toEqual(sent);
  });

  test("a paused connection parks its events and sends them when it is resumed", async () => {
    const events = [freshEvent(), freshEvent()];
    expect(await send("paused", events[0])).toEqual(failed("parked", "paused"));
    expect(await states("paused")).toEqual([[["parked", "paused"]]]);
    expect(arrived("paused")).toEqual([]);
    const id = String(connections.get("paused"));
    // The relay may see first that the connection is active, and release it.
    expect(await home.run("connection", "resume", id)).toEqual({ released: expect.any(Number) });
    // An event that arrives before the relay has read the change is sent too.
    await send("paused", events[1]);
    await eventually("both events are sent", () => arrived("paused").length >= 2);
    expect(ordersOf(arrived("paused"))).toEqual(ordersOf(events));
  });

  test("a disconnected platform is not called, and has no key in the results", async () => {
    expect(await send("left")).toEqual(sent);
    expect([arrived("left").length, arrived("kept").length]).toEqual([0, 1]);
  });
});
