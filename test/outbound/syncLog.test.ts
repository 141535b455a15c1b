// The sync log from the command line while the relay runs: listing, replaying and cancelling deliveries.

import { beforeAll, describe, expect, test } from "vitest";
import { change } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

type Line = { event: { orderId: string }; state: string };

describe.each(engines)("the sync log on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let sites = 0;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "3600" });
    relay = await home.start();
  });

  /** Adds a site for one test, and returns it with the id of its connection. */
  async function newSite(): Promise<TestSite & { connection: string; path: string }> {
    sites += 1;
    const host = `log${sites}.example`;
    const path = `/hook${sites}`;
    const site = await home.run("site", "add", host);
    const {
      connection: { id },
    } = await home.run("connection", "add", host, "webhook", `url=${receiver.url}${path}`);
    const { key } = await home.run("key", "add", host, "test sender");
    // A relay that knows the key also knows the connection, which was added before it.
    await eventually("the relay knows the key", async () => (await relay.post(key, {})).status === 400);
    return { id: site.id, host, key, connection: id, path };
  }
  const answer = (status: number, text = "{}") => {
    receiver.behave = (_got, response) => response.writeHead(status).end(text);
  };
  const send = (site: TestSite, event: Record<string, unknown>) =>
    relay.post(site.key, { email: "ada@example.com", event: "purchase", ...event });
  const log = (...args: string[]) => home.run("delivery", "list", ...args);
  const gotAt = (path: string) => receiver.got.filter((one) => one.path === path).length;
  const states = async (site: TestSite) =>
    (await log(site.host)).items.map(({ event, state }: Line) => `${event.orderId} ${state}`);

  test("the sync log lists deliveries newest first, with filters and pages", async () => {
    const site = await newSite();
    answer(200);
    await send(site, { orderId: "A-1", value: 10, currency: "EUR" });
    answer(422, "no such thing");
    await send(site, { orderId: "A-2", event: "lead", email: "bob@example.com" });
    const { items, next } = await log(site.host);
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { event: { name: "lead", orderId: "A-2" }, state: "rejected", attempts: 1, nextTryAt: null, platform: "webhook" },
      { event: { name: "purchase", orderId: "A-1", value: 10, currency: "EUR" }, state: "sent", reason: null },
    ]);
    const orders = async (...args: string[]) => (await log(site.host, ...args)).items.map(({ event }: Line) => event.orderId);
    expect(await orders("--state", "rejected,expired")).toEqual(["A-2"]);
    expect(await orders("--event", "Lead")).toEqual(["A-2"]);
    expect(await orders("--order", "A-1")).toEqual(["A-1"]);
    expect(await orders("--email", " Bob@Example.com ")).toEqual(["A-2"]);
    expect(await orders("--connection", site.connection, "--from", "1h")).toEqual(["A-2", "A-1"]);
    expect(await orders("--platform", "meta")).toEqual([]);
    expect(await orders("--to", "1h")).toEqual([]);
    expect(await log(site.host, "--state", "sent", "--count")).toEqual({ count: 1 });
    const first = await log(site.host, "--limit", "1");
    expect(first.items).toHaveLength(1);
    expect(await orders("--limit", "1", "--cursor", first.next)).toEqual(["A-1"]);
    expect(await home.print("delivery", "list", site.host)).toMatch(/^RECEIVED \(UTC\) +SITE .*\n.*lead.*rejected/);
    expect((await log("--order", "A-2")).items).toHaveLength(1);
  });

  test("the sync log shows the request and the answer of a delivery that was sent at once", async () => {
    const site = await newSite();
    answer(200, '{"taken":1}');
    await send(site, { orderId: "S-2" });
    const eventId = (await log(site.host)).items[0].event.id;
    const [delivery] = (await home.run("delivery", "show", eventId)).deliveries;
    const request = expect.stringMatching(/^POST [^]*"S-2"/);
    expect(delivery.log).toMatchObject([{ number: 1, state: "sent", request, response: '{"taken":1}' }]);
  });

  test("the sync log shows each attempt's request, answer, duration and decision, without secrets", async () => {
    const site = await newSite();
    answer(422, "no such thing");
    await send(site, { orderId: "S-1" });
    const eventId = (await log(site.host)).items[0].event.id;
    const { deliveries } = await home.run("delivery", "show", eventId, "--connection", site.connection);
    expect(deliveries).toMatchObject([
      {
        state: "rejected",
        log: [{ number: 1, httpStatus: 422, response: "no such thing", state: "rejected" }],
      },
    ]);
    const text = await home.print("delivery", "show", eventId);
    expect(text).toMatch(/attempt 1 {2}\S+ \S+ {2}\d+ ms {2}HTTP 422\n {4}decided: rejected/);
    expect(text).toContain("> POST");
    expect(text).toContain("< no such thing");
    expect(text).not.toContain(site.path);
    expect(await home.fails("delivery", "show", eventId, "--connection", "nothing")).toMatchObject({
      field: "connection",
    });
  });

  test("a filter with an unknown name is an error, not an empty list", async () => {
    const [site, other] = [await newSite(), await newSite()];
    answer(200);
    await send(site, { orderId: "N-1" });
    const eventId = (await log(site.host)).items[0].event.id;
    for (const command of ["list", "replay", "cancel"]) {
      const refused = (...args: string[]) => home.fails("delivery", command, ...args);
      expect(await refused(site.host, "--connection", "nothing")).toMatchObject({
        field: "connection",
        error: expect.stringMatching(/^There is no connection nothing at this site\. 'cleancast connection list'/),
      });
      expect(await refused(site.host, "--connection", other.connection)).toMatchObject({
        field: "connection",
      });
      expect(await refused(site.host, "--platform", "metta")).toMatchObject({ field: "platform" });
      expect(await refused(other.host, "--id", eventId)).toMatchObject({ field: "event" });
      expect(await refused("nobody.example", "--state", "sent")).toMatchObject({ field: "site" });
    }
    expect(await home.fails("delivery", "list", "--connection", "nothing")).toMatchObject({
      error: expect.stringMatching(/^There is no connection nothing\. /),
    });
    expect((await log("--connection", site.connection, "--id", eventId)).items).toHaveLength(1);
    expect((await log(other.host, "--connection", other.connection)).items).toEqual([]);
    // The deliveries of a removed connection stay listed.
    await home.run("connection", "remove", site.connection, "--yes");
    expect((await log(site.host, "--connection", site.connection)).items).toHaveLength(1);
  });

  test("a replay of failed deliveries first reports their number, and keeps the attempts", async () => {
    const site = await newSite();
    answer(422);
    for (const orderId of ["R-1", "R-2", "R-3"]) await send(site, { orderId });
    answer(200);
    const before = gotAt(site.path);
    const which = [site.host, "--connection", site.connection];
    expect(await home.run("delivery", "replay", ...which, "--dry-run")).toEqual({
      found: 3,
      changed: 3,
      leftAlone: {},
      waiting: {},
    });
    expect(await home.print("delivery", "replay", ...which, "--dry-run")).toBe("3 of 3 deliveries would be sent again.\n");
    expect(await states(site)).toEqual(["R-3 rejected", "R-2 rejected", "R-1 rejected"]);
    expect(gotAt(site.path)).toBe(before);

    expect(await home.run("delivery", "replay", ...which, "--yes")).toMatchObject({
      changed: 3,
    });
    await eventually("all deliveries are sent", async () => (await states(site)).every((one: string) => one.endsWith("sent")));
    expect(gotAt(site.path)).toBe(before + 3);
    const eventId = (await log(site.host)).items[0].event.id;
    const [{ log: attempts }] = (await home.run("delivery", "show", eventId)).deliveries;
    expect(attempts.map((one: { state: string }) => one.state)).toEqual(["rejected", "sent"]);

    // Sent deliveries are replayed only on request.
    expect(await home.run("delivery", "replay", ...which, "--yes")).toMatchObject({
      found: 0,
      changed: 0,
    });
    const again = [site.host, "--order", "R-1", "--state", "sent", "--yes"];
    expect(await home.run("delivery", "replay", ...again)).toMatchObject({ changed: 1 });
    await eventually("the delivery is sent again", () => gotAt(site.path) === before + 4);

    const audit = (await home.run("audit", site.host)).items.filter(
      (line: { action: string }) => line.action === "deliveries replayed",
    );
    expect(audit).toHaveLength(2);
    expect(audit[1]).toMatchObject({ actor: "command line", detail: { changed: 3 } });
  });

  test("deliveries of an erased person or a removed connection are not replayed", async () => {
    const site = await newSite();
    answer(422);
    await send(site, { orderId: "E-1", email: "gone@example.com" });
    await send(site, { orderId: "E-2" });
    answer(200);
    const before = gotAt(site.path);
    await home.run("person", "erase", site.host, "--email", "gone@example.com", "--yes");
    expect(await home.fails("delivery", "replay", site.host, "--order", "E-1", "--yes")).toMatchObject({
      error: "Nothing to replay: 1 × their person was erased.",
      field: "deliveries",
    });
    await home.run("connection", "remove", site.connection, "--yes");
    expect(await home.fails("delivery", "replay", site.host, "--state", "rejected", "--yes")).toMatchObject({
      error: "Nothing to replay: 2 × their connection was removed.",
    });
    expect(gotAt(site.path)).toBe(before);
    const { items: audit } = await home.run("audit", site.host);
    expect(JSON.stringify(audit)).not.toContain("gone@");
  });

  test("an event that the connection does not select is not replayed", async () => {
    const site = await newSite();
    answer(422);
    await send(site, { orderId: "O-1" });
    answer(200);
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}${site.path}`, "events=lead");
    expect(await home.fails("delivery", "replay", site.host, "--order", "O-1", "--yes")).toMatchObject({
      error: "Nothing to replay: 1 × their event is not selected for the connection.",
    });
  });

  test("an old event is replayed where the platform sets no age limit", async () => {
    const site = await newSite();
    answer(422);
    await send(site, { orderId: "T-1" });
    answer(200);
    const before = gotAt(site.path);
    await change(home, `UPDATE events SET time = 1, received_at = 1 WHERE order_id = 'T-1'`);
    await home.run("delivery", "replay", site.host, "--order", "T-1", "--yes");
    await eventually("the delivery is sent", async () => (await states(site)).includes("T-1 sent"));
    expect(gotAt(site.path)).toBe(before + 1);
  });

  test("a replayed event that is too old for the platform by now expires when it is due", async () => {
    const site = await newSite();
    answer(200);
    const settings = ["pixel_id=1234567890123456", "access_token=EXAMPLE"];
    const { connection } = await home.run("connection", "add", site.host, "meta", ...settings, "--no-verify");
    await home.run("connection", "pause", connection.id);
    const ofMeta = async () => (await log(site.host, "--platform", "meta")).items.map(({ state }: Line) => state);
    await eventually("the relay knows of the pause", async () => {
      await send(site, { event: "lead", orderId: `T-2 ${Math.random()}` });
      return (await ofMeta()).includes("parked");
    });
    await change(home, `UPDATE events SET time = 1 WHERE order_id LIKE 'T-2%'`);
    await home.run("connection", "resume", connection.id);
    await eventually("the delivery has expired", async () => (await ofMeta()).includes("expired"));
    await home.run("delivery", "replay", site.host, "--platform", "meta", "--state", "expired", "--yes");
    await eventually("it has expired again", async () => (await ofMeta()).includes("expired"));
  });

  test("replays to a paused connection wait until it is resumed", async () => {
    const site = await newSite();
    answer(422);
    await send(site, { orderId: "P-1" });
    answer(200);
    await home.run("connection", "pause", site.connection);
    await eventually("the relay knows of the pause", async () =>
      (await send(site, { event: "lead", orderId: String(Math.random()) })).text.includes("paused"),
    );
    const replayed = await home.run("delivery", "replay", site.host, "--order", "P-1", "--yes");
    expect(replayed).toMatchObject({ changed: 1, waiting: { paused: 1 } });
    await eventually("the delivery is parked", async () => (await states(site)).includes("P-1 parked"));
    await home.run("connection", "resume", site.connection);
    await eventually("the delivery is sent", async () => (await states(site)).includes("P-1 sent"));
  });

  test("a cancelled delivery is not sent unless it is replayed", async () => {
    const site = await newSite();
    answer(503);
    await send(site, { orderId: "C-1" });
    await send(site, { orderId: "C-2" });
    await eventually("both deliveries wait", async () => (await states(site)).every((one: string) => one.endsWith("queued")));
    const which = [site.host, "--state", "queued"];
    expect(await home.run("delivery", "cancel", ...which, "--dry-run")).toMatchObject({ found: 2, changed: 2 });
    expect(await home.run("delivery", "cancel", ...which, "--yes")).toMatchObject({
      changed: 2,
    });
    expect((await log(site.host)).items).toMatchObject([
      { state: "skipped", reason: "cancelled", nextTryAt: null },
      { state: "skipped", reason: "cancelled", nextTryAt: null },
    ]);
    answer(200);
    await home.run("delivery", "replay", site.host, "--order", "C-1", "--yes");
    await eventually("the replayed delivery is sent", async () => (await states(site)).includes("C-1 sent"));
    expect(await states(site)).toEqual(["C-2 skipped", "C-1 sent"]);
  });

  test("a delivery that is being sent is not cancelled, and the refusal says so", async () => {
    const site = await newSite();
    let finish: () => void = () => {};
    receiver.behave = (_got, response) => void (finish = () => response.writeHead(200).end());
    const before = gotAt(site.path);
    const answered = send(site, { orderId: "H-1" });
    await eventually("the request has reached the receiver", () => gotAt(site.path) > before);
    expect(await home.fails("delivery", "cancel", site.host, "--order", "H-1", "--yes")).toMatchObject({
      error: "Nothing to cancel: 1 × being sent at this moment.",
    });
    finish();
    await answered;
    expect(await states(site)).toEqual(["H-1 sent"]);
  });

  test.each([
    [["list", "--state", "lost"], "state", "--state must be one or more of queued, sent, skipped, rejected, parked, expired."],
    [["list", "--platform", "nothing"], "platform", "There is no platform nothing. Known: "],
    [["list", "--email", "nobody"], "email", "--email is not an email address."],
    [["list", "--from", "yesterday"], "from", "--from must be a time like "],
    [["list", "--from", "1h", "--to", "2h"], "from", "--from must be before --to."],
    [["list", "--limit", "0"], "limit", "--limit must be 1 to 200."],
    [["list", "--cursor", "x"], "cursor", "--cursor must be the `next` of a page"],
    [["show", "nothing"], "event", "There is no event nothing."],
    [["replay", "log1.example"], "filter", "Select deliveries with "],
    [["cancel", "log1.example"], "filter", "Select deliveries with "],
    [["replay", "log1.example", "--state", "queued"], "state", "Queued deliveries are sent automatically"],
    [["cancel", "log1.example", "--state", "sent"], "state", "Only queued or parked deliveries can be cancelled."],
    [["replay", "nowhere.example", "--state", "sent"], "site", "There is no site nowhere.example."],
  ])("the command delivery %j is refused with a sentence", async (args, field, sentence) => {
    const { error, field: named } = await home.fails("delivery", ...args);
    expect(error).toContain(sentence);
    expect(named).toBe(field);
  });
});
