import type { IncomingMessage } from "node:http";
import { expect, test, vi } from "vitest";
import type { Directory } from "../sites/directory.ts";
import { authenticate, type AuthenticateOptions } from "./authenticate.ts";
import { refusals } from "./refusals.ts";

const now = Date.UTC(2026, 10, 15);
const key = { siteId: "site", id: "key", revokedAt: null, expiresAt: null };
const site = { id: "site", settings: { inbound: true, rateLimit: 100 }, leaving: null };

/** Sends a key that this node does not know yet; the site is known, and had no key until a moment ago. */
function sendUnknown(keyNow: () => Promise<unknown>, known: unknown = site) {
  const counted: string[] = [];
  const options = {
    directory: { key: () => undefined, keyNow, site: () => known, siteOfHost: () => known } as unknown as Directory,
    ownHost: null,
    transport: { trusted: () => false, requireTls: false },
    wrongKeys: { count: async (host: string) => counted.push(host) * 0 },
    rateLimit: () => 0,
  } satisfies AuthenticateOptions;
  const request = { headers: { host: "shop.example", "x-cc-api-key": "cc_new" }, rawHeaders: [], socket: { encrypted: true } };
  return { counted, answer: authenticate(request as unknown as IncomingMessage, options, now) };
}

test("a key that the store knows is admitted, and one that it does not know is counted and refused", async () => {
  expect(await sendUnknown(async () => key).answer).toEqual({ site, key });
  const { counted, answer } = sendUnknown(async () => undefined);
  expect(await answer).toBe(refusals.invalidKey);
  expect(counted).toEqual(["shop.example"]);
});

const closed = { ...site, settings: { ...site.settings, inbound: false } };

test.each([
  ["a site that takes events", site],
  ["a site of which this node does not know yet that it takes events", closed],
])("while the store cannot be asked, an unknown key of %s is answered 503, which a sender repeats", async (_title, known) => {
  vi.useFakeTimers();
  try {
    const hung = sendUnknown(() => new Promise(() => {}), known);
    await vi.advanceTimersByTimeAsync(60_000);
    const broken = sendUnknown(() => Promise.reject(new Error("no connection")), known);
    for (const { counted, answer } of [hung, broken]) {
      expect(await answer).toMatchObject({ status: 503, headers: { "retry-after": expect.stringMatching(/^[1-9]/) } });
      expect(counted).toEqual([]);
    }
  } finally {
    vi.useRealTimers();
  }
});
