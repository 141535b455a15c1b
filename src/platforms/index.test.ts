// Checks for every platform what the relay and the dashboard rely on.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { now } from "../../test/platforms/fixture.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import { exampleSettings, examplesOf } from "./examples.ts";
import { platformOf, platforms } from "./index.ts";
import { mappingFault } from "./shared/mapping.ts";
import { nameFault, resolveName, usualEventOf } from "./shared/eventNames.ts";
import type { ConnectionSettings, Platform, PlatformRequest, PlatformResponse, Setting } from "./platform.ts";
import { sampleBrowser } from "./example.ts";
import { sampleConversion, withheld } from "./shared/sample.ts";
import { consentText, skipOf, testModeText } from "./shared/skips.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.test)\.ts$/.test(name));

/** A GET has no body. */
const parseBody = ({ method, body }: PlatformRequest): unknown => (method === "GET" && body === "" ? "" : JSON.parse(body));

const settingsOf = ({ id }: Platform): ConnectionSettings => exampleSettings(id);

const several = (count: number, changes: Partial<Conversion> = {}) =>
  Array.from({ length: count }, (_, i) =>
    sampleConversion({
      platformEventId: `00000000-0000-8000-a000-00000000000${i}`,
      orderId: `A-${i}`,
      ...changes,
    }),
  );

/** One conversion, and as many as the platform's batch allows, up to three. */
const sizes = (platform: Platform) => [...new Set([1, Math.min(platform.batch, 3)])];

const answer = (status: number, headers: Record<string, string> = {}, body = "{}"): PlatformResponse => ({
  status,
  headers,
  body,
});

function readings(platform: Platform, count: number, response: PlatformResponse): Reading[] {
  return platform.readResponse(response, several(count), settingsOf(platform), now);
}

const isSecret = (setting: Setting) => setting.secret === true;

/** Platforms at whose URL only the account, the action or the pixel of a connection can be missing. */
const waitingOn404 = new Set(["google_ads", "cm360", "openai_ads", "hubspot"]);
/** There, 404 means that the account of the settings is unknown. */
const stoppedBy404 = new Set(["pinterest"]);

/** Every text inside a secret value, also when the value is a JSON object of several secrets. */
function textsIn(value: string): string[] {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? Object.values(parsed).map(String) : [value];
  } catch {
    return [value];
  }
}

/** A value that the setting accepts and that can be recognised everywhere. */
function marked(setting: Setting, mark: string): string {
  // The last is the form of a signing secret, which is base64.
  const forms = [mark, JSON.stringify({ "x-secret": mark }), `whsec_${mark.padEnd(32, "A")}`];
  return forms.find((form) => !setting.check?.(form)) ?? expect.unreachable(`${setting.name} takes no mark`);
}

/** Settings of a connection whose every secret can be recognised. */
const settingsWithMarks = (platform: Platform): ConnectionSettings => ({
  ...settingsOf(platform),
  ...Object.fromEntries(
    platform.settings.filter(isSecret).map((setting, i) => [setting.name, marked(setting, `s3cr3tmark${i}`)]),
  ),
});

const expectNoMark = (request: PlatformRequest | null) => expect(`${request?.url} ${request?.body}`).not.toContain("s3cr3tmark");

describe("the list of platforms", () => {
  test("every platform's id is the name of its folder", () => {
    expect(platforms.map(({ id }) => `${id}/index.ts`).filter((file) => !files.includes(file))).toEqual([]);
  });

  test("every file that declares a platform is in the list", () => {
    const declaring = files.filter((file) => /satisfies Platform\b/.test(readFileSync(new URL(file, folder), "utf8")));
    expect(declaring.toSorted()).toEqual(platforms.map(({ id }) => `${id}/index.ts`).toSorted());
  });

  test("platforms are pure: no file reads a clock or a random number", () => {
    const impure = files.filter((file) =>
      /\b(?:Date\.now|Math\.random|performance\.now|randomUUID|randomBytes)\(|new Date\(\)/.test(
        readFileSync(new URL(file, folder), "utf8"),
      ),
    );
    expect(impure).toEqual([]);
  });

  test("ids and names are unique", () => {
    expect(new Set(platforms.map(({ id }) => id)).size).toBe(platforms.length);
    expect(new Set(platforms.map(({ name }) => name)).size).toBe(platforms.length);
  });

  test("a platform is found only by its exact id", () => {
    for (const platform of platforms) expect(platformOf(platform.id)).toBe(platform);
    for (const id of ["", "unknown", "Webhook", "constructor", "__proto__"]) expect(platformOf(id)).toBeUndefined();
  });
});

describe.each(platforms.map((platform) => [platform.id, platform] as const))("%s", (id, platform) => {
  const shown = examplesOf(id);
  const { examples, responses = [] } = shown;

  test("a platform has an id for JSON keys, a name and a description", () => {
    expect(platform.id).toMatch(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/);
    expect(platform.name.trim()).not.toBe("");
    expect(platform.description).toMatch(/\.$/);
  });

  test("a platform links the documentation of its API with the date checked, or has none", () => {
    if (platform.docs === null) return;
    expect(platform.docs.url).toMatch(/^https:\/\//);
    expect(platform.docs.checked).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  test("every setting has a name, a label and a help text for the form", () => {
    for (const setting of platform.settings) {
      expect(setting.name, "name").toMatch(/^[a-z][A-Za-z0-9_]*$/);
      expect(setting.label.trim(), `label of ${setting.name}`).not.toBe("");
      expect(setting.help.trim().length, `help of ${setting.name}`).toBeGreaterThan(10);
      // The command line keeps this name for the event selection.
      expect(setting.name).not.toBe("events");
    }
    const names = platform.settings.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test("a setting that takes JSON only has several lines, unless it is secret", () => {
    for (const { name, check, secret, multiline = false } of platform.settings) {
      const isJson = check?.('{"lead":"x"}') === null && check("x") !== null;
      expect(multiline, name).toBe(isJson && !secret);
    }
  });

  test("every default passes its own check, and no secret has one", () => {
    for (const setting of platform.settings) {
      if (setting.default !== undefined) expect(setting.check?.(setting.default) ?? null, setting.name).toBeNull();
      if (isSecret(setting)) expect(setting.default, setting.name).toBeUndefined();
    }
  });

  test("a request carries at least one conversion, and at least one request runs at a time", () => {
    expect(platform.batch).toBeGreaterThanOrEqual(1);
    expect(platform.lanes).toBeGreaterThanOrEqual(1);
    expect(Number.isInteger(platform.batch) && Number.isInteger(platform.lanes)).toBe(true);
    const { maxAgeDays = 1 } = platform;
    const limit = typeof maxAgeDays === "function" ? maxAgeDays(sampleConversion(), settingsOf(platform)) : maxAgeDays;
    expect(limit).toBeGreaterThan(0);
  });

  test("the account depends on settings only, not on secrets", () => {
    const settings = settingsOf(platform);
    const account = platform.account(settings);
    expect(account).not.toBe("");
    expect(platform.account({ ...settings })).toBe(account);
    expect(platform.account(Object.fromEntries(Object.entries(settings).toReversed()))).toBe(account);
    for (const setting of platform.settings.filter(isSecret)) {
      expect(platform.account({ ...settings, [setting.name]: marked(setting, "rotated") })).toBe(account);
    }
  });

  test("the account contains no secret, because it is stored in plain text", () => {
    const secrets = Object.fromEntries(
      platform.settings.filter(isSecret).map((setting) => [setting.name, marked(setting, "s3cr3tmark")]),
    );
    expect(platform.account({ ...settingsOf(platform), ...secrets })).not.toContain("s3cr3tmark");
  });

  test("the request of an example equals the documented one, byte for byte each time, with no more conversions than the maximum batch", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const { title, conversions, settings, request: documented } of examples) {
      const request = platform.toRequest(conversions, settings, now);
      expect({ ...request, body: parseBody(request) }, title).toEqual(documented);
      expect(platform.toRequest(structuredClone(conversions), { ...settings }, now), title).toEqual(request);
      expect(conversions.length, title).toBeLessThanOrEqual(platform.batch);
    }
  });

  test("no conversion of an example is skipped", () => {
    for (const { title, conversions, settings } of examples)
      for (const conversion of conversions) expect(skipOf(platform, conversion, settings), title).toBeNull();
  });

  test("the settings of an example are declared, valid and complete", () => {
    const declared = new Map(platform.settings.map((setting) => [setting.name, setting]));
    const required = platform.settings.filter((one) => one.required).map(({ name }) => name);
    for (const { title, settings } of examples) {
      for (const [name, value] of Object.entries(settings)) {
        const row = `${title}: ${name}`;
        if (name.startsWith("event.") && platform.events) expect(nameFault(value, platform.events), row).toBeNull();
        else if (name.startsWith("map."))
          expect(mappingFault(name.slice("map.".length), value, platform.fields ?? []), row).toBeNull();
        else {
          expect([...declared.keys()], row).toContain(name);
          expect(declared.get(name)?.check?.(value) ?? null, row).toBeNull();
        }
      }
      expect(Object.keys(settings), title).toEqual(expect.arrayContaining(required));
    }
  });

  test("no secret setting is in the documented URL, body or title", () => {
    for (const { title, settings, request } of examples) {
      const documented = [title, request.url, JSON.stringify(request.body)].join("\n");
      for (const { name } of platform.settings.filter(isSecret)) {
        const value = settings[name];
        for (const text of value === undefined ? [] : [value, ...textsIn(value)]) expect(documented, title).not.toContain(text);
      }
    }
  });

  test("standard names are listed under the usual name of an event, or are the platform's own and stay", () => {
    for (const [name, theirs] of Object.entries(platform.events?.standard ?? {})) {
      const usual = usualEventOf(name) ?? name;
      if (theirs !== name) expect(usual, `${name} is another name of ${usual}`).toBe(name);
    }
  });

  test("an event without a standard name is sent as a custom event, or the connection chooses its target", () => {
    const { events } = platform;
    if (!events) return;
    const { names, by } = resolveName("Quiz Done", settingsOf(platform), events);
    expect([...names, "and no more"]).toHaveLength(2);
    expect(by).toBe(events.defaultSetting ? "default" : "custom");
    for (const name of names) expect(nameFault(name, events)).toBeNull();
  });

  test("every standard event has an example", () => {
    const sent = new Set(examples.flatMap(({ conversions }) => conversions.map(({ name }) => name.toLowerCase())));
    for (const name of Object.keys(platform.events?.standard ?? {})) expect([...sent], name).toContain(name);
  });

  test("every response is read as documented", () => {
    for (const { title, conversions, status, headers = {}, body, readings: expected } of responses) {
      expect(expected, title).toHaveLength(conversions);
      expect(readings(platform, conversions, answer(status, headers, body)), title).toEqual(expected);
    }
  });

  test("examples are there for what the platform has: confirmations, corrections, reports of quality", () => {
    const { confirmations, corrections, quality } = platform;
    expect([confirmations, corrections, quality].map(Boolean)).toEqual(
      [shown.confirmations?.responses.length, shown.corrections?.length, shown.quality?.responses.length].map(Boolean),
    );
    expect(Boolean(quality?.notes)).toBe(Boolean(shown.quality?.notes?.length));
  });

  test("the request for a confirmation equals the documented one, and its secrets are in headers only", () => {
    const { confirmations } = platform;
    if (!confirmations || !shown.confirmations) return;
    const { conversion, subject, settings, keys = [], request } = shown.confirmations.request;
    expect(confirmations.subjectOf(conversion, settings)).toBe(subject);
    expect(confirmations.toRequest(subject, settings, keys)).toEqual(request);
    expectNoMark(confirmations.toRequest(subject, settingsWithMarks(platform), keys));
  });

  test("every confirmation is read as documented, and no odd answer gives a subject or confirms anything", () => {
    const { confirmations } = platform;
    if (!confirmations || !shown.confirmations) return;
    const { conversion, subject, settings, keys = [] } = shown.confirmations.request;
    const read = (conversions: number, response: PlatformResponse) =>
      confirmations.read(response, { subject, settings, conversions, keys: keys.slice(0, conversions) }, now);
    for (const { title, conversions, status, headers = {}, body, reading: expected } of shown.confirmations.responses) {
      const reading = read(conversions, answer(status, headers, body));
      expect(reading, title).toEqual(expected);
      if (reading.kind !== "answered") continue;
      expect(reading.confirmations, title).toHaveLength(conversions);
      expect(reading.tally ?? reading.confirmations, title).toHaveLength(conversions);
    }
    const odd = ["", "{}", "[]", "null", "OK", '{"requestId":{}}', '{"requestStatusPerDestination":[{}]}'];
    for (const body of odd) {
      // A platform that names conversions needs no id from its answer.
      if (!confirmations.keyOf) expect(confirmations.subjectOf({ ...conversion, answer: body }, settings), body).toBeNull();
      const reading = read(1, answer(200, {}, body));
      if (reading.kind === "answered") expect(reading.confirmations, body).toEqual([null]);
    }
  });

  test("the request for the quality equals the documented one, and its secrets are in headers only", () => {
    const { quality } = platform;
    if (!quality || !shown.quality) return;
    const { settings, request } = shown.quality.request;
    expect(quality.toRequest(settings)).toEqual(request);
    expectNoMark(quality.toRequest(settingsWithMarks(platform)));
  });

  test("every report of quality is read as documented, and no odd one makes the reader throw or gives notes", () => {
    const { quality } = platform;
    if (!quality || !shown.quality) return;
    for (const { title, status, headers = {}, body, reading } of shown.quality.responses)
      expect(quality.read(answer(status, headers, body), now), title).toEqual(reading);
    for (const { title, status, body, notes } of shown.quality.notes ?? [])
      expect(quality.notes?.read(answer(status, {}, body)), title).toEqual(notes);
    const odd = [
      "",
      "{}",
      "[]",
      "null",
      "OK",
      '{"web":[{}]}',
      '[{"overall_status":{}}]',
      '{"web":[{"dedupe_key_feedback":[1]}]}',
    ];
    for (const body of odd) {
      expect(() => quality.read(answer(200, {}, body), now), body).not.toThrow();
      expect(quality.notes?.read(answer(200, {}, body)) ?? [], body).toEqual([]);
    }
  });

  test("every correction equals the documented request, with its secrets in headers only, and no odd answer accepts it", () => {
    for (const { title, settings, correction, request: documented } of shown.corrections ?? []) {
      const { corrections } = platform;
      if (!corrections) return expect.unreachable(title);
      const request = corrections.toRequest(correction, settings, now);
      expect({ ...request, body: parseBody(request) }, title).toEqual(documented);
      expectNoMark(corrections.toRequest(correction, settingsWithMarks(platform), now));
      for (const odd of ["", "{}", "[]", "null", "OK"])
        expect(corrections.read(answer(200, {}, odd), correction, settings, now).kind, `${title}: ${odd}`).not.toBe("accepted");
    }
  });

  test("a platform is asked again later and later, and is given up after its age limit", () => {
    const { askAfterMinutes = [1] } = platform.confirmations ?? {};
    expect(askAfterMinutes.length).toBeGreaterThan(0);
    expect(askAfterMinutes.toSorted((one, other) => one - other)).toEqual(askAfterMinutes);
    expect(askAfterMinutes.at(-1)).toBeLessThanOrEqual(7 * 24 * 60);
  });

  test("the guide says what is sent, what is not, and how to get credentials", () => {
    if (platform.docs === null) return;
    expect(platform.guide?.credentials.length).toBeGreaterThan(0);
    expect(platform.guide?.sends.length).toBeGreaterThan(2);
    for (const text of [consentText(platform), testModeText(platform)]) expect(text).toMatch(/\.$/);
    // Where a platform has no text of its own, the rule of which the text follows must be there.
    const { skips = [], guide } = platform;
    if (guide?.testMode === undefined) expect(skips).toContain("no_test_mode");
    if (guide?.consent === undefined) expect(skips).toContain("opted_out");
  });

  test("the documented success is accepted for each conversion; without one any 2xx is", () => {
    const [success] = responses;
    const count = success?.conversions ?? 1;
    const accepted = Array.from({ length: count }, () => ({ kind: "accepted" }));
    for (const status of success ? [success.status] : [200, 201, 202, 204])
      expect(readings(platform, count, answer(status, {}, success?.body)), `HTTP ${status}`).toEqual(accepted);
  });

  test("a 2xx without the platform's own success body, or cut off, is no success", () => {
    const [success] = responses;
    if (!success) return;
    const retried = [{ kind: "retry", error: expect.stringContaining("the answer could not be read") }];
    const cut = { ...answer(200, {}, success.body), isCut: true } as const;
    expect(readings(platform, 1, cut)).toEqual(retried);
    // Google Analytics and Segment have no success body of their own.
    if (platform.id === "ga4" || platform.id === "segment") return;
    const page = answer(200, {}, "<html><body>Sign in to the network</body></html>");
    expect(readings(platform, 1, page)).toEqual([{ kind: "retry", error: expect.any(String) }]);
    const half = success.body.slice(0, success.body.length / 2) || '{"result":{"id":';
    // The body of a platform whose first example has none is not documented: it may be anything but a broken one.
    const odd = ["", "{}", "[]", "null", '"OK"', "OK", '{"data":[],"events":[],"elements":{}}'];
    for (const body of success.body === "" ? [half] : [...odd, half])
      for (const status of [200, 201, 202, 204]) expect(readings(platform, 1, answer(status, {}, body)), body).toEqual(retried);
  });

  /** The readings of each status, for a request of one conversion and of several. */
  const read = (statuses: readonly number[], headers: Record<string, string> = {}) =>
    statuses.flatMap((status) =>
      sizes(platform).flatMap((count) => {
        const row = `HTTP ${status} to a request of ${count}`;
        const found = readings(platform, count, answer(status, headers));
        expect(found, row).toHaveLength(count);
        return found.map((reading) => ({ status, row, reading }));
      }),
    );

  test("400 rejects each conversion, with the status in the reason", () => {
    for (const { row, reading } of read([400]))
      expect(reading, row).toEqual({ kind: "rejected", error: expect.stringContaining("400") });
  });

  test("other errors of the request are rejected: the same request would fail again, unless a setting is wrong", () => {
    const on404 = waitingOn404.has(platform.id) ? "retry" : stoppedBy404.has(platform.id) ? "unauthorized" : "rejected";
    for (const { status, row, reading } of read([404, 405, 409, 410, 413, 415, 422]))
      expect(reading.kind, row).toBe(status === 404 ? on404 : "rejected");
  });

  test("a redirect is rejected and not followed", () => {
    for (const { row, reading } of read([301, 302, 303, 307, 308], { location: "https://example.com/" }))
      expect(reading.kind, row).toBe("rejected");
  });

  test("time-outs, throttling and errors of the server are retried", () => {
    for (const { status, row, reading } of read([408, 425, 429, 500, 502, 503, 504, 520, 599]))
      expect(reading, row).toEqual({ kind: "retry", error: expect.stringContaining(String(status)) });
  });

  test("Retry-After sets the time to wait, as seconds or as a date", () => {
    for (const { row, reading } of read([429, 503], { "retry-after": "120" }))
      expect(reading, row).toMatchObject({ kind: "retry", retryAfterSeconds: 120 });
    for (const { row, reading } of read([429], { "retry-after": new Date(now + 3_600_000).toUTCString() }))
      expect(reading, row).toMatchObject({ kind: "retry", retryAfterSeconds: 3600 });
  });

  test("401 and 403 mean that the connection is unauthorized", () => {
    for (const { row, reading } of read([401, 403]))
      expect(reading, row).toEqual({ kind: "unauthorized", error: expect.any(String) });
  });

  test("no body makes readResponse throw or return another number of readings", () => {
    const bodies = ["", "null", "[]", "{", "\0", "<html></html>", '{"__proto__":1}', '"x"', "[".repeat(65_536)];
    for (const count of sizes(platform))
      for (const status of [100, 200, 299, 302, 400, 401, 429, 500, 999])
        for (const body of bodies)
          expect(readings(platform, count, answer(status, {}, body)), `${status} ${body.slice(0, 20)}`).toHaveLength(count);
  });

  test("a secret setting is never in the URL, nor in the body, which the sync log stores", () => {
    const settings = settingsWithMarks(platform);
    for (const count of sizes(platform)) {
      expectNoMark(platform.toRequest(several(count), settings, now));
      expect(platform.toRequest(several(count, { mode: "test" }), settings, now).url).not.toContain("s3cr3tmark");
    }
  });

  test("a conversion without consent carries nothing of the person", () => {
    const known = sampleConversion();
    const personal = [
      ...Object.values(known.person ?? {}),
      ...Object.values(known.clickIds).map(({ value }) => value),
      ...Object.values(known.browserIds),
      ...Object.values(known.utm),
    ];
    expect(personal.length).toBeGreaterThan(5);
    const settings = settingsOf(platform);
    for (const count of sizes(platform)) {
      const conversions = several(count, { ...withheld, browser: sampleBrowser }).filter(
        (conversion) => skipOf(platform, conversion, settings) === null,
      );
      if (conversions.length === 0) continue;
      const text = JSON.stringify(platform.toRequest(conversions, settings, now));
      for (const value of personal) expect(text).not.toContain(value);
      expect(text).not.toMatch(/[0-9a-f]{64}/);
    }
  });

  test("every conversion's event id is in the request", () => {
    // These have one place for an id, and people look up their orders there.
    const hasOrderId = ["google_ads", "cm360", "taboola", "outbrain"].includes(id);
    for (const count of sizes(platform)) {
      const conversions = several(count);
      const { body, url } = platform.toRequest(conversions, settingsOf(platform), now);
      for (const { platformEventId, orderId } of conversions)
        expect(body + url).toContain(hasOrderId ? orderId : platformEventId);
    }
  });

  test("senders' texts cannot break out of the JSON or the query, nor reach headers and other parts of the URL", () => {
    const hostile = '"}],"admin":true,\r\nX-Evil: 1\r\n\r\n{{emailSha256}}\u2028</script>';
    const hostileFields = {
      name: hostile,
      orderId: hostile,
      utm: { utm_source: hostile },
      clickIds: { gclid: { value: hostile, seenAt: 0 } },
    };
    // The texts of a GET are values of its query.
    const shape = ({ method, url }: PlatformRequest) => (method === "GET" ? url.replace(/=[\w%.!~*'()-]*/g, "=") : url);
    for (const count of sizes(platform)) {
      const plain = platform.toRequest(several(count), settingsOf(platform), now);
      const evil = platform.toRequest(several(count, hostileFields), settingsOf(platform), now);
      expect(evil.headers).toEqual(plain.headers);
      expect(shape(evil)).toBe(shape(plain));
      if (plain.method !== "GET") expect(Object.keys(parseBody(evil) as object)).toEqual(Object.keys(parseBody(plain) as object));
    }
  });

  test("toRequest changes neither the conversions nor the settings", () => {
    const conversions = several(1);
    const settings = { ...settingsOf(platform) };
    const before = structuredClone({ conversions, settings });
    platform.toRequest(conversions, settings, now);
    expect({ conversions, settings }).toEqual(before);
  });
});
