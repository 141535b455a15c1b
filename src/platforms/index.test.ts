// Checks for every platform what the relay and the dashboard rely on.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { now } from "../../test/platforms/fixture.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import { platformOf, platforms } from "./index.ts";
import { mappingFault } from "./shared/mapping.ts";
import { nameFault, resolveName, usualEventOf } from "./shared/eventNames.ts";
import type { ConnectionSettings, Platform, PlatformRequest, PlatformResponse, Setting } from "./platform.ts";
import { sampleBrowser, sampleConversion, withheld } from "./shared/sample.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.test)\.ts$/.test(name));

/** A GET has no body. */
const parseBody = ({ method, body }: PlatformRequest): unknown => (method === "GET" && body === "" ? "" : JSON.parse(body));

const firstExample = (platform: Platform) => platform.examples[0] ?? expect.unreachable("no example");
const exampleSettings = (platform: Platform): ConnectionSettings => firstExample(platform).settings;

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
  return platform.readResponse(response, several(count), exampleSettings(platform), now);
}

const isSecret = (setting: Setting) => setting.secret === true;

/** Platforms at whose URL only the account, the action or the pixel of a connection can be missing. */
const waitingOn404 = new Set(["google_ads", "cm360", "openai_ads"]);

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
  ...exampleSettings(platform),
  ...Object.fromEntries(
    platform.settings.filter(isSecret).map((setting, i) => [setting.name, marked(setting, `s3cr3tmark${i}`)]),
  ),
});

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

describe.each(platforms.map((platform) => [platform.id, platform] as const))("%s", (_id, platform) => {
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
    const limit = typeof maxAgeDays === "function" ? maxAgeDays(sampleConversion(), exampleSettings(platform)) : maxAgeDays;
    expect(limit).toBeGreaterThan(0);
  });

  test("the account depends on settings only, not on secrets", () => {
    const settings = exampleSettings(platform);
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
    expect(platform.account({ ...exampleSettings(platform), ...secrets })).not.toContain("s3cr3tmark");
  });

  describe.each(platform.examples.map((example) => [example.title, example] as const))("example: %s", (_title, example) => {
    test("the request equals the documented one", () => {
      const request = platform.toRequest(example.conversions, example.settings, now);
      expect({ ...request, body: parseBody(request) }).toEqual(example.request);
    });

    test("the same conversions give the same bytes", () => {
      expect(platform.toRequest(example.conversions, example.settings, now)).toEqual(
        platform.toRequest(structuredClone(example.conversions), { ...example.settings }, now),
      );
    });

    test("the settings of an example are declared, valid and complete", () => {
      const declared = new Map(platform.settings.map((setting) => [setting.name, setting]));
      for (const [name, value] of Object.entries(example.settings)) {
        if (name.startsWith("event.") && platform.events) {
          expect(nameFault(value, platform.events), name).toBeNull();
          continue;
        }
        if (name.startsWith("map.")) {
          expect(mappingFault(name.slice("map.".length), value, platform.fields ?? []), name).toBeNull();
          continue;
        }
        expect([...declared.keys()]).toContain(name);
        expect(declared.get(name)?.check?.(value) ?? null, name).toBeNull();
      }
      for (const setting of platform.settings.filter((one) => one.required)) {
        expect(Object.keys(example.settings)).toContain(setting.name);
      }
    });

    test("no secret setting is in the documented URL, body or title", () => {
      const shown = [example.title, example.request.url, JSON.stringify(example.request.body)].join("\n");
      for (const setting of platform.settings.filter(isSecret)) {
        const value = example.settings[setting.name];
        if (value === undefined) continue;
        for (const text of [value, ...textsIn(value)]) expect(shown).not.toContain(text);
      }
    });

    test("no conversion of an example is skipped", () => {
      for (const conversion of example.conversions)
        expect(platform.skipReason?.(conversion, example.settings, now) ?? null).toBeNull();
    });

    test("an example has no more conversions than the maximum batch", () => {
      expect(example.conversions.length).toBeLessThanOrEqual(platform.batch);
    });
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
    const { names, by } = resolveName("Quiz Done", exampleSettings(platform), events);
    expect([...names, "and no more"]).toHaveLength(2);
    expect(by).toBe(events.defaultSetting ? "default" : "custom");
    for (const name of names) expect(nameFault(name, events)).toBeNull();
  });

  test("every standard event has an example", () => {
    const shown = new Set(platform.examples.flatMap(({ conversions }) => conversions.map(({ name }) => name.toLowerCase())));
    for (const name of Object.keys(platform.events?.standard ?? {})) expect([...shown], name).toContain(name);
  });

  test.each((platform.responses ?? []).map((one) => [one.title, one] as const))(
    "the response is read as documented: %s",
    (_title, { conversions, status, headers = {}, body, readings: expected }) => {
      expect(expected).toHaveLength(conversions);
      expect(readings(platform, conversions, answer(status, headers, body))).toEqual(expected);
    },
  );

  test.each((platform.confirmations?.responses ?? []).map((one) => [one.title, one] as const))(
    "the confirmation is read as documented: %s",
    (_title, { conversions, status, headers = {}, body, reading }) => {
      const { subject = "", settings = {}, keys = [] } = platform.confirmations?.request ?? {};
      const question = { subject, settings, conversions, keys: keys.slice(0, conversions) };
      const read = platform.confirmations?.read(answer(status, headers, body), question, now);
      expect(read).toEqual(reading);
      if (read?.outcome === "answered") {
        expect(read.confirmations).toHaveLength(conversions);
        expect(read.tally ?? read.confirmations).toHaveLength(conversions);
      }
    },
  );

  test("the request for a confirmation equals the documented one, and its secrets are in headers only", () => {
    if (!platform.confirmations) return;
    const { conversion, subject, settings, keys = [], request } = platform.confirmations.request;
    expect(platform.confirmations.subjectOf(conversion, settings)).toBe(subject);
    expect(platform.confirmations.toRequest(subject, settings, keys)).toEqual(request);
    const withMarks = platform.confirmations.toRequest(subject, settingsWithMarks(platform), keys);
    expect(withMarks.url + withMarks.body).not.toContain("s3cr3t-mark");
  });

  test("no odd answer gives a subject, or confirms anything", () => {
    if (!platform.confirmations) return;
    const { confirmations } = platform;
    const { conversion, subject, settings, keys = [] } = confirmations.request;
    const odd = ["", "{}", "[]", "null", "OK", '{"requestId":{}}', '{"requestStatusPerDestination":[{}]}'];
    for (const body of odd) {
      // A platform that names conversions needs no id from its answer.
      if (!confirmations.keyOf) expect(confirmations.subjectOf({ ...conversion, answer: body }, settings), body).toBeNull();
      // An odd body never confirms anything.
      const reading = confirmations.read(
        answer(200, {}, body),
        { subject, settings, conversions: 1, keys: keys.slice(0, 1) },
        now,
      );
      if (reading.outcome === "answered") expect(reading.confirmations, body).toEqual([null]);
    }
  });

  test.each((platform.quality?.responses ?? []).map((one) => [one.title, one] as const))(
    "the report of quality is read as documented: %s",
    (_title, { status, headers = {}, body, reading }) => {
      expect(platform.quality?.read(answer(status, headers, body), now)).toEqual(reading);
    },
  );

  test.each((platform.quality?.notes?.responses ?? []).map((one) => [one.title, one] as const))(
    "further notes on quality are read as documented: %s",
    (_title, { status, body, notes }) => {
      expect(platform.quality?.notes?.read(answer(status, {}, body))).toEqual(notes);
      for (const odd of ["", "{}", "[]", "null", "OK", '{"web":[{}]}', '{"web":[{"dedupe_key_feedback":[1]}]}'])
        expect(platform.quality?.notes?.read(answer(200, {}, odd)), odd).toEqual([]);
    },
  );

  test("the request for the quality equals the documented one, and its secrets are in headers only", () => {
    if (!platform.quality) return;
    const { settings, request } = platform.quality.request;
    expect(platform.quality.toRequest(settings)).toEqual(request);
    const withMarks = platform.quality.toRequest(settingsWithMarks(platform));
    expect((withMarks?.url ?? "") + (withMarks?.body ?? "")).not.toContain("s3cr3t-mark");
    for (const body of ["", "{}", "[]", "null", "OK", '{"web":[{}]}', '[{"overall_status":{}}]'])
      expect(() => platform.quality?.read(answer(200, {}, body), now), body).not.toThrow();
  });

  test.each((platform.corrections?.examples ?? []).map((one) => [one.title, one] as const))(
    "the correction equals the documented request, with its secrets in headers only: %s",
    (_title, { settings, correction, request: { body, ...request } }) => {
      const { corrections } = platform;
      const { body: text = "", ...made } = corrections?.toRequest(correction, settings, now) ?? {};
      expect(made).toEqual(request);
      expect(JSON.parse(text)).toEqual(body);
      const withMarks = corrections?.toRequest(correction, settingsWithMarks(platform), now);
      expect((withMarks?.url ?? "") + (withMarks?.body ?? "")).not.toContain("s3cr3t-mark");
      for (const odd of ["", "{}", "[]", "null", "OK"])
        expect(corrections?.read(answer(200, {}, odd), correction, settings, now).outcome, odd).not.toBe("accepted");
    },
  );

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
    for (const text of [platform.guide?.consent, platform.guide?.testMode]) expect(text).toMatch(/\.$/);
  });

  test("the documented success is accepted for each conversion; without one any 2xx is", () => {
    const [success] = platform.responses ?? [];
    const count = success?.conversions ?? 1;
    const accepted = Array.from({ length: count }, () => ({ outcome: "accepted" }));
    for (const status of success ? [success.status] : [200, 201, 202, 204])
      expect(readings(platform, count, answer(status, {}, success?.body)), `HTTP ${status}`).toEqual(accepted);
  });

  test("a 2xx without the platform's own success body, or cut off, is no success", () => {
    const [success] = platform.responses ?? [];
    if (!success) return;
    const retried = [{ outcome: "retry", error: expect.stringContaining("the answer could not be read") }];
    const cut = { ...answer(200, {}, success.body), isCut: true } as const;
    expect(readings(platform, 1, cut)).toEqual(retried);
    // Google Analytics and Segment have no success body of their own.
    if (platform.id === "ga4" || platform.id === "segment") return;
    const page = answer(200, {}, "<html><body>Sign in to the network</body></html>");
    expect(readings(platform, 1, page)).toEqual([{ outcome: "retry", error: expect.any(String) }]);
    const half = success.body.slice(0, success.body.length / 2) || '{"result":{"id":';
    // The body of a platform whose first example has none is not documented: it may be anything but a broken one.
    const odd = ["", "{}", "[]", "null", '"OK"', "OK", '{"data":[],"events":[],"elements":{}}'];
    for (const body of success.body === "" ? [half] : [...odd, half])
      for (const status of [200, 201, 202, 204]) expect(readings(platform, 1, answer(status, {}, body)), body).toEqual(retried);
  });

  describe.each(sizes(platform))("the response to a request of %d", (count) => {
    test("400 rejects each conversion, with the status in the reason", () => {
      const read = readings(platform, count, answer(400));
      expect(read).toHaveLength(count);
      for (const reading of read) expect(reading).toEqual({ outcome: "rejected", error: expect.stringContaining("400") });
    });

    test.each([404, 405, 409, 410, 413, 415, 422])(
      "%d is rejected: the same request would fail again, unless a setting is wrong",
      (status) => {
        const wanted = status === 404 && waitingOn404.has(platform.id) ? "retry" : "rejected";
        for (const reading of readings(platform, count, answer(status))) expect(reading.outcome).toBe(wanted);
      },
    );

    test("a redirect is rejected and not followed", () => {
      for (const status of [301, 302, 303, 307, 308])
        for (const reading of readings(platform, count, answer(status, { location: "https://example.com/" })))
          expect(reading.outcome, `HTTP ${status}`).toBe("rejected");
    });

    test.each([408, 425, 429, 500, 502, 503, 504, 520, 599])("%d is retried", (status) => {
      const read = readings(platform, count, answer(status));
      expect(read).toHaveLength(count);
      for (const reading of read) expect(reading).toEqual({ outcome: "retry", error: expect.stringContaining(String(status)) });
    });

    test("429 and 503 with Retry-After set the time to wait", () => {
      for (const status of [429, 503])
        for (const reading of readings(platform, count, answer(status, { "retry-after": "120" })))
          expect(reading).toMatchObject({ outcome: "retry", retryAfterSeconds: 120 });
    });

    test("Retry-After may be a date", () => {
      const inAnHour = new Date(now + 3_600_000).toUTCString();
      for (const reading of readings(platform, count, answer(429, { "retry-after": inAnHour })))
        expect(reading).toMatchObject({ outcome: "retry", retryAfterSeconds: 3600 });
    });

    test.each([401, 403])("%d means that the connection is unauthorized", (status) => {
      const read = readings(platform, count, answer(status));
      expect(read).toHaveLength(count);
      for (const reading of read) expect(reading).toEqual({ outcome: "unauthorized", error: expect.any(String) });
    });

    test("no body makes readResponse throw or return another number of readings", () => {
      const bodies = ["", "null", "[]", "{", "\0", "<html></html>", '{"__proto__":1}', '"x"', "[".repeat(65_536)];
      for (const status of [100, 200, 299, 302, 400, 401, 429, 500, 999])
        for (const body of bodies) expect(readings(platform, count, answer(status, {}, body))).toHaveLength(count);
    });
  });

  describe.each(sizes(platform))("a request of %d", (count) => {
    test("a secret setting is never in the URL", () => {
      for (const mode of ["live", "test"] as const)
        expect(platform.toRequest(several(count, { mode }), settingsWithMarks(platform), now).url).not.toContain("s3cr3tmark");
    });

    test("a secret setting is never in the body, which the sync log stores", () => {
      expect(platform.toRequest(several(count), settingsWithMarks(platform), now).body).not.toContain("s3cr3tmark");
    });

    test("a conversion without consent carries nothing of the person", () => {
      const known = sampleConversion();
      const conversions = several(count, { ...withheld, browser: sampleBrowser }).filter(
        (conversion) => !platform.skipReason?.(conversion, exampleSettings(platform), now),
      );
      if (conversions.length === 0) return;
      const text = JSON.stringify(platform.toRequest(conversions, exampleSettings(platform), now));
      const personal = [
        ...Object.values(known.person ?? {}),
        ...Object.values(known.clickIds).map((id) => id.value),
        ...Object.values(known.browserIds),
        ...Object.values(known.utm),
      ];
      expect(personal.length).toBeGreaterThan(5);
      for (const value of personal) expect(text).not.toContain(value);
      expect(text).not.toMatch(/[0-9a-f]{64}/);
    });

    test("every conversion's event id is in the request", () => {
      const conversions = several(count);
      const { body, url } = platform.toRequest(conversions, exampleSettings(platform), now);
      // These have one place for an id, and people look up their orders there.
      const hasOrderId = ["google_ads", "cm360", "taboola", "outbrain"].includes(platform.id);
      for (const { platformEventId, orderId } of conversions)
        expect(body + url).toContain(hasOrderId ? orderId : platformEventId);
    });

    test("senders' texts cannot break out of the JSON or the query, nor reach headers and other parts of the URL", () => {
      const hostile = '"}],"admin":true,\r\nX-Evil: 1\r\n\r\n{{emailSha256}}\u2028</script>';
      const [plain, evil] = [
        several(count),
        several(count, {
          name: hostile,
          orderId: hostile,
          utm: { utm_source: hostile },
          clickIds: { gclid: { value: hostile, seenAt: 0 } },
        }),
      ].map((conversions) => platform.toRequest(conversions, exampleSettings(platform), now));
      expect(evil?.headers).toEqual(plain?.headers);
      if (!plain || !evil) return expect.unreachable("no request");
      // The texts of a GET are values of its query.
      const shape = ({ method, url }: PlatformRequest) => (method === "GET" ? url.replace(/=[\w%.!~*'()-]*/g, "=") : url);
      expect(shape(evil)).toBe(shape(plain));
      if (plain.method !== "GET") expect(Object.keys(parseBody(evil) as object)).toEqual(Object.keys(parseBody(plain) as object));
    });
  });

  test("toRequest changes neither the conversions nor the settings", () => {
    const conversions = several(1);
    const settings = { ...exampleSettings(platform) };
    const before = structuredClone({ conversions, settings });
    platform.toRequest(conversions, settings, now);
    expect({ conversions, settings }).toEqual(before);
  });
});
