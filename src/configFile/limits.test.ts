// The limits of a configuration file, and those of a site in it together with what exists: nothing of a file that would pass one is
// applied, and none stops the thread that accepts conversions.

import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
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
import { exportConfiguration, toYaml } from "./export.ts";
import { planFile } from "./plan.ts";
import { readDocument } from "./readDocument.ts";

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

/** The CPU time of this thread's longest turn of the event loop while `work` runs, in milliseconds. */
async function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const measuring = (async () => {
    while (!isOver) {
      const before = process.threadCpuUsage();
      await nextTurn();
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  })();
  await work().finally(() => (isOver = true));
  await measuring;
  return longest;
}

/** Three times what a turn takes at most, so that a collection of garbage in it does not count. */
const maxTurnMs = 150;

async function expectShortTurns(work: () => Promise<unknown>): Promise<void> {
  const turns: number[] = [];
  while (turns.length < 3 && !turns.some((ms) => ms < maxTurnMs)) turns.push(await longestTurnOf(work));
  expect(Math.min(...turns)).toBeLessThan(maxTurnMs);
}

describe("a large file delays nobody by more than a slice", () => {
  const textOf = (count: number, part: (i: number) => string, separator = ", ") => listOf(0, count, part).join(separator);
  const siteWith = (fields: string) => `version: 1\nsites:\n  - { hosts: [a.example.com], ${fields} }\n`;
  const planText = async (text: string) => {
    const lookup = {
      variable: (name: string) => (name === "LONG" ? "x".repeat(20_000) : new Fault(`the variable ${name} is not set.`)),
      file: () => new Fault("no such file."),
    };
    const error: unknown = await planFile(context, { name: "c.yaml", text, lookup }, options).then(
      ({ changes }) => `${changes.length} changes`,
      (thrown: unknown) => thrown,
    );
    return error instanceof BadFile ? error.message : error;
  };

  test.each<[name: string, text: string, answer: string]>([
    [
      "a list that 99 aliases repeat",
      `version: 1\nx: &x [${"{hosts: [a]},".repeat(1000)}{}]\ny: [${textOf(99, () => "*x")}]\n`,
      "c.yaml:3:1: y: has more than 5,000 lists and maps with aliases (*name) written out: write long lists of settings as one text with commas, or divide the file.",
    ],
    [
      "aliases that double a list forty times",
      `version: 1\na0: &a0 [x]\n${textOf(40, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`, "\n")}\n`,
      "c.yaml:13:1: a11: The file without its sites has more than 5,000 lists and maps with aliases",
    ],
    [
      "aliases that nest a list a thousand times",
      `version: 1\na0: &a0 x\n${textOf(900, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`, "\n")}\n`,
      "c.yaml:52:1: a50: The file without its sites has more than 50 levels.",
    ],
    [
      "a large site that aliases repeat",
      `version: 1\nsites:\n  - &a { hosts: [${"a,".repeat(14_000)}] }\n${"  - *a\n".repeat(1000)}`,
      "c.yaml:2:1: sites: has more than 300,000 values with aliases",
    ],
    [
      "a long text that aliases repeat",
      `version: 1\nsites:\n  - hosts: [&a ${"x".repeat(300_000)}]\n${"  - hosts: [*a]\n".repeat(1000)}`,
      "c.yaml:2:1: sites: has more than 4,194,304 characters with aliases",
    ],
    [
      "40,000 unknown fields",
      `version: 1\n${textOf(40_000, (i) => `key${i}: 1`, "\n")}\n`,
      "c.yaml:1:1: The file without its sites has more than 1,000 fields.",
    ],
    [
      "names that are repeated in each other",
      `version: 1\nsites: [{"${"k".repeat(100_000)}": [${"a,".repeat(10_000)}]}]\n`,
      "c.yaml:2:10: sites[0]: has more than 500 characters in the name of a field.",
    ],
    [
      "a list of 60,000 hosts",
      `version: 1\nsites:\n  - name: x\n    hosts: [${textOf(60_000, (i) => `h${i}.example.com`)}]\n`,
      "c.yaml:4:5: sites[0].hosts: has more than 20,000 values",
    ],
    ["entries without fields", siteWith(`keys: [${"{},".repeat(14_000)}]`), "sites[0].keys: has more than 5,000 lists and maps"],
    [
      "members without fields",
      `version: 1\nmembers: [${"{},".repeat(4900)}]\n`,
      "c.yaml:2:11: members[0].role: must be one of viewer, admin, owner.",
    ],
    [
      "thousands of sites with faults",
      `version: 1\nsites:\n${textOf(2000, (i) => `  - { hosts: [h${i}.example.com], ${textOf(20, (j) => `a${j}: 1`)} }`, "\n")}\n`,
      "… and at least 100 more.",
    ],
    [
      "thousands of sites with hosts that are none",
      `version: 1\nsites:\n${textOf(6000, (i) => `  - hosts: [h ${i}]`, "\n")}\n`,
      "… and at least 100 more.",
    ],
    [
      "a large site that takes many rounds to read",
      siteWith(`data_export: { too: s3, format: parket }, connections: [
        { platform: facebook_ads, settings: on, evnts: x, paused: perhaps },
        ${textOf(9, () => `{ platform: meta, event_names: { ${textOf(990, (i) => `n${i}: x`)} } }`)}]`),
      "sites[0].data_export.format: must be one of parquet, ndjson. Did you mean parquet?",
    ],
    [
      "thousands of events that look misspelled",
      siteWith(`connections: [{ platform: sandbox, events: [${textOf(15_000, (i) => `begin_chekout${i}`)}] }]`),
      "2 changes",
    ],
    [
      "a list of a setting with 200,000 entries",
      siteWith(`settings: { link_domains: "${"a,".repeat(200_000)}" }`),
      "sites[0].settings.link_domains: must have at most 10000 entries.",
    ],
    [
      "a member of thousands of sites",
      `version: 1\nsites:\n  - hosts: [${textOf(14_000, (i) => `h${i}.example.com`)}]
members:\n  - { email: ada@example.com, role: viewer, sites: [${textOf(14_000, (i) => `h${i}.example.com`)}] }\n`,
      "would make 14000 together with those that exist",
    ],
    ["a long secret in every field", siteWith(`keys: ["${textOf(14_000, () => "${LONG}", '", "')}"]`), "more than 8 MiB"],
    [
      "a text of references alone",
      siteWith(`name: "${"${NONE}".repeat(60_000)}"`),
      "sites[0].name: has more than 10 references.",
    ],
    ["a text of open references", siteWith(`name: "${"${x ".repeat(5)}"`), "it like ${META_TOKEN}."],
  ])("%s", async (_, text, answer) => {
    let said: unknown;
    await expectShortTurns(async () => (said = await planText(text)));
    expect(said).toContain(answer);
  });

  test("also where thousands of sites are exported, and the text is that of the whole file", async () => {
    await applyFile(context, fileOf("export.example.com", "connections", ["platform: sandbox"]), options);
    const site = findSite(context, "export.example.com");
    const many = { ...context, directory: { ...directory, sites: () => Array.from({ length: 3000 }, () => site) } };
    await expectShortTurns(() => exportConfiguration(many).then(toYaml));
    const exported = await exportConfiguration({ ...context, directory: { ...directory, sites: () => [site, site] } });
    expect(parse(toYaml(exported))).toEqual(exported.file);
  });
});

test("a file of hundreds of sites that share settings by aliases is accepted", async () => {
  const sites = listOf(
    0,
    600,
    (i) => `  - hosts: [shop${i}.example.com, www.shop${i}.example.com]
    settings: ${i === 0 ? "&settings { keep_events: 60d, consent_mode: opt-in, time_zone: Europe/Berlin }" : "*settings"}
    keys: [{ name: CRM, hash: "${(i + 10_000).toString(16).padStart(64, "0")}" }]
    connections:
      - platform: meta
        settings: { pixel_id: ${100_000 + i}, access_token: "\${META_TOKEN}" }
        events: ${i === 0 ? "&events [purchase, lead, begin_checkout]" : "*events"}
      - ${i === 0 ? "&sandbox { platform: sandbox, events: *events }" : "*sandbox"}
`,
  );
  const lookup = { variable: () => "token", file: () => new Fault("no such file.") };
  const { changes } = await planFile(context, { name: "c.yaml", text: `version: 1\nsites:\n${sites.join("")}`, lookup }, options);
  // Site, second host, key, settings and two connections.
  expect(changes).toHaveLength(600 * 6);
});

test("a site may have as much as its limits allow, and a list of ten thousand", async () => {
  const list = (count: number, entry: (i: number) => string) => listOf(0, count, entry).join(", ");
  const text = `version: 1
sites:
  - hosts: [${list(200, (i) => `h${i}.large.example.com`)}]
    settings: { block_domains: [${list(10_000, (i) => `d${i}.example.net`)}] }
    webhooks: [${list(50, (i) => `{ url: "https://example.com/${i}", send_empty: false }`)}]
    connections: [${list(100, (i) => `{ platform: webhook, settings: { url: "https://example.com/${i}" }, events: [purchase, lead] }`)}]
    keys: [${list(500, (i) => `{ name: k${i}, hash: "${(i + 10_000).toString(16).padStart(64, "0")}" }`)}]
`;
  const lookup = { variable: () => "", file: () => new Fault("no such file.") };
  const { changes } = await planFile(context, { name: "c.yaml", text, lookup }, options);
  expect(changes).toHaveLength(200 + 1 + 50 + 100 + 500);
});

test("a value that more than one field repeats may be anywhere before them, also in a name", async () => {
  const text = `{ version: &one 1, &two members: [*two, { *one : *two }], sites: [&a { hosts: [*one] }, *a] }`;
  const document = await readDocument("c.yaml", text);
  expect(JSON.parse(document.others)).toEqual({ version: "1", members: ["members", { 1: "members" }], sites: [] });
  expect(document.sites).toEqual(['{"hosts":["1"]}', '{"hosts":["1"]}']);
  expect(document.placeOf(["sites", 1, "hosts", 0])).toEqual({ line: 1, column: text.lastIndexOf("*a") + 1 });
  for (const bad of ["[*none]", "&a [*a]", "{ sites: &s [], members: *s }", "{ members: &m [], sites: *m }"])
    await expect(readDocument("c.yaml", bad)).rejects.toThrow("stands for no value before it");
  await expect(readDocument("c.yaml", "{ ? [a] : b }")).rejects.toThrow("must be a text");
});

test("a file of hundreds of thousands of faults of its syntax has its first ones named", async () => {
  await expect(readDocument("c.yaml", "}".repeat(500_000))).rejects.toThrow(/^c\.yaml:1:1: .*\n[^]*at least 100 more/);
});
