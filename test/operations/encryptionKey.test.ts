// The encryption key is changed while the relay runs, and deliveries go on.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpSite } from "../support/installation.ts";
import { Installation, newInstallation } from "../support/relay.ts";
import { startReceiver } from "../support/receiver.ts";

const event = (orderId: string) => ({ email: "ada@example.com", event: "purchase", orderId, value: 5 });

test("rotating a key file reseals everything while the relay runs, and a lost key is replaced only with --yes", async () => {
  const home = await newInstallation("sqlite");
  const receiver = await startReceiver();
  const { key } = await setUpSite(home, [
    ["webhook", { url: receiver.url, headers: JSON.stringify({ Authorization: "Bearer s3cret" }) }],
  ]);
  const file = join(home.env.CLEANCAST_DATA as string, "encryption.key");
  const before = readFileSync(file, "utf8");
  const relay = await home.start();
  const { resealed, oldKey } = await home.run("encryption-key", "rotate");
  expect(resealed).toBeGreaterThan(0);
  expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  expect(readFileSync(file, "utf8")).not.toBe(before);
  expect(readFileSync(oldKey, "utf8")).toBe(before);

  // The running relay reads values that the new key sealed, and seals values that the next start reads.
  await home.run("webhook", "add", "shop.example.com", receiver.url);
  expect((await relay.post(key, event("A-1"))).status).toBe(200);
  await relay.stop();
  const again = await home.start();
  expect(JSON.parse((await again.post(key, event("A-2"))).text).results).toEqual({ webhook: { ok: true } });
  await again.stop();
  expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
  const conversions = receiver.got.filter((got) => got.text.includes("A-"));
  expect(conversions.map((got) => got.headers.authorization)).toEqual(["Bearer s3cret", "Bearer s3cret"]);

  // When the file is gone, a new key is created only with --yes.
  rmSync(file);
  expect((await home.fails("encryption-key", "lost")).error).toContain("--yes");
  expect(existsSync(file)).toBe(false);
  expect((await home.run("encryption-key", "lost", "--yes")).gone).toMatchObject({ connections: 1 });
  expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
});

test("rotating a key of the environment needs both keys, and a lost key is replaced only with --yes", async () => {
  const home = await newInstallation("postgres");
  await setUpSite(home, [["segment", { source: "acme", write_key: "s3cret" }]]);
  expect((await home.fails("encryption-key", "rotate")).error).toContain("CLEANCAST_ENCRYPTION_KEY_OTHER");
  const after = home.with({ CLEANCAST_ENCRYPTION_KEY: "77".repeat(32) });
  const change = after.with({ CLEANCAST_ENCRYPTION_KEY_OTHER: "5a".repeat(32) });
  expect((await change.run("encryption-key", "rotate")).resealed).toBeGreaterThan(0);
  expect(await after.run("check")).toEqual({ ok: true, wrong: [] });
  expect((await home.fails("site", "list")).error).toContain("is not the key that this database was sealed with");

  // Copies of a key file on other nodes would not be changed.
  const { CLEANCAST_ENCRYPTION_KEY: _none, ...filed } = home.env;
  expect(await new Installation(home.engine, filed).fails("encryption-key", "rotate")).toMatchObject({
    field: "alone",
  });

  // The same when the new key is lost.
  const withOtherKey = after.with({ CLEANCAST_ENCRYPTION_KEY: "88".repeat(32) });
  expect((await withOtherKey.fails("encryption-key", "lost")).error).toContain("--yes");
  expect((await withOtherKey.run("encryption-key", "lost", "--yes")).gone).toMatchObject({
    connections: 1,
  });
  const { items: connections } = await withOtherKey.run("connection", "list");
  expect(connections).toEqual([expect.objectContaining({ state: "needs reconnection" })]);
});
