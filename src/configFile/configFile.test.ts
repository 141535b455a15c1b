import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { newLocation, createAt, sql } from "../../test/support/nodes.ts";
import { createAccess, type Access } from "../access/access.ts";
import { operator } from "../access/actor.ts";
import { isPassword } from "../access/password.ts";
import { Conflict, Denied, Fault } from "../kernel/refusal.ts";
import { deleteSite } from "../sites/deleteSite.ts";
import { createDirectory, type Directory } from "../sites/directory.ts";
import { makeKey } from "../sites/keys.ts";
import { addSite, revokeKey, rotateKey } from "../sites/manage.ts";
import type { StoreLocation } from "../store/connect.ts";
import type { Store } from "../store/store.ts";
import { applyFile, type Applied } from "./apply.ts";
import { diffText } from "./diff.ts";
import { BadFile, parseFile } from "./document.ts";
import { exportConfiguration, toYaml } from "./export.ts";
import { planFile, type FileText } from "./plan.ts";
import { operatorRights, type ConfigurationContext, type Plan } from "./planning.ts";

const at = Date.UTC(2026, 10, 15);
const webhookSecret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const givenKey = makeKey("live").key;
const hashedKey = makeKey("test");

const variables: Record<string, string> = {
  META_TOKEN: "meta-token-of-the-test",
  TOTALS_SECRET: webhookSecret,
  CRM_KEY: givenKey,
};

const full = `
version: 1
sites:
  - hosts: [shop.example.com, www.shop.example.com]
    name: Shop
    settings:
      keep_events: 30d
      block_disposable: true
      deny_networks: [192.0.2.0/24, 198.51.100.7]
      alert_emails: [ops@example.com]
    keys:
      - name: CRM
        key: \${CRM_KEY}
      - name: staging
        hash: ${hashedKey.hash}
        mode: test
        expires: 2027-01-31
    connections:
      - platform: meta
        settings:
          pixel_id: 12345678901234567
          access_token: \${META_TOKEN}
        events: [purchase, Lead]
        event_names:
          lead: Contact
        values:
          purchase: 20%
          "*": 15 EUR
      - platform: sandbox
        paused: true
    webhooks:
      - url: https://example.com/totals
        secret: \${TOTALS_SECRET}
        send_empty: true
members:
  - email: ada@example.com
    role: owner
  - email: eve@example.com
    role: viewer
    sites: [shop.example.com]
`;

const file = (text: string, given: Record<string, string> = variables): FileText => ({
  name: "cleancast.yaml",
  text,
  lookup: {
    variable: (name) => given[name] ?? new Fault(`the variable ${name} is not set.`),
    file: (path) => (path === "token.txt" ? "token of a file\n" : new Fault("no such file.")),
  },
});

describe.each(["sqlite", "postgres"] as const)("a configuration file on %s", (engine) => {
  let location: StoreLocation;
  let store: Store;
  let directory: Directory;
  let access: Access;
  let context: ConfigurationContext;

  async function open() {
    location = await newLocation(engine);
    store = await createAt(location);
    directory = createDirectory(store);
    await directory.refresh();
    access = accessOf(directory);
    context = contextOf(directory);
  }

  const accesses: Access[] = [];

  function accessOf(of: Directory): Access {
    const made = createAccess({
      store,
      directory: of,
      mailer: null,
      publicUrl: "https://cc.example.com",
      secret: store.accessSecret,
      trusted: () => false,
      now: () => at,
      onDefect: (error) => expect.unreachable(String(error)),
    });
    accesses.push(made);
    return made;
  }

  const contextOf = (of: Directory): ConfigurationContext => ({
    store,
    directory: of,
    access: of === directory ? access : accessOf(of),
    allowPrivate: { hosts: new Set(), networks: [] },
    exportFolder: null,
    rights: operatorRights,
    by: { actor: "test", now: at },
  });

  beforeAll(() => open());
  afterAll(async () => {
    for (const made of accesses) await made.close();
    await store.close();
  });

  const plan = (text: string, { prune = false, given = variables } = {}) => planFile(context, file(text, given), { prune });
  const options = (owner: string, confirm: (plan: Plan) => Promise<void> = async () => {}) => ({
    prune: false,
    owner,
    now: Date.now,
    elapsed: () => performance.now(),
    confirm,
  });
  const apply = (text: string, { prune = false } = {}): Promise<Applied> =>
    applyFile(context, file(text), { ...options("one"), prune });
  const faultsOf = async (text: string, given = variables) => {
    const error: unknown = await plan(text, { given }).catch((thrown: unknown) => thrown);
    if (!(error instanceof BadFile)) throw new Error(`no fault: ${String(error)}`);
    return error.faults.map(({ line, field, message }) => `${line} ${field}: ${message}`);
  };
  const siteOf = (host: string) => {
    const site = directory.site(directory.host(host)?.siteId ?? "");
    if (!site) throw new Error(`no site ${host}`);
    return site;
  };

  test("a site may have a hundred connections: with one more, nothing of the file is applied", async () => {
    const entries = (count: number) =>
      Array.from(
        { length: count },
        (_, i) => `      - platform: webhook\n        settings: { url: "https://hook${i}.example.com/" }\n`,
      ).join("");
    const text = (count: number) => `version: 1\nsites:\n  - hosts: [many.example.com]\n    connections:\n${entries(count)}`;
    expect(await faultsOf(text(101))).toEqual([expect.stringContaining("must have at most 100 entries")]);
    expect(await plan(text(100))).toMatchObject({ changes: expect.any(Array) });
  });

  test("a file that would pass a limit of a site together with what exists changes nothing", async () => {
    const list = (names: readonly string[], entry: (name: string) => string) => names.map((name) => `${entry(name)}\n`).join("");
    const names = (first: number, count: number) => Array.from({ length: count }, (_, i) => `n${first + i}`);
    const head = "version: 1\nsites:\n";
    const connections = (some: readonly string[]) =>
      `${head}  - hosts: [limits.example.com]\n    connections:\n${list(
        some,
        (name) => `      - platform: webhook\n        settings: { url: "https://${name}.example.com/" }`,
      )}`;
    const sources = (some: readonly string[]) =>
      `${head}  - hosts: [limits.example.com]\n    sources:\n${list(some, (name) => `      - { kind: custom, name: ${name} }`)}`;
    const hosts = (some: readonly string[]) =>
      `${head}  - hosts:\n      - limits.example.com\n${list(some, (name) => `      - ${name}.limits.example.com`)}`;

    await apply(connections(names(0, 99)));
    expect(await faultsOf(connections(names(99, 2)))).toEqual([
      "4 sites[0].connections: would make 101 together with those that exist: a site has at most 100. Remove some first.",
    ]);
    // What is removed goes last.
    const pruned = await plan(connections(names(99, 2)), { prune: true }).catch((error: unknown) => error);
    expect(pruned).toBeInstanceOf(BadFile);
    expect((await plan(connections(names(98, 2)))).changes).toHaveLength(1);

    await apply(sources(names(0, 199)));
    expect(await faultsOf(sources(names(199, 2)))).toEqual([
      expect.stringContaining("4 sites[0].sources: would make 201 together with those that exist: a site has at most 200."),
    ]);
    expect(await faultsOf(hosts(names(0, 200)))).toEqual([
      expect.stringContaining("3 sites[0].hosts: would make 201 together with those that exist: a site has at most 200."),
    ]);
    const { connections: kept, sources: ofSite, hosts: named } = siteOf("limits.example.com");
    expect([kept.length, ofSite.length, named]).toEqual([99, 199, ["limits.example.com"]]);
    await deleteSite(context, siteOf("limits.example.com"), context.by);
  });

  test("a file invites as many members as it names", async () => {
    const emails = Array.from({ length: 70 }, (_, i) => `member${i}@example.com`);
    const { notes } = await apply(
      `version: 1\nmembers:\n${emails.map((email) => `  - { email: ${email}, role: viewer }\n`).join("")}`,
    );
    expect(notes.filter((note) => note.startsWith("Pass this link on"))).toHaveLength(70);
    for (const { id } of await access.invitations.list(operator)) await access.invitations.withdraw(operator, id, context.by);
  });

  test("a file with many sites is compared in slices, between which other work runs", async () => {
    let turns = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turns += 1) await nextTurn();
    })();
    const seen = new Map<number, number>();
    const checkHost = () => void seen.set(turns, (seen.get(turns) ?? 0) + 1);
    const text = `version: 1\nsites:\n${Array.from({ length: 1000 }, (_, i) => `  - hosts: [many-${i}.example.com]\n`).join("")}`;
    const { changes } = await planFile({ ...context, checkHost }, file(text), { prune: false }).finally(() => (isOver = true));
    await counting;
    expect(changes).toHaveLength(1000);
    expect(Math.max(...seen.values())).toBeLessThan(500);
  });

  test("nodes that start together with the same file add everything once, and nothing the second time", async () => {
    const others = [createDirectory(store), createDirectory(store)];
    const applied = await Promise.all([
      applyFile(context, file(full), options("one")),
      ...others.map((one, i) => applyFile(contextOf(one), file(full), options(`other ${i}`))),
    ]);
    expect(applied.filter(({ plan: { changes } }) => changes.length > 0)).toHaveLength(1);
    expect(applied.flatMap(({ notes }) => notes).toSorted()).toEqual([
      expect.stringContaining("Pass this link on to ada@example.com."),
      expect.stringContaining("Pass this link on to eve@example.com."),
    ]);
    await directory.refresh();
    expect([...directory.sites()]).toHaveLength(1);
    const site = siteOf("www.shop.example.com");
    expect(site).toMatchObject({ name: "Shop", hosts: ["shop.example.com", "www.shop.example.com"] });
    expect(site.settings).toMatchObject({
      inbound: true,
      keepEventsMs: 30 * 24 * 3_600_000,
      blockDisposable: true,
      denyNetworks: ["192.0.2.0/24", "198.51.100.7"],
      alertEmails: ["ops@example.com"],
    });
    expect(site.keys.map(({ name, mode, hash: keyHash, expiresAt }) => [name, mode, keyHash, expiresAt])).toEqual(
      expect.arrayContaining([
        ["CRM", "live", hash("sha256", givenKey), null],
        ["staging", "test", hashedKey.hash, Date.UTC(2027, 0, 31)],
      ]),
    );
    const [meta, sandbox] = site.connections.toSorted((a, b) => a.platform.localeCompare(b.platform));
    expect(meta).toMatchObject({
      platform: "meta",
      state: "active",
      events: ["purchase", "lead"],
      settings: {
        pixel_id: "12345678901234567",
        access_token: "meta-token-of-the-test",
        "event.lead": "Contact",
        "value.purchase": "20%",
        "value.*": "15 EUR",
      },
    });
    expect(sandbox).toMatchObject({ platform: "sandbox", state: "paused", events: null });
    expect(await store.webhooks.listWithSecrets(site.id)).toEqual([
      expect.objectContaining({
        url: "https://example.com/totals",
        sendEmpty: true,
        secrets: { current: webhookSecret, previous: null },
      }),
    ]);
    const invited = await access.invitations.list(operator);
    expect(invited.map(({ email, role, site: on }) => [email, role, on]).toSorted()).toEqual([
      ["ada@example.com", "owner", null],
      ["eve@example.com", "viewer", site.id],
    ]);
    expect(await plan(full, { prune: true })).toEqual({ changes: [], unlisted: [], notes: [] });
  });

  test("the difference names what changes, and shows no secret", async () => {
    const changed = full
      .replace("keep_events: 30d", "keep_events: 60d")
      .replace("events: [purchase, Lead]", "events: all")
      .replace("send_empty: true", "send_empty: false")
      .replace("paused: true", "paused: false")
      .replace("- hosts: [shop.example.com,", "- hosts: [pay.example.com, shop.example.com,");
    const given = {
      ...variables,
      META_TOKEN: "another-token",
      TOTALS_SECRET: `whsec_${Buffer.alloc(32, 2).toString("base64")}`,
    };
    const text = diffText(await plan(changed, { given }));
    expect(text).toBe(`+ host pay.example.com of shop.example.com
~ settings of shop.example.com
    ~ keep_events  30d → 60d
~ connection meta 12345678901234567 of shop.example.com
    ~ access_token  (secret) → changed
    ~ events        lead, purchase → all
~ connection sandbox of shop.example.com
    ~ paused  true → false
~ webhook https://example.com/… of shop.example.com
    ~ secret      (secret) → changed
    ~ send_empty  true → false`);
    await applyFile(context, file(changed, given), options("one"));
    expect(await plan(changed, { given })).toMatchObject({ changes: [] });
    const site = siteOf("pay.example.com");
    const [webhook] = await store.webhooks.listWithSecrets(site.id);
    expect(webhook).toMatchObject({
      sendEmpty: false,
      secrets: { current: given.TOTALS_SECRET, previous: { secret: webhookSecret } },
    });
    await apply(full);
  });

  test("a bad file names the line and the field of every fault, and changes nothing", async () => {
    const revision = await store.configuration.readRevision();
    const bad = `version: 1
sites:
  - hosts: [bad host, new.example.com]
    setting: {}
    settings:
      keep_events: soon
      unknown: on
    keys:
      - name: one
        key: cc_literal_that_is_long_enough
      - name: two
    connections:
      - platform: meta
        settings: { pixel_id: "12345", access_token: literal }
      - platform: meter
    webhooks:
      - url: http://127.0.0.1/hook
members:
  - email: nobody
    role: boss
`;
    expect(await faultsOf(bad)).toEqual([
      "3 sites[0].hosts[0]: is not a host name; write it like shop.example.com.",
      "4 sites[0].setting: is not a known field.",
      expect.stringMatching(/^6 sites\[0\]\.settings\.keep_events: must be from/),
      "7 sites[0].settings.unknown: is not a known field.",
      expect.stringMatching(/^10 sites\[0\]\.keys\[0\]\.key: is a secret: write it as a reference/),
      "11 sites[0].keys[1]: needs either key or hash.",
      expect.stringMatching(/^14 sites\[0\]\.connections\[0\]\.settings\.access_token: is a secret/),
      expect.stringMatching(/^15 sites\[0\]\.connections\[1\]\.platform: must be one of .*meta/),
      expect.stringMatching(/^17 sites\[0\]\.webhooks\[0\]\.url: /),
      expect.stringMatching(/^19 members\[0\]\.email: /),
      "20 members[0].role: must be one of viewer, admin, owner.",
    ]);
    expect(await store.configuration.readRevision()).toBe(revision);
  });

  test("the faults of form and value of a whole file come in one round, with what was probably meant", async () => {
    const bad = `version: 1
sites:
  - hosts: [bad host]
    nme: Shop
    settings: { timezone: UTC, keep_events: 900d, time_zone: Europe/Berln, consent_mode: optin }
    keys:
      - { nme: CRM, key: "\${CRM_KEY}", mode: liv }
      - 5
      - { name: other, key: literal-key-of-twenty-characters }
    connections:
      - { platform: facebook_ads, settings: {} }
      - { platform: google, settings: { customer_id: abc } }
      - platform: meta
        settings: { pixel: 1, pixel_id: "12 345", access_token: literal, action_source: web, dedup_id: ordr }
        events: [purchase, { a: b }]
        evnts: all
        paused: perhaps
    sources:
      - { kind: strip, settings: { signing_secrt: x } }
    webhooks:
      - { url: "http://127.0.0.1/hook", secret: short, send_emty: true }
      - { secret: literal }
    data_export: { to: "s3://bucket/a", endpoint: "http://10.0.0.1", format: parket, key_id: k, secret: literal }
  - hosts: { a: b }
    settings: { keep: 0d }
members:
  - { email: nobody, role: ownr, password: literal-password }
  - { email: ada@example.com, rol: viewer, sites: [nowhere.example.com] }
member: []
`;
    const places = await faultsOf(bad);
    const found = places.map((one) => {
      const [, line, field, meant] = /^(\d+) (.*?): .*?(?: Did you mean (.*)\?)?$/.exec(one) ?? [];
      return [Number(line), field, ...(meant ? [meant] : [])];
    });
    expect(found).toEqual([
      [3, "sites[0].hosts[0]"],
      [4, "sites[0].nme", "name"],
      [5, "sites[0].settings.timezone"],
      [5, "sites[0].settings.keep_events"],
      [5, "sites[0].settings.time_zone", "Europe/Berlin"],
      [5, "sites[0].settings.consent_mode", "opt-in"],
      [7, "sites[0].keys[0].nme", "name"],
      [7, "sites[0].keys[0].mode", "live"],
      [8, "sites[0].keys[1]"],
      [9, "sites[0].keys[2].key"],
      [11, "sites[0].connections[0].platform"],
      [12, "sites[0].connections[1].platform", "google_ads"],
      [12, "sites[0].connections[1].settings.customer_id"],
      [14, "sites[0].connections[2].settings.pixel"],
      [14, "sites[0].connections[2].settings.pixel_id"],
      [14, "sites[0].connections[2].settings.access_token"],
      [14, "sites[0].connections[2].settings.action_source"],
      [14, "sites[0].connections[2].settings.dedup_id", "order"],
      [15, "sites[0].connections[2].events[1]"],
      [16, "sites[0].connections[2].evnts"],
      [17, "sites[0].connections[2].paused"],
      [19, "sites[0].sources[0].kind", "stripe"],
      [19, "sites[0].sources[0].settings.signing_secrt", "signing_secret"],
      [21, "sites[0].webhooks[0].url"],
      [21, "sites[0].webhooks[0].secret"],
      [21, "sites[0].webhooks[0].send_emty", "send_empty"],
      [22, "sites[0].webhooks[1].url"],
      [22, "sites[0].webhooks[1].secret"],
      [23, "sites[0].data_export.endpoint"],
      [23, "sites[0].data_export.format", "parquet"],
      [23, "sites[0].data_export.secret"],
      [24, "sites[1].hosts"],
      [25, "sites[1].settings.keep"],
      [27, "members[0].email"],
      [27, "members[0].role", "owner"],
      [27, "members[0].password"],
      [28, "members[1].rol", "role"],
      [28, "members[1].sites[0]"],
      [29, "member"],
    ]);
  });

  test("an event name that is near to a usual one is a note and no fault", async () => {
    const text =
      "version: 1\nsites:\n  - hosts: [n.example.com]\n    connections: [{ platform: sandbox, events: [purchse, trial] }]\n";
    const { notes } = await plan(text);
    expect(notes).toEqual([
      "sites[0].connections[0].events[0]: purchse is not a usual event, but a name of your own. Did you mean purchase?",
    ]);
  });

  test("a reference that leads nowhere, an unclosed text and a repeated field are faults with their lines", async () => {
    expect(await faultsOf(full, {})).toEqual([
      "13 sites[0].keys[0].key: the variable CRM_KEY is not set.",
      "22 sites[0].connections[0].settings.access_token: the variable META_TOKEN is not set.",
      "33 sites[0].webhooks[0].secret: the variable TOTALS_SECRET is not set.",
    ]);
    const unclosed = await faultsOf('version: 1\nsites:\n  - hosts: ["shop\n');
    expect(unclosed[0]).toBe('4 : Missing closing "quote.');
    expect(await faultsOf("version: 1\nversion: 1\n")).toEqual([expect.stringMatching(/^2 : .*unique/)]);
    expect(await faultsOf("")).toEqual(["1 : The file is empty."]);
    expect(await faultsOf("version: 2\n")).toEqual([expect.stringMatching(/^1 version: must be 1/)]);
    const empty = `version: 1
sites:
  - hosts: [empty.example.com]
    settings: { alert_webhook: "http://example.com/alerts" }
    webhooks:
    connections:
      - { platform: meta, settings: on, events: purchase, paused: perhaps }
members:
`;
    expect(await faultsOf(empty)).toEqual([
      "4 sites[0].settings.alert_webhook: must use https.",
      "5 sites[0].webhooks: must be a list; write [] for an empty one.",
      "7 sites[0].connections[0].settings: must have fields of its own; write {} for none.",
      "7 sites[0].connections[0].events: must be all or a list of names.",
      "7 sites[0].connections[0].paused: must be true or false.",
      "8 members: must be a list; write [] for an empty one.",
    ]);
  });

  test("a key cannot change, move to another site or come back after its revocation", async () => {
    expect(await faultsOf(full.replace("name: CRM", "name: Other"))).toEqual([
      '12 sites[0].keys[0].name: of this key is "CRM", and cannot change.',
    ]);
    const moved = `version: 1\nsites:\n  - hosts: [other.example.com]\n    keys: [{ name: CRM, key: "\${CRM_KEY}" }]\n`;
    expect(await faultsOf(moved)).toEqual(["4 sites[0].keys[0]: is a key of another site."]);
  });

  test("--prune removes what the file does not name, only where the file has that list", async () => {
    await addSite(context, "old.example.com", context.by);
    const less = full
      .replace(/ {6}- platform: sandbox\n {8}paused: true\n/, "")
      .replace(/ {6}- name: staging\n {8}hash: .*\n {8}mode: test\n {8}expires: .*\n/, "")
      .replace(/ {4}webhooks:\n(?: {6,}.*\n)+/, "")
      .replace(/ {2}- email: eve@example.com\n.*\n.*\n/, "");
    const kept = await plan(less);
    expect(kept.changes).toEqual([]);
    expect(kept.unlisted.map((what) => what.replace(/\([0-9a-z]{10}\) /, ""))).toEqual([
      "host pay.example.com of shop.example.com",
      'key "staging" of shop.example.com',
      "connection sandbox of shop.example.com",
      "site old.example.com",
      "invitation of eve@example.com to pay.example.com",
    ]);
    const pruned = await plan(less, { prune: true });
    expect(pruned.changes.map(({ kind, loss }) => [kind, typeof loss])).toEqual(
      Array.from({ length: 5 }, () => ["remove", "string"]),
    );
    await apply(less, { prune: true });
    expect([...directory.sites()].map(({ hosts }) => hosts)).toEqual([["shop.example.com", "www.shop.example.com"]]);
    expect(siteOf("shop.example.com").connections.map(({ platform }) => platform)).toEqual(["meta"]);
    expect(await store.webhooks.list(siteOf("shop.example.com").id)).toHaveLength(1);
    expect(await plan(less, { prune: true })).toEqual({ changes: [], unlisted: [], notes: [] });
    const again = await plan(full);
    expect(again.notes).toEqual([
      'The key "staging" of shop.example.com was revoked, and stays so: remove it from the file, and give the sender a new key.',
    ]);
    expect(again.changes.map(({ what }) => what)).not.toContainEqual(expect.stringContaining("key"));
  });

  test("a key that was rotated, revoked or has expired stays so, and the rest of the file is applied", async () => {
    const [rotated, revoked] = [makeKey("live"), makeKey("live")];
    const text = `version: 1
sites:
  - hosts: [keys.example.com]
    keys:
      - { name: rotated, hash: ${rotated.hash} }
      - { name: revoked, hash: ${revoked.hash} }
`;
    await apply(text);
    const stored = (name: string) => siteOf("keys.example.com").keys.find((one) => one.name === name) ?? expect.unreachable(name);
    await rotateKey(context, stored("rotated"), null, context.by);
    await revokeKey(context, stored("revoked"), context.by);
    const later = `${text}      - { name: gone, hash: ${"0".repeat(64)}, expires: 2026-01-31 }
    settings: { time_zone: Europe/Berlin }
`;
    const { plan: applied, notes } = await apply(later);
    expect(applied.changes.map(({ what }) => what)).toEqual(["settings of keys.example.com"]);
    expect(notes).toEqual([
      expect.stringMatching(/^The key "rotated" of keys\.example\.com expires at 2026-11-16T00:00:00\.000Z, /),
      expect.stringMatching(/^The key "revoked" of keys\.example\.com was revoked, and stays so/),
      expect.stringMatching(/^The key "gone" of keys\.example\.com expired at 2026-01-31T.* and is not added/),
    ]);
    expect(await apply(later)).toMatchObject({ plan: { changes: [] }, notes });
    expect(stored("revoked").revokedAt).not.toBeNull();
    // A file cannot prolong or shorten the life of a key.
    const shorter = text.replace(`hash: ${rotated.hash}`, `hash: ${rotated.hash}, expires: 2026-11-15T12:00:00Z`);
    expect(await faultsOf(shorter)).toEqual([
      "5 sites[0].keys[0].expires: of this key is 2026-11-16T00:00:00.000Z, and cannot change.",
    ]);
  });

  test("a test key does not become a live one, and an API key no inbound key", async () => {
    const text = (more = "") =>
      `version: 1\nsites:\n  - hosts: [forms.example.com]\n    keys:\n      - name: CRM\n        key: \${CRM_KEY}\n${more}`;
    const given = { CRM_KEY: makeKey("test").key };
    expect(await faultsOf(text(), given)).toEqual([
      "6 sites[0].keys[0].key: A key that begins with cc_test_ is a test key: add it as one.",
    ]);
    expect((await plan(text("        mode: test\n"), { given })).changes).toHaveLength(2);
    expect(await faultsOf(text(), { CRM_KEY: makeKey("API").key })).toEqual([
      "6 sites[0].keys[0].key: A key that begins with ccm_ is an API key: an inbound key begins with cc_.",
    ]);
  });

  test("sites and their hosts are listed as the file lists them, and exports are sorted", async () => {
    await apply("version: 1\nsites:\n  - hosts: [z.example.com, a.z.example.com]\n  - hosts: [y.example.com, b.y.example.com]\n");
    const other = createDirectory(store);
    await other.refresh();
    const listed = [...other.sites()].map(({ hosts }) => hosts).filter(([host]) => /^[yz]\./.test(host ?? ""));
    expect(listed).toEqual([
      ["z.example.com", "a.z.example.com"],
      ["y.example.com", "b.y.example.com"],
    ]);
    const { sites } = (await exportConfiguration(context)).file as { sites: { hosts: string[] }[] };
    const names = sites.map(({ hosts }) => hosts[0]);
    expect(names).toEqual(names.toSorted());
  });

  test("a new member gets the password and the roles of the file; later the file does not change the password", async () => {
    const given = { BOB: "the first password of bob" };
    const text = `version: 1
members:
  - email: Bob@example.com
    name: Bob
    role: admin
    sites: [shop.example.com, new.example.com]
    password: \${BOB}
  - email: bob@example.com
    role: viewer
sites:
  - hosts: [new.example.com]
`;
    await access.invitations.invite(operator, { email: "bob@example.com", site: null, role: "owner" }, context.by);
    await applyFile(context, file(text, given), options("one"));
    const bob = await access.members.findByEmail("bob@example.com");
    const roleOf = (host: string) => bob.grants.find(({ site }) => site === siteOf(host).id)?.role;
    expect([bob.name, bob.grants.length]).toEqual(["Bob", 3]);
    expect([roleOf("shop.example.com"), roleOf("new.example.com")]).toEqual(["admin", "admin"]);
    expect(bob.grants).toContainEqual({ site: null, role: "viewer" });
    const passwordHash = async () => (await store.passwords.findProof("email", "bob@example.com"))?.passwordHash ?? "";
    expect(await isPassword(given.BOB, await passwordHash())).toBe(true);
    expect((await access.invitations.list(operator)).map(({ email }) => email)).not.toContain(bob.email);
    const later = { BOB: "another password of bob" };
    expect(await plan(text, { given: later })).toMatchObject({ changes: [] });
    expect(await faultsOf(text.replace("Bob@", "eva@"), { BOB: "short" })).toEqual([
      "7 members[0].password: A password has at least 12 characters.",
    ]);
    expect(await faultsOf(text.replace("${BOB}", "literal password"), {})).toEqual([
      expect.stringMatching(/^7 members\[0\]\.password: is a secret/),
    ]);
    const pruned = `version: 1\nsites:\n  - hosts: [shop.example.com, www.shop.example.com]\n`;
    await apply(pruned, { prune: true });
    await access.members.remove(bob.id, context.by);
  });

  test("the last owner cannot lose the role, and a file that says so changes nothing", async () => {
    const given = { ADA: "the password of ada", BOB: "the password of bob" };
    const memberOf = (name: string, role: string) =>
      `  - { email: ${name}@example.com, role: ${role}, password: "\${${name.toUpperCase()}}" }\n`;
    const head = "version: 1\nsites:\n  - hosts: [owners.example.com]\nmembers:\n";
    await applyFile(context, file(head + memberOf("ada", "owner"), given), options("one"));
    const revision = await store.configuration.readRevision();
    const viewer = `${head.replace("owners", "others")}${memberOf("ada", "viewer")}`;
    expect(await faultsOf(viewer, given)).toEqual([
      "5 members[0].role: would leave no owner of all sites. Make another member an owner first.",
    ]);
    // An owner who is only invited cannot sign in yet.
    const invited = `${head}  - { email: eva@example.com, role: owner }\n`;
    const pruned = plan(invited, { prune: true, given });
    await expect(pruned).rejects.toThrow(/members: would leave no owner of all sites/);
    expect(await store.configuration.readRevision()).toBe(revision);
    const handedOver = head + memberOf("ada", "viewer") + memberOf("bob", "owner");
    await applyFile(context, file(handedOver, given), options("one"));
    const roleOf = async (email: string) => (await access.members.findByEmail(email)).grants;
    expect(await roleOf("ada@example.com")).toEqual([{ site: null, role: "viewer" }]);
    expect(await roleOf("bob@example.com")).toEqual([{ site: null, role: "owner" }]);
    await access.members.remove((await access.members.findByEmail("ada@example.com")).id, context.by);
  });

  test("a webhook whose address cannot be read is neither added a second time nor lost without a word", async () => {
    const { id: siteId } = siteOf("shop.example.com");
    const [webhook] = await store.webhooks.list(siteId);
    const [row] = await sql(location, `SELECT url FROM webhooks WHERE id = '${webhook?.id}'`);
    await sql(location, `UPDATE webhooks SET url = 'damaged' WHERE id = '${webhook?.id}'`);
    const text = `version: 1\nsites:\n  - hosts: [shop.example.com]\n    webhooks:\n      - url: https://example.com/totals\n`;
    expect(await faultsOf(text)).toEqual([
      expect.stringMatching(/^5 sites\[0\]\.webhooks\[0\]\.url: webhook \w+ cannot be read and may be this one/),
    ]);
    const none = text.replace(/webhooks:[^]*$/, "webhooks: []\n");
    expect((await plan(none)).unlisted).toContainEqual(`webhook ${webhook?.id} of shop.example.com, which cannot be read`);
    expect((await exportConfiguration(context)).left).toEqual([`webhook ${webhook?.id} of shop.example.com`]);
    await sql(location, `UPDATE webhooks SET url = '${String(row?.url)}' WHERE id = '${webhook?.id}'`);
  });

  test("a file that changes a site that was moved, or a source that cannot be read, changes nothing", async () => {
    const text = (name: string, invoices = "none") =>
      `version: 1\nsites:\n  - hosts: [first.example.com]\n    name: ${name}\n  - hosts: [away.example.com]\n    name: ${name}
    sources:\n      - kind: stripe\n        settings: { signing_secret: "\${TOTALS_SECRET}", invoices: ${invoices} }\n`;
    await apply(text("One"));
    const { id: siteId, sources } = siteOf("away.example.com");
    const [source] = sources;
    const [row] = await sql(location, `SELECT credentials FROM sources WHERE id = '${source?.id}'`);
    await sql(location, `UPDATE sources SET credentials = 'damaged' WHERE id = '${source?.id}'`);
    directory = createDirectory(store);
    context = contextOf(directory);
    expect(await faultsOf(text("Two"))).toEqual([
      expect.stringMatching(/^8 sites\[1\]\.sources\[0\]: Source \w+ cannot be read/),
    ]);
    await sql(location, `UPDATE sources SET credentials = '${String(row?.credentials)}' WHERE id = '${source?.id}'`);
    const move = `'move', 'run', 'moved', 'another installation', ${at}, ${at}`;
    await sql(
      location,
      `INSERT INTO site_moves (site_id, move_id, run_id, state, peer, started_at, updated_at) VALUES ('${siteId}', ${move})`,
    );
    directory = createDirectory(store);
    context = contextOf(directory);
    expect(await faultsOf(text("Two"))).toEqual(["5 sites[1]: This site was moved to another installation. Change it there."]);
    expect((await plan(text("One"))).changes).toEqual([]);
    await sql(location, `DELETE FROM site_moves WHERE site_id = '${siteId}'`);
    directory = createDirectory(store);
    context = contextOf(directory);
    await directory.refresh();
    expect(siteOf("first.example.com").name).toBe("One");
    for (const host of ["first.example.com", "away.example.com"]) await deleteSite(context, siteOf(host), context.by);
  });

  test("a file with a part that the caller may not change is refused as a whole", async () => {
    const limited = (rights: Partial<ConfigurationContext["rights"]>) => ({
      ...context,
      rights: { ...operatorRights, ...rights },
    });
    const refusalOf = (rights: Partial<ConfigurationContext["rights"]>, prune = false) =>
      planFile(limited(rights), file("version: 1\nsites:\n  - hosts: [x.example.com]\n    keys: []\nmembers: []\n"), {
        prune,
      }).catch((error: unknown) => error);
    expect(await refusalOf({ members: false })).toMatchObject({ code: "forbidden", field: "members" });
    expect(await refusalOf({ keys: false })).toMatchObject({ code: "forbidden", field: "sites[0].keys" });
    expect(await refusalOf({ siteDeletion: false }, true)).toMatchObject({ code: "forbidden" });
    const exported = await exportConfiguration(limited({ keys: false, members: false }));
    expect(Object.keys(exported.file)).toEqual(["version", "sites"]);
    expect(toYaml(exported)).not.toContain("keys:");
  });

  test("nothing is applied when the question before it is not answered with yes", async () => {
    const revision = await store.configuration.readRevision();
    const refused = async () => {
      throw new Conflict("yes", "Nothing was changed.");
    };
    const changed = `version: 1\nsites:\n  - hosts: [fresh.example.com]\n`;
    await expect(applyFile(context, file(changed), options("one", refused))).rejects.toThrow(Conflict);
    expect(await store.configuration.readRevision()).toBe(revision);
  });

  test("an export has no secret, and applied to an empty installation it gives the same configuration", async () => {
    const { settings } = siteOf("shop.example.com");
    const exported = await exportConfiguration(context);
    const text = toYaml(exported);
    for (const secret of Object.values(variables)) expect(text).not.toContain(secret);
    expect(text).not.toContain("example.com/totals");
    const [webhook] = await store.webhooks.listWithSecrets(siteOf("shop.example.com").id);
    const given: Record<string, string> = {
      SHOP_EXAMPLE_COM_META_ACCESS_TOKEN: "meta-token-of-the-test",
      SHOP_EXAMPLE_COM_WEBHOOK_URL: "https://example.com/totals",
      SHOP_EXAMPLE_COM_WEBHOOK_SECRET: webhook?.secrets.current ?? "",
    };
    expect(exported.variables.toSorted()).toEqual(Object.keys(given).toSorted());
    expect(await planFile(context, file(text, given), { prune: false })).toMatchObject({ changes: [] });
    await access.close();
    await store.close();
    await open();
    await applyFile(context, file(text, given), options("one"));
    expect(siteOf("shop.example.com").settings).toEqual(settings);
    expect((await exportConfiguration(context)).file.sites).toEqual(exported.file.sites);

    // A text that looks like a reference stays a text.
    const literal = text.replace(/(?<= )events:.*\n(?: +- \w+\n)*/, () => 'events: ["$${meta_token}"]\n');
    await applyFile(context, file(literal, given), options("one"));
    expect(siteOf("shop.example.com").connections.flatMap(({ events }) => events ?? [])).toContain("${meta_token}");
    const again = toYaml(await exportConfiguration(context));
    expect(await planFile(context, file(again, given), { prune: false })).toMatchObject({ changes: [] });
  });
});

test("a file of a secret is read without its last line break, and JSON is as good as YAML", async () => {
  const { createResolver } = await import("./references.ts");
  const { readDocument } = await import("./readDocument.ts");
  const json = `{ "version": 1, "a": ["@token.txt", "@@literal", "$\${X}", "https://example.com/\${T}"] }`;
  const { others } = await readDocument("config.json", json);
  const { lookup } = file("", { T: "t" });
  const { resolve, faults } = createResolver(lookup);
  expect(resolve(JSON.parse(others), [])).toEqual({
    version: "1",
    a: ["token of a file", "@literal", "${X}", "https://example.com/t"],
  });
  expect(faults).toEqual([]);
});

test("files are parsed one after the other, and one more than can wait is told to come back", async () => {
  const { readDocument } = await import("./readDocument.ts");
  const reading = Array.from({ length: 8 }, () => readDocument("config.json", '{"version":1}'));
  await expect(readDocument("config.json", "{}")).rejects.toThrow(Denied);
  expect((await Promise.all(reading)).map(({ others }) => others)).toEqual(Array.from({ length: 8 }, () => '{"version":"1"}'));
  await expect(readDocument("config.json", "[")).rejects.toThrow("config.json");
  expect((await readDocument("config.json", '{"version":1}')).others).toBe('{"version":"1"}');
});

describe("a file that is made to take long", () => {
  const withKeys = (count: number) => `version: 1\n${Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join("")}`;

  test("takes no more time for each of many keys than for each of a few", () => {
    const parse = (count: number) => expect(() => parseFile("config.yaml", withKeys(count))).toThrow("more than 1,000 fields");
    const msOf = (count: number) => cpuMsOf(() => parse(count));
    msOf(1500);
    // Where each key is compared with all others, this is nearly 4.
    const perKey = () => msOf(6000) / 4 / msOf(1500);
    expect(Math.min(perKey(), perKey(), perKey())).toBeLessThan(2.5);
  });

  test("is refused with its line where it is nested deeply or repeats itself", () => {
    const deep = /^config\.yaml:\d+:1: More than 50 levels are nested here\.$/m;
    for (const text of ["[", '{"a":', "- ", "{a: "].map((level) => level.repeat(100_000)))
      expect(() => parseFile("config.yaml", text)).toThrow(deep);
    const nested = Array.from({ length: 1000 }, (_, i) => `${" ".repeat(i)}a:\n`).join("");
    expect(() => parseFile("config.yaml", nested)).toThrow(deep);
    const doubled = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join("");
    expect(() => parseFile("config.yaml", `a0: &a0 [x]\n${doubled}`)).toThrow("more than 5,000 lists and maps with aliases");
    expect(() => parseFile("config.yaml", "x".repeat(3 << 20))).toThrow("larger than 2 MiB");
  });
});
