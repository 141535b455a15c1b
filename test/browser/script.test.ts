// The tag as a file: small, compressed, cached by its content, and pinned by integrity where a site wants that.

import { createHash } from "node:crypto";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";

let stage: Stage;
let line: { pinned: string; follows: string; hash: string; integrity: string; gzipBytes: number };

beforeAll(async () => {
  stage = await setUpStage();
  line = await stage.home.run("tag", "shop.example.test");
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, stage.relay.url),
      { headers: { host: "shop.example.test", ...headers } },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}

test("the tag has at most 3 KB on the wire, compressed as the browser asks, and is the same text each time", async () => {
  const plain = await get("/__cc/tag.js");
  const gzip = await get("/__cc/tag.js", { "accept-encoding": "gzip, deflate" });
  const brotli = await get("/__cc/tag.js", { "accept-encoding": "gzip, deflate, br, zstd" });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(gzip.headers["content-encoding"]).toBe("gzip");
  expect(brotli.headers["content-encoding"]).toBe("br");
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
  expect(gzip.body.length).toBeLessThanOrEqual(3072);
  expect(gzip.body.length).toBe(line.gzipBytes);
  expect(brotli.body.length).toBeLessThan(gzip.body.length);
  for (const answer of [plain, gzip, brotli]) {
    expect(answer.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
  }
});

test("the tag's stable address is cached briefly, its versioned address for ever", async () => {
  const stable = await get("/__cc/tag.js");
  const named = await get(`/__cc/tag.${line.hash}.js`);
  expect(named.body.equals(stable.body)).toBe(true);
  expect(named.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  const seconds = Number(/max-age=(\d+)/.exec(stable.headers["cache-control"] ?? "")?.[1]);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect(stable.headers["cache-control"]).not.toContain("immutable");
  // The address of an older version gets the present text, and is cached only briefly.
  const old = await get("/__cc/tag.0123456789abcdef.js");
  expect(old.status).toBe(200);
  expect(old.headers["cache-control"]).toBe(stable.headers["cache-control"]);

  const { etag = "" } = stable.headers;
  const again = await get("/__cc/tag.js", { "if-none-match": etag });
  expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
  expect((await get("/__cc/tag.js", { "if-none-match": '"other"' })).status).toBe(200);
});

test("the printed integrity matches the tag's file, and an unknown host gets none", async () => {
  const { body } = await get("/__cc/tag.js");
  expect(line.integrity).toBe(`sha384-${createHash("sha384").update(body).digest("base64")}`);
  expect(line.pinned).toContain(`integrity="${line.integrity}"`);
  expect((await get("/__cc/tag.js", { host: "other.example.test" })).status).toBe(404);
});

inChromium("the pinned line", () => {
  const isReady = (page: Page) => page.evaluate(() => "cc" in window);

  test("a browser runs the tag with its integrity, and refuses it when one character of the integrity differs", async () => {
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    stage.site.pages["/pinned"] = pageWith(line.pinned, "");
    stage.site.pages["/forged"] = pageWith(
      line.pinned.replace(/sha384-(.)/, (_all, first: string) => `sha384-${first === "A" ? "B" : "A"}`),
      "",
    );
    await page.goto(`${stage.site.origin}/pinned?gclid=Pinned`);
    await stage.site.waitForReports("visit", 1);
    expect(await isReady(page)).toBe(true);
    await page.goto(`${stage.site.origin}/forged?gclid=Forged`);
    expect(await isReady(page)).toBe(false);
    await visitor.close();
  });

  test("the tag is loaded once: later pages take it from the cache", async () => {
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    stage.site.pages["/kept"] = pageWith(line.pinned, "");
    stage.site.clearRecorded();
    for (const visit of [1, 2, 3]) {
      await page.goto(`${stage.site.origin}/kept?gclid=Kept-${visit}`);
      await stage.site.waitForReports("visit", visit);
    }
    const asked = stage.site.recorded.filter((one) => one.path.startsWith("/__cc/tag"));
    expect(asked.map((one) => one.path)).toEqual([`/__cc/tag.${line.hash}.js`]);
    await visitor.close();
  });
});
