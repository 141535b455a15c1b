// The limits of a site in a configuration file, together with what exists: nothing of a file that would pass one is applied.

import { afterAll, expect, test } from "vitest";
import { configurationOf } from "../../test/support/configurationFile.ts";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { Fault } from "../kernel/refusal.ts";
import { newSigningSecret, shortId } from "../kernel/ids.ts";
import { dayMs } from "../kernel/time.ts";
import { createDirectory, isUsable } from "../sites/directory.ts";
import { addSite, auditLine, findSite, revokeKey } from "../sites/manage.ts";
import { addOwnKey } from "../sites/ownKeys.ts";
import { BadFile } from "./document.ts";
import { applyFile } from "./apply.ts";
import { planFile } from "./plan.ts";

const store = await createAt(await newLocation("sqlite"));
const directory = createDirectory(store);
await directory.refresh();
const at = Date.UTC(2026, 10, 15);
const context = configurationOf(store, directory, at);
afterAll(async () => {
  await context.access.close();
  await store.close();
});
const fileOf = (host: string, list: string, entries: readonly string[]) => ({
  name: "cleancast.yaml",
  text: `version: 1\nsites:\n  - hosts: [${host}]\n    ${list}:\n${entries.map((entry) => `      - ${entry}\n`).join("")}`,
  lookup: { variable: () => "", file: () => new Fault("no such file.") },
});
const options = { prune: false, owner: "test", now: () => at, elapsed: () => performance.now(), confirm: async () => {} };

async function faultsOf(...given: Parameters<typeof fileOf>): Promise<string[]> {
  const error: unknown = await planFile(context, fileOf(...given), options).catch((thrown: unknown) => thrown);
  return error instanceof BadFile ? error.faults.map(({ field, message }) => `${field}: ${message}`) : [];
}
const listOf = (first: number, count: number, entry: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => entry(first + i));

test("a site has at most fifty webhooks", async () => {
  const hooks = (first: number, count: number) => listOf(first, count, (i) => `url: https://hook${i}.example.com/`);
  const host = "hooks.example.com";
  expect(await faultsOf(host, "webhooks", hooks(0, 51))).toEqual([
    "sites[0].webhooks: would make 51 together with those that exist: a site has at most 50. Remove some first.",
  ]);
  await applyFile(context, fileOf(host, "webhooks", hooks(0, 49)), options);
  expect(await faultsOf(host, "webhooks", hooks(49, 2))).toEqual([
    "sites[0].webhooks: would make 51 together with those that exist: a site has at most 50. Remove some first.",
  ]);
  expect((await planFile(context, fileOf(host, "webhooks", hooks(48, 2)), options)).changes).toHaveLength(1);
});

test("a file with all webhooks of a site that has more than fifty is no fault", async () => {
  const host = "many-hooks.example.com";
  const { id: siteId } = await addSite(context, host, context.by);
  for (let i = 0; i < 52; i += 1) {
    const url = `https://hook${i}.example.com/`;
    const webhook = { siteId, id: shortId(), sendEmpty: true };
    const address = { url, secrets: { current: newSigningSecret(), previous: null } };
    await store.webhooks.add(auditLine(siteId, "webhook added", {}, context.by), webhook, address);
  }
  const hooks = listOf(0, 52, (i) => `url: https://hook${i}.example.com/`);
  expect((await planFile(context, fileOf(host, "webhooks", hooks), options)).changes).toEqual([]);
});

test("a site has at most 500 valid keys; those of the file and the store that have ended do not count", async () => {
  const hashOf = (i: number) => i.toString(16).padStart(64, "0");
  const keys = (first: number, count: number) => listOf(first, count, (i) => `{ name: k${i}, hash: "${hashOf(i)}" }`);
  const host = "keys.example.com";
  expect(await faultsOf(host, "keys", keys(0, 501))).toEqual([
    "sites[0].keys: would make 501 valid ones together with those that exist: a site has at most 500. Remove some first.",
  ]);
  const site = await addSite(context, host, context.by);
  const add = (i: number, expiresAt: number | null, now: number) =>
    addOwnKey(context, site, { name: `k${i}`, mode: "live", expiresAt, hash: hashOf(i) }, { actor: "test", now });
  for (let i = 0; i < 498; i += 1) await add(i, null, at);
  const revoked = await add(500, null, at);
  const revokedKey = findSite(context, host).keys.find(({ id }) => id === revoked.id) ?? expect.unreachable("it was added");
  await revokeKey(context, revokedKey, context.by);
  await add(501, at - dayMs, at - 2 * dayMs);
  expect(await faultsOf(host, "keys", [...keys(600, 3), ...keys(500, 2)])).toEqual([
    "sites[0].keys: would make 501 valid ones together with those that exist: a site has at most 500. Remove some first.",
  ]);
  const plan = await planFile(context, fileOf(host, "keys", [...keys(600, 2), ...keys(500, 1)]), options);
  expect(plan.changes).toHaveLength(2);
  await applyFile(context, fileOf(host, "keys", keys(600, 2)), options);
  // A file that adds nothing is no fault, whatever there is.
  expect(await faultsOf(host, "keys", keys(0, 3))).toEqual([]);
  // The file may go on to name what has ended.
  expect(await faultsOf(host, "keys", [...keys(0, 498), ...keys(500, 2), ...keys(600, 2)])).toEqual([]);

  // What the file revokes makes room for what it adds.
  const pruning = { ...options, prune: true };
  const replacing = fileOf(host, "keys", [...keys(10, 488), ...keys(600, 2), ...keys(700, 10)]);
  const { changes } = await planFile(context, replacing, pruning);
  const countOf = (kind: string) => changes.filter((one) => one.kind === kind && one.what.startsWith("key ")).length;
  // One of those that go has expired.
  expect([countOf("add"), countOf("remove")]).toEqual([10, 11]);
  await applyFile(context, replacing, pruning);
  const usable = findSite(context, host).keys.filter((key) => isUsable(key, at));
  const expected = [...listOf(10, 488, hashOf), ...listOf(600, 2, hashOf), ...listOf(700, 10, hashOf)];
  expect(usable.map(({ hash }) => hash).toSorted()).toEqual(expected.toSorted());
  const tooMany = fileOf(host, "keys", [...keys(11, 487), ...keys(600, 2), ...keys(700, 12)]);
  await expect(planFile(context, tooMany, pruning)).rejects.toThrow("would make 501 valid ones");
});
