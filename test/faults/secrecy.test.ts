import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepare } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { newFacts, secretsOf, settingsOf, stories } from "../sources/stories.ts";
import { freshFolder } from "../support/databases.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, engines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { startTraceReceiver } from "../support/traceReceiver.ts";
import { sha256Of } from "../support/sha256.ts";
import { botHeaders, report } from "../support/visits.ts";
import { change, deliveryStates, setUpSite, onPostgres, rows } from "../support/installation.ts";

const secret = "Bearer whsec-Quixotic7Zephyr";
const email = "Wilhelmina.Quagmire+Vip@Plaintext-Mail.example";
const phone = "+49 1577 8642097";
const firstName = "Wilhelmina-Xanthe";
const lastName = "O'Quagmire-Žižkov";

const isUsed = ({ last24h }: { last24h: Record<string, number> }) => Object.values(last24h).some((count) => count > 0);

/** Lists each plain value with the parts and spellings in which it could be stored. */
function plainForms(key: string): Map<string, string[]> {
  return new Map([
    ["email", [email, "quagmire", "wilhelminaquagmire", "plaintext-mail"]],
    ["phone", [phone, "15778642097", "1577 864", "8642097", "4915778642097"]],
    ["first name", [firstName, "wilhelmina", "xanthe"]],
    ["last name", [lastName, "oquagmire", "žižkov", "Žižkov".normalize("NFD")]],
    ["webhook secret", [secret, "quixotic7zephyr"]],
    // The first eight characters are stored on purpose: people identify keys by them.
    ["key", [key, key.slice(8), key.slice(8, 20), key.slice(-16)]],
  ]);
}

function spellings(form: string): string[] {
  const bytes = Buffer.from(form);
  const encoded = [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
  return [form, JSON.stringify(form).slice(1, -1), encodeURIComponent(form), ...encoded].map((spelling) =>
    spelling.replace(/=+$/, "").toLowerCase(),
  );
}

/** Lists the kinds of plain values in `bytes`: in any case, plain, escaped or encoded. */
function plainValuesIn(bytes: Buffer, forms: Map<string, string[]>): string[] {
  const encodings = ["utf8", "latin1", "utf16le"] as const;
  const haystacks = encodings.map((encoding) => bytes.toString(encoding).toLowerCase());
  return [...forms]
    .filter(([, some]) => some.flatMap(spellings).some((needle) => haystacks.some((haystack) => haystack.includes(needle))))
    .map(([kind]) => kind);
}

/** Yields each file of the installation, and with PostgreSQL each row of each table as text. */
async function* everythingKept(home: Installation): AsyncGenerator<[where: string, bytes: Buffer]> {
  const folder = home.env.CLEANCAST_DATA ?? "";
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (statSync(join(folder, name)).isFile()) yield [name, readFileSync(join(folder, name))];
  }
  if (home.engine === "sqlite") return;
  const tables = await rows(home, `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`);
  expect(tables.length).toBeGreaterThan(10);
  for (const table of tables) {
    const name = String(table.name);
    const text = await onPostgres(home, async (client) => {
      const { rows: all } = await client.query<{ text: string }>(`SELECT t::text AS text FROM "${name}" t`);
      return all.map((row) => row.text).join("\n");
    });
    yield [`table ${name}`, Buffer.from(text)];
  }
}

function importFile(...lines: string[]): string {
  const path = join(freshFolder(), "import.csv");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

async function expectNothingKept(home: Installation, forms: Map<string, string[]>): Promise<void> {
  const names: string[] = [];
  for await (const [where, bytes] of everythingKept(home)) {
    names.push(where);
    expect(plainValuesIn(bytes, forms), where).toEqual([]);
  }
  // The search included the place where events are stored.
  const expected = home.engine === "sqlite" ? ["cleancast.db", "cleancast.db-wal"] : ["table events"];
  expect(names).toEqual(expect.arrayContaining(expected));
}

/** Sends requests that are refused, each with plain values in a place where an error message could quote them. */
async function sendRefused(relay: Relay, key: string): Promise<string[]> {
  const person = { email, phone, firstName, lastName, event: "purchase" };
  const wrongBodies: unknown[] = [
    { ...person, email: "Wilhelmina.Quagmire at Plaintext-Mail" },
    { ...person, email: { address: email } },
    { ...person, email: [email] },
    { ...person, hashed_email: email, email: undefined },
    { ...person, phone: [phone] },
    { ...person, firstName: { first: firstName } },
    { ...person, lastName: `${lastName}${"x".repeat(600)}` },
    { ...person, firstName: `${firstName}\u0000` },
    { ...person, value: email },
    { ...person, currency: phone },
    { ...person, orderId: { of: email } },
    { ...person, eventTime: email },
    { ...person, event: undefined },
    { phone, firstName, lastName, event: "purchase" },
    JSON.stringify(person).slice(0, -1),
    `{"email":${email}}`,
    email,
    `[${JSON.stringify(email)}]`,
  ];
  const answers = [];
  for (const body of wrongBodies) answers.push(await relay.post(key, body));
  for (const answer of answers) expect(answer.status).toBe(400);

  const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
  const body = JSON.stringify({ ...person, orderId: "refused" });
  const wrongLast = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const wrongRequests = [
    { headers: { ...headers, "X-CC-Api-Key": wrongLast }, body },
    { headers: { ...headers, "X-CC-Api-Key": `${key} ` + key }, body },
    { headers: { ...headers, "X-CC-Api-Key": email }, body },
    { headers: { ...headers, "Content-Type": `text/${lastName.replace(/[^A-Za-z]/g, "")}` }, body },
    { headers: { ...headers, "Content-Encoding": "gzip" }, body },
    { headers, body: Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0xfe])]) },
    { headers, body: body + " ".repeat(70_000) },
    { headers, body, path: `/__cc/other?key=${key}&email=${encodeURIComponent(email)}` },
    { headers, body, method: "PUT" },
    { headers: { ...headers, Authorization: secret, "X-Forwarded-Proto": "http" }, body },
  ];
  for (const options of wrongRequests) answers.push(await call(relay.url, options));
  for (const answer of answers) expect(answer.status).toBeGreaterThanOrEqual(400);
  return answers.map((answer) => JSON.stringify(answer));
}

/** The spans that left the relay, as they were sent. */
function exportedBy({ receiver, spans, faults }: Awaited<ReturnType<typeof startTraceReceiver>>): string[] {
  expect(faults).toEqual([]);
  const names = new Set(spans.map(({ name }) => name));
  expect([...names]).toEqual(expect.arrayContaining(["receive", "look up", "accept", "attempt webhook"]));
  return receiver.got.map((got) => JSON.stringify(got));
}

describe.each(engines)("secrets and personal data on %s", (engine) => {
  test("plain email, phone, names, the key and a webhook's secret are in no file, no table, no log and no answer", async () => {
    const traces = await startTraceReceiver();
    const home = await newInstallation(engine, {
      CLEANCAST_RETRY_SECONDS: "1",
      CLEANCAST_ATTEMPT_SECONDS: "1",
      LOG_LEVEL: "trace",
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      CLEANCAST_TRACE_WEBHOOKS: "on",
    });
    const receiver = await startReceiver();
    receiver.behave = (_got, response) => response.writeHead(500).end("no");
    const relay = await home.start();
    const { key } = relay;
    const forms = plainForms(key);
    // The search can find each of the values.
    for (const kind of forms.keys()) {
      expect(plainValuesIn(Buffer.from([email, phone, firstName, lastName, secret, key].join("|")), forms)).toContain(kind);
    }

    const outputs: string[] = [];
    const record = async (...args: string[]) => void outputs.push(JSON.stringify(await home.run(...args)));
    const headers = JSON.stringify({ Authorization: secret });
    await record("connection", "add", "localhost", "webhook", `url=${receiver.url}/hook`, `headers=${headers}`);
    await record("identity", "put", "localhost", "gclid=click-1", "--email", email);
    await record("consent", "set", "localhost", "granted", "--email", email);
    outputs.push(JSON.stringify(await home.fails("consent", "set", "localhost", "granted", "--email", phone)));

    const event = { email, phone, firstName, lastName, event: "purchase", value: 5 };
    await eventually("the webhook is connected", async () => {
      const answer = await relay.post(key, { ...event, orderId: `A-${outputs.length}` });
      outputs.push(JSON.stringify(answer));
      return answer.text.includes('"webhook"');
    });
    expect(receiver.got.at(-1)?.headers.authorization).toBe(secret);
    outputs.push(...(await sendRefused(relay, key)));
    // Unknown fields with plain values must not be stored.
    const stranger = { ...event, orderId: "B-1", customer: { email, phone }, [lastName]: firstName };
    outputs.push(JSON.stringify(await relay.post(key, stranger)));
    outputs.push(JSON.stringify(await relay.post(key, stranger)));
    outputs.push(JSON.stringify(await relay.post(key, { ...event, email: email.toUpperCase(), orderId: "C-1" })));

    // When the store fails, an error is logged, which must not quote the event.
    await change(home, `ALTER TABLE events RENAME TO elsewhere`);
    const unavailable = await relay.post(key, { ...event, orderId: "D-1" });
    expect(unavailable.status).toBe(503);
    outputs.push(JSON.stringify(unavailable));
    await change(home, `ALTER TABLE elsewhere RENAME TO events`);

    const attempts = `SELECT MAX(attempts) AS attempts FROM deliveries`;
    await eventually("retries were made", async () => Number((await rows(home, attempts))[0]?.attempts) >= 2);
    await expectNothingKept(home, forms);
    // First the platform hangs, then it answers 401.
    receiver.behave = () => {};
    outputs.push(JSON.stringify(await relay.post(key, { ...event, orderId: "E-1" })));
    receiver.behave = (_got, response) => response.writeHead(401).end("no");
    await eventually("a delivery is parked", async () => Number((await deliveryStates(home)).parked) > 0);
    outputs.push(JSON.stringify(await relay.post(key, { ...event, orderId: "F-1" })));
    const { items: events } = await home.run("event", "list", "localhost");
    await record("event", "show", events[0].id);
    outputs.push(await home.print("event", "show", events[0].id));
    outputs.push(await home.print("connection", "list"));
    await record("connection", "list");
    await record("key", "list", "localhost");
    await expectNothingKept(home, forms);
    expect(await relay.stop()).toBe(0);

    outputs.push(...exportedBy(traces));
    for (const text of outputs) expect(plainValuesIn(Buffer.from(text), forms), text).toEqual([]);
    // The first start shows the key once, in the line that people copy.
    const printed = relay.output().split("\n");
    const withKey = printed.filter((line) => line.includes(key));
    expect(withKey).toEqual([expect.stringMatching(/^curl .*X-CC-Api-Key/)]);
    const rest = printed.filter((line) => !line.includes(key)).join("\n");
    expect(rest).toContain('"msg":"inbound"');
    expect(rest).toContain('"level":50');
    expect(plainValuesIn(Buffer.from(rest), forms)).toEqual([]);
    // The log does have the error of the failed store.
    expect(rest).toMatch(/events/);
  });

  test("an address in an event name, order id, id, UTM field or page path is stored and sent nowhere", async () => {
    const traces = await startTraceReceiver();
    const home = await newInstallation(engine, { LOG_LEVEL: "trace", OTEL_EXPORTER_OTLP_ENDPOINT: traces.url });
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relay = await home.start();
    const host = "shop.example.com";
    const outputs: string[] = [];
    const record = async (...args: string[]) => {
      const printed = await home.run(...args);
      outputs.push(JSON.stringify(printed));
      return printed;
    };
    const path = `/account/${encodeURIComponent(email)}/of/${email}`;
    const body = {
      emails: [sha256Of("someone@example.com")],
      params: { gclid: "click-1", fbclid: email, utm_campaign: `to ${email}`, utm_content: email },
      cookies: { _fbp: `fb.1.${email}` },
      page: `https://${host}${path}?email=${email}`,
    };
    for (const headers of [{}, botHeaders]) expect((await report(relay, host, "identify", body, headers)).status).toBe(204);
    const event = `purchase by ${email}`;
    const answer = await relay.post(key, {
      email: "someone@example.com",
      event,
      orderId: `order of ${email}`,
    });
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true, event });
    const forms = new Map([["email", plainForms(key).get("email") ?? []]]);
    const list = await record("event", "list", host, "--order", `order of ${email}`);
    expect(list.items).toHaveLength(1);
    const printed = await home.print("event", "show", list.items[0].id);
    expect(printed).toMatch(/utm_campaign.*to email-[0-9a-f]{16}/);
    outputs.push(printed);
    const bots = await record("traffic", "bots", host);
    expect(JSON.stringify(bots)).toContain("/account/email/of/email");

    // The filter of a replay goes to the audit log.
    const replayed = await record("delivery", "replay", host, "--event", event, "--state", "sent", "--yes");
    expect(replayed).toMatchObject({ found: 1, changed: 1 });
    expect(JSON.stringify(await record("audit", host))).toMatch(/purchase by email-[0-9a-f]{16}/);

    const person = ["--email", "someone@example.com"];
    await record("identity", "put", host, `utm_term=for ${email}`, ...person);
    const refused = await home.fails("identity", "put", host, `gclid=${email}`, ...person);
    expect(refused.error).toBe("gclid is an email address and not an id.");
    const at = new Date().toISOString();
    const conversions = importFile("email,event,orderId,eventTime", `someone@example.com,lead of ${email},import ${email},${at}`);
    const imported = await record("import", "conversions", host, conversions, "--deliver", "none");
    expect(imported.tally).toMatchObject({ imported: 1 });
    const identities = importFile(
      "email,utm_source,gclid,seenAt",
      `someone@example.com,from ${email},,${at}`,
      `someone@example.com,google,${email},${at}`,
    );
    expect((await record("import", "identities", host, identities)).tally).toMatchObject({
      imported: 1,
      reasons: { "gclid is an email address and not an id": { count: 1 } },
    });
    const texts = JSON.stringify(await record("identity", "get", host, ...person));
    for (const form of [/"utm_term":"for email-/, /"utm_source":"from email-/, /"gclid":.*"click-1"/])
      expect(texts).toMatch(form);
    const stored = await rows(home, `SELECT name, order_id FROM events WHERE key_id = 'import'`);
    expect(stored).toEqual([
      {
        name: expect.stringMatching(/^lead of email-[0-9a-f]{16}$/),
        order_id: expect.stringMatching(/^import email-[0-9a-f]{16}$/),
      },
    ]);
    await expectNothingKept(home, forms);
    const file = join(home.env.CLEANCAST_DATA ?? "", "copy.ccb");
    await home.run("backup", file);
    expect(await relay.stop()).toBe(0);
    for await (const [where, bytes] of everythingKept(home)) expect(plainValuesIn(bytes, forms), where).toEqual([]);
    for (const text of [...outputs, ...exportedBy(traces), JSON.stringify(receiver.got), relay.output()])
      expect(plainValuesIn(Buffer.from(text), forms), text).toEqual([]);
    expect(relay.output()).toMatch(/"name":"purchase by email-[0-9a-f]{16}"/);
  });

  test("what senders report about people is in no file, no table, no log, no metric, no trace and no backup", async () => {
    const note = "Quicksilver-Note-Zanzibar";
    const metricsToken = "a-token-for-metrics";
    const traces = await startTraceReceiver();
    const home = await newInstallation(engine, {
      LOG_LEVEL: "trace",
      CLEANCAST_METRICS_TOKEN: metricsToken,
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    });
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const host = "shop.example.com";
    await home.run("site", "set", host, "conversions_without_email=on");
    const relay = await home.start();
    const forms = plainForms(key);
    forms.delete("key");
    forms.delete("webhook secret");
    forms.set("payload", [note, "quicksilver"]);
    const secrets: string[] = [];
    const outputs: string[] = [];
    const record = async (...args: string[]) => {
      const printed = await home.run(...args);
      outputs.push(JSON.stringify(printed));
      return printed;
    };
    const person = { email, phone, first: firstName, last: lastName, name: `${firstName} ${lastName}` };
    for (const story of stories) {
      const sheet = sheetOf(story.sender);
      const added = await home.run("source", "add", host, sheet.kind, ...settingsOf(story), "keep_requests=on");
      const url: string = added.address;
      secrets.push(url.slice(-26), story.secret?.value.replace(/^whsec_/, "") ?? "no secret");
      const facts = newFacts({ email });
      const send = async (body: unknown, headers: object = {}, keys = secretsOf(story)) => {
        const sent = prepare(sheet, body, { url, secrets: keys, headers });
        const answer = await call(relay.url, { path: new URL(url).pathname, headers: sent.headers, body: sent.body });
        outputs.push(JSON.stringify(answer));
        return answer.status;
      };
      // The last message of another person waits where it needs one of those before it.
      const alone = newFacts({ email });
      const last = [...story.sale(alone), ...(story.refunds?.(alone) ?? [])].slice(-1);
      for (const message of [...story.sale(facts), ...(story.refunds?.(facts) ?? []), ...last]) {
        const body = message.body(1);
        const rich =
          typeof body === "string" ? body : { ...(body as object), ...person, note, [email]: note, nested: { more: person } };
        expect(await send(rich, message.headers)).toBe(200);
      }
      // What is ignored, cannot be read, or is not authentic, with plain values where an explanation could quote them.
      for (const body of [person, [person], `{"email":"${email}"`, email, { type: email, event: email, id: email, ...person }])
        expect(await send(body)).toBe(200);
      if (sheet.sign) expect(await send(person, { "x-note": email }, [email])).toBe(401);
      await record("source", "show", added.source.id).then(({ address }) => expect(address).toBe(url));
      outputs.push(await home.print("source", "show", added.source.id));
    }
    await eventually("the requests are listed", async () => (await home.run("source", "list", host)).items.every(isUsed));
    expect(outputs.some((output) => output.includes('"outcome":"waiting"'))).toBe(true);
    for (const { id } of (await record("event", "list", host, "--limit", "200")).items) await record("event", "show", id);
    await record("source", "list", host);
    await record("audit", host);
    outputs.push(
      (await call(relay.url, { method: "GET", path: "/metrics", headers: { authorization: `Bearer ${metricsToken}` } })).text,
    );
    expect(outputs.at(-1)).toContain("cleancast_");
    await home.run("backup", join(home.env.CLEANCAST_DATA ?? "", "copy.ccb"));
    await expectNothingKept(home, forms);
    expect(await relay.stop()).toBe(0);
    const sealed = new Map([["secret", secrets]]);
    for await (const [where, bytes] of everythingKept(home)) {
      expect(plainValuesIn(bytes, forms), where).toEqual([]);
      expect(plainValuesIn(bytes, sealed), where).toEqual([]);
    }
    const exported = exportedBy(traces);
    for (const text of [...outputs, ...exported, JSON.stringify(receiver.got), relay.output()])
      expect(plainValuesIn(Buffer.from(text), forms), text.slice(0, 3000)).toEqual([]);
    for (const text of [...exported, relay.output()]) expect(plainValuesIn(Buffer.from(text), sealed)).toEqual([]);
  });

  test("an endpoint that echoes the request's headers does not put its secret into the sync log", async () => {
    const home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "60" });
    const receiver = await startReceiver();
    receiver.behave = (got, response) => response.writeHead(500).end(JSON.stringify(got.headers));
    const headers = JSON.stringify({ Authorization: secret });
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url, headers }]]);
    const relay = await home.start();
    const answer = await relay.post(key, { email, event: "purchase" });
    expect(answer.text).toContain("queued");
    expect(await relay.stop()).toBe(0);
    expect(await rows(home, `SELECT response FROM attempts`)).toHaveLength(1);
    const forms = plainForms(key);
    for await (const [where, bytes] of everythingKept(home)) expect(plainValuesIn(bytes, forms), where).toEqual([]);
    expect(plainValuesIn(Buffer.from(relay.output()), forms)).toEqual([]);
  });

  test("a malformed URL is refused without being quoted", async () => {
    const home = await newInstallation(engine);
    const { key } = await setUpSite(home, []);
    const relay = await home.start();
    const answer = await call(relay.url, { path: `/__cc/%zz${key}?email=${email}` });
    expect(answer.status).toBe(400);
    expect(plainValuesIn(Buffer.from(JSON.stringify(answer)), plainForms(key))).toEqual([]);
    await relay.stop();
    expect(plainValuesIn(Buffer.from(relay.output()), plainForms(key))).toEqual([]);
  });

  test("only their owner can read the encryption key and the data", async () => {
    const home = await newInstallation(engine);
    delete home.env.CLEANCAST_ENCRYPTION_KEY;
    const folder = join(home.env.CLEANCAST_DATA ?? "", "made", "by the relay");
    home.env.CLEANCAST_DATA = folder;
    const relay = await home.start();
    expect(statSync(join(folder, "encryption.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "encryption.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
    await relay.stop();
  });
});
