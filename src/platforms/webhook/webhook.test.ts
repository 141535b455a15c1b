import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { newSigningSecret } from "../../kernel/ids.ts";
import type { ConnectionSettings, PlatformRequest, PlatformResponse } from "../platform.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";
import { writeSecrets } from "../shared/signature.ts";
import { webhook } from "./index.ts";

const url = "https://hooks.example.com/in";
const { read: readAll, settingFault } = platformFixture(webhook, { url });
const request = (settings: Record<string, string>, changes = {}) =>
  webhook.toRequest([sampleConversion(changes)], { url, ...settings }, now);
const read = (response: Partial<PlatformResponse>, settings: ConnectionSettings = {}) => readAll(response, 1, settings)[0];

describe("the request", () => {
  test("a request goes to the URL byte for byte, with POST by default", () => {
    const address = "https://hooks.example.com:8443/a%20b?x=1&y=%2F";
    expect(request({ url: address })).toMatchObject({ method: "POST", url: address });
    expect(request({ method: "PATCH" }).method).toBe("PATCH");
  });

  test("the content type is JSON unless the customer's headers set another", () => {
    expect(request({}).headers).toEqual({ "content-type": "application/json" });
    const own = '{"Content-Type":"application/vnd.shop+json"}';
    expect(request({ headers: own }).headers).toEqual({ "content-type": "application/vnd.shop+json" });
  });

  test("a test event is marked, and a live one is not", () => {
    expect(request({}, { mode: "test" }).headers).toHaveProperty("x-cc-test", "true");
    expect(request({}, { mode: "live" }).headers).not.toHaveProperty("x-cc-test");
  });

  test("the customer's headers are sent in lower case with unchanged values", () => {
    const headers = '{"Authorization":"Bearer AbC=","X-Empty":"","X-Latin":"café"}';
    expect(request({ headers }).headers).toEqual({
      "content-type": "application/json",
      authorization: "Bearer AbC=",
      "x-empty": "",
      "x-latin": "café",
    });
  });

  test("without a template the body has exactly the documented keys, in order", () => {
    expect(Object.keys(JSON.parse(request({}).body) as object)).toEqual(
      "platformEventId event eventTime value currency orderId emailSha256 phoneSha256 clickIds utm consent".split(" "),
    );
  });

  test("unknown value, order and phone are null, and empty maps stay", () => {
    const bare = sampleConversion().person;
    const body = JSON.parse(
      request({}, { value: null, orderId: null, person: { emailSha256: bare?.emailSha256 }, clickIds: {}, utm: {} }).body,
    ) as object;
    expect(body).toMatchObject({ value: null, orderId: null, phoneSha256: null, clickIds: {}, utm: {} });
  });

  test("names, browser ids and other forms of the email are not sent", () => {
    const person = { ...sampleConversion().person, email: "a".repeat(64), firstName: "f".repeat(64) };
    const { body } = request({}, { person: { ...person, emailGoogleSha256: sha256("b".repeat(64)) } });
    expect(body).not.toContain("f".repeat(64));
    expect(body).not.toContain("b".repeat(64));
    expect(body).not.toContain("fb.1.");
  });

  test("an event name with quotes stays one text in the template", () => {
    const name = '","admin":true,"x":"{{emailSha256}}';
    const { body } = request({ template: '{"what":"{{event}}","fixed":1}' }, { name });
    expect(JSON.parse(body)).toEqual({ what: name, fixed: 1 });
  });

  test("a click id cannot reach headers or URL", () => {
    const clickIds = { gclid: { value: "x\r\nX-Evil: 1", seenAt: 0 } };
    const sent = request({ template: '{"g":"{{clickIds.gclid}}"}' }, { clickIds });
    expect(sent.url).toBe(url);
    expect(sent.headers).toEqual({ "content-type": "application/json" });
    expect(JSON.parse(sent.body)).toEqual({ g: "x\r\nX-Evil: 1" });
  });
});

describe("the signature", () => {
  const [current, previous] = [newSigningSecret(), newSigningSecret()];
  const verify = (secret: string, sent: PlatformRequest) => new Webhook(secret).verify(sent.body, sent.headers);

  beforeAll(() => void vi.useFakeTimers({ now, toFake: ["Date"] }));
  afterAll(() => void vi.useRealTimers());

  test("a receiver verifies each request with a library of Standard Webhooks", () => {
    const sent = request({ signing_secret: current, template: '{"order":"{{orderId}}"}' });
    expect(verify(current, sent)).toEqual({ order: "A-1001" });
    expect(sent.headers["webhook-id"]).toBe(sampleConversion().platformEventId);
    expect(() => verify(previous, sent)).toThrow("No matching signature");
    expect(() => verify(current, { ...sent, body: `${sent.body} ` })).toThrow("No matching signature");
  });

  test("during a rotation both secrets verify a request, and afterwards only the new one", () => {
    const secretsUntil = (until: number) => writeSecrets({ current, previous: { secret: previous, until } });
    const during = request({ signing_secret: secretsUntil(now + 1) });
    expect(verify(current, during)).toEqual(verify(previous, during));
    const after = request({ signing_secret: secretsUntil(now) });
    expect(verify(current, after)).toBeTruthy();
    expect(() => verify(previous, after)).toThrow("No matching signature");
  });

  test("the signature's headers cannot be set by the customer's headers", () => {
    for (const name of ["Webhook-Id", "webhook-timestamp", "Webhook-Signature"])
      expect(settingFault("headers", JSON.stringify({ [name]: "x" }))).not.toBeNull();
  });

  test.each(["whsec_", "secret", "whsec_c2hvcnQ=", `whsec_${"A".repeat(100)}`, `${current} ${previous} 1`])(
    "the signing secret %j is rejected",
    (value) => {
      expect(settingFault("signing_secret", value)).toBe("must be whsec_ and the base64 of 24 to 64 bytes");
    },
  );
});

describe("the address", () => {
  test.each([
    "https://hooks.example.com",
    "https://hooks.example.com:8443/a?b=c#d",
    "http://hooks.example.com/",
    "HTTPS://HOOKS.EXAMPLE.COM/",
  ])("the URL %s is accepted", (value) => {
    expect(settingFault("url", value)).toBeNull();
  });

  test.each([
    "hooks.example.com",
    "//hooks.example.com",
    "ftp://hooks.example.com",
    "file:///etc/passwd",
    "sandbox:conversions",
    "javascript:alert(1)",
    "https://",
    "https://exa mple.com",
    "",
  ])("the URL %j is rejected", (value) => {
    expect(settingFault("url", value)).toBe("must be an http(s) address");
  });

  test("the URL identifies a connection", () => {
    expect(webhook.account({ url, headers: '{"a":"1"}' })).toBe(webhook.account({ url, method: "PUT" }));
    expect(webhook.account({ url })).not.toBe(webhook.account({ url: `${url}2` }));
  });
});

describe("the method", () => {
  test.each(["POST", "PUT", "PATCH"])("the method %s is accepted", (value) => {
    expect(settingFault("method", value)).toBeNull();
  });
  test.each(["GET", "DELETE", "post", "CONNECT", "POST ", "POST\r\n"])("the method %j is rejected", (value) => {
    expect(settingFault("method", value)).toBe("must be POST, PUT or PATCH");
  });
});

describe("the headers", () => {
  test.each([
    "{}",
    '{"Authorization":"Bearer x"}',
    '{"X-A":"1","x-b":"two words\\twith a tab"}',
    `{"X-Odd!#$%&'*+.^_\`|~1":"fine"}`,
  ])("the headers %s are accepted", (value) => {
    expect(settingFault("headers", value)).toBeNull();
  });

  test.each([
    ["not JSON", "Authorization: Bearer x"],
    ["a list", '["a"]'],
    ["null", "null"],
    ["a text", '"a"'],
    ["a number as value", '{"X-A":1}'],
    ["null as value", '{"X-A":null}'],
    ["a nested object", '{"X-A":{"b":"c"}}'],
    ["an empty name", '{"":"x"}'],
    ["a space in a name", '{"X A":"x"}'],
    ["a colon in a name", '{"X:A":"x"}'],
    ["a line break in a name", '{"X\\r\\nEvil":"x"}'],
    ["a line break in a value", '{"X-A":"x\\r\\nX-Evil: 1"}'],
    ["a lone line feed in a value", '{"X-A":"x\\nX-Evil: 1"}'],
    ["NUL in a value", '{"X-A":"x\\u0000"}'],
    ["DEL in a value", '{"X-A":"x\\u007f"}'],
    ["letters beyond Latin-1 in a value", '{"X-A":"日本"}'],
  ])("headers with %s are rejected", (_what, value) => {
    expect(settingFault("headers", value)).toBe("must be a JSON object of header names and text values");
  });

  test("rejected headers are not quoted, because they are secret", () => {
    expect(settingFault("headers", '{"Authorization":"Bearer s3cret\\n"}')).not.toContain("s3cret");
  });

  test("headers that the HTTP client sets are rejected, because every delivery would fail", () => {
    const owned = ["Content-Length", "Transfer-Encoding", "Keep-Alive", "Upgrade", "Expect"];
    expect(owned.filter((name) => settingFault("headers", JSON.stringify({ [name]: "100" })) === null)).toEqual([]);
  });
});

describe("the success rule as it is written", () => {
  test.each(["2xx", "200", "200-204", "2xx, 409", "ok=true", "2xx,data.status=done", "status=a=b", "200 , x=y z"])(
    "the success rule %s is accepted",
    (value) => {
      expect(settingFault("success", value)).toBeNull();
    },
  );

  test.each(["", ",", "2xx,", "0xx", "6xx", "99", "600", "20x", "200-", "200-99", "ok", "ok=", "=true", "a b=c"])(
    "the success rule %j is rejected",
    (value) => {
      expect(settingFault("success", value)).toBe("must be a list like 2xx, 200-204 or status=ok");
    },
  );

  test("a backwards range is rejected: it would reject every conversion", () => {
    expect(settingFault("success", "204-200")).not.toBeNull();
  });
});

describe("the success rule as it is applied", () => {
  const accepted = { kind: "accepted" };

  test("without a rule any 2xx is success, whatever the body", () => {
    for (const status of [200, 201, 204, 299]) expect(read({ status, body: "<no json" })).toEqual(accepted);
  });

  test("a status in the rule is success, also an error status", () => {
    expect(read({ status: 409 }, { success: "2xx,409" })).toEqual(accepted);
    expect(read({ status: 204 }, { success: "2xx,409" })).toEqual(accepted);
    expect(read({ status: 302 }, { success: "302" })).toEqual(accepted);
  });

  test("a range of statuses includes both ends", () => {
    const success = "200-204";
    expect([200, 202, 204].map((status) => read({ status }, { success }))).toEqual([accepted, accepted, accepted]);
    expect(read({ status: 205 }, { success })).toEqual({
      kind: "rejected",
      error: "HTTP 205 is not in the success rule",
    });
  });

  test("an error status outside the rule keeps its HTTP meaning", () => {
    const success = "201";
    expect(read({ status: 400 }, { success })).toEqual({ kind: "rejected", error: "HTTP 400" });
    expect(read({ status: 401 }, { success })?.kind).toBe("unauthorized");
    expect(read({ status: 503, headers: { "retry-after": "9" } }, { success })).toEqual({
      kind: "retry",
      error: "HTTP 503",
      retryAfterSeconds: 9,
    });
  });

  test.each([
    ["ok=true", '{"ok":true}'],
    ["ok=true", '{"ok":"true"}'],
    ["code=0", '{"code":0}'],
    ["data.status=done", '{"data":{"status":"done"}}'],
    ["items.0.ok=true", '{"items":[{"ok":true}]}'],
    ["a=1,b=2", '{"b":2,"a":1}'],
    ["error=null", '{"error":null}'],
    ["note=x=y", '{"note":"x=y"}'],
  ])("the condition %s holds for %s", (success, body) => {
    expect(read({ body }, { success })).toEqual(accepted);
  });

  test.each([
    ["ok=true", '{"ok":false}'],
    ["ok=true", "{}"],
    ["ok=true", ""],
    ["ok=true", "ok=true"],
    ["ok=true", '[{"ok":true}]'],
    ["ok=true", '"ok=true"'],
    ["ok=true", '{"ok":true'],
    ["constructor=x", "{}"],
  ])("the condition %s does not hold for %j", (success, body) => {
    expect(read({ body }, { success })).toEqual({
      kind: "rejected",
      error: `the answer does not have ${success}`,
    });
  });

  test("all conditions must hold, and the first failed one is named", () => {
    expect(read({ body: '{"a":1,"b":3}' }, { success: "a=1,b=2,c=3" })).toEqual({
      kind: "rejected",
      error: "the answer does not have b=2",
    });
  });

  test("conditions without a status still require a 2xx", () => {
    expect(read({ status: 500, body: '{"ok":true}' }, { success: "ok=true" })?.kind).toBe("retry");
  });

  test("the response body is never in the reason", () => {
    const reading = read({ body: '{"ok":false,"token":"s3cret"}' }, { success: "ok=true" });
    expect(JSON.stringify(reading)).not.toContain("s3cret");
  });
});
