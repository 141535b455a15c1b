// The configuration file through the management API: export, plan and apply, and who may do what.

import { beforeAll, describe, expect, test } from "vitest";
import { ask, becomeOwner, invite, password, signIn, type Person } from "../support/apiClient.ts";
import { checkedAnswer, fault } from "../support/contractCheck.ts";
import { newEvent } from "../support/events.ts";
import { withStore } from "../support/installation.ts";
import { newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { freshEvent } from "../contract/answers.ts";
import { dayMs } from "../../src/kernel/time.ts";

const key = `cc_${"k".repeat(40)}`;
const site = `  - hosts: [shop.example.com]
    settings:
      keep_events: 60d
    connections:
      - platform: sandbox
`;
const withoutKeys = `version: 1\nsites:\n${site}`;
const withKeys = `${withoutKeys}    keys:\n      - name: CRM\n        key: \${CRM_KEY}\n`;
const members = `members:
  - email: owner@example.com
    role: owner
  - email: ada@example.com
    role: admin
    sites: [shop.example.com]
    password: \${ADA_PASSWORD}
`;
const secrets = { CRM_KEY: key, ADA_PASSWORD: password };

describe("the configuration file in the management API", () => {
  let home: Installation;
  let relay: Relay;
  let owner: Person;
  let admin: Person;

  beforeAll(async () => {
    home = await newInstallation("sqlite", {
      CLEANCAST_FIRST_SITE: "off",
      ON_THE_SERVER: "a server's secret",
    });
    relay = await home.start();
    owner = await becomeOwner(relay);
    admin = await invite(relay, owner, "admin@example.com", "admin", null);
  });

  const plan = (who: Person, text: string, more: object = {}) => who.ask("POST /configuration/plan", { text, secrets, ...more });
  const apply = (who: Person, text: string, more: object = {}) =>
    who.ask("POST /configuration/apply", { text, secrets, ...more });

  test("an owner compares, applies and exports a file; a second time nothing changes", async () => {
    const planned = checkedAnswer("POST /configuration/plan", await plan(owner, withKeys + members));
    expect(planned.changes.map(({ kind, what }: { kind: string; what: string }) => `${kind} ${what}`)).toEqual([
      "add site shop.example.com",
      'add key "CRM" of shop.example.com',
      "add settings of shop.example.com",
      "add connection sandbox of shop.example.com",
      "add member ada@example.com",
    ]);
    expect((await owner.ask("GET /sites")).json.items).toEqual([]);
    const applied = checkedAnswer("POST /configuration/apply", await apply(owner, withKeys + members));
    expect(applied.changes).toEqual(planned.changes);
    expect((await relay.post(key, freshEvent())).status).toBe(200);
    const ada = await signIn(relay, "ada@example.com");
    expect((await ada.ask("GET /sites")).json.items).toMatchObject([{ role: "admin" }]);
    const again = checkedAnswer("POST /configuration/apply", await apply(owner, withKeys + members));
    expect(again).toMatchObject({ changes: [], notes: [] });
    const { text, variables } = checkedAnswer("GET /configuration", await owner.ask("GET /configuration"));
    expect([text.includes("ada@example.com"), variables]).toEqual([true, []]);
    const { items } = (await owner.ask("GET /audit")).json;
    expect(items.map(({ actor, action }: { actor: string; action: string }) => [actor, action])).toContainEqual([
      "owner@example.com",
      "member added",
    ]);
  });

  test("a bad file is refused with the place of every fault, and changes nothing", async () => {
    const text = `version: 1\nsites:\n  - hosts: [one.example.com, "bad host"]\n    settings:\n      keep_events: soon\n`;
    const refused = await apply(owner, text);
    expect(fault(refused)).toEqual([400, "invalid", "sites[0].hosts[1]"]);
    expect(refused.json.error.faults).toMatchObject([
      { line: 3, column: 30, field: "sites[0].hosts[1]" },
      { line: 5, column: 7, field: "sites[0].settings.keep_events" },
    ]);
    expect((await owner.ask("GET /sites")).json.items).toHaveLength(1);
    expect(fault(await apply(owner, ""))).toEqual([400, "invalid", "text"]);
  });

  test("references are read from the request, never from the server", async () => {
    const keyOf = (reference: string) => withKeys.replace("${CRM_KEY}", reference);
    for (const [reference, message] of [
      ["${ON_THE_SERVER}", "the field secrets of the request has no ON_THE_SERVER."],
      [
        '"@/etc/hostname"',
        "a request cannot refer to a file: write ${NAME}, and the value into the field secrets of the request.",
      ],
      ["${toString}", "the field secrets of the request has no toString."],
    ] as const) {
      const refused = await plan(owner, keyOf(reference));
      expect(refused.json.error.faults, reference).toMatchObject([{ field: "sites[0].keys[0].key", message }]);
    }
  });

  test("data is deleted only with yes", async () => {
    await withStore(home, async (store, directory) => {
      const siteId = directory.host("shop.example.com")?.siteId ?? "";
      const old = newEvent(siteId, { receivedAt: Date.now() - 50 * dayMs }, { deliveries: [] });
      await store.events.accept(old);
    });
    const shorter = withoutKeys.replace("60d", "10d");
    const refused = await apply(admin, shorter);
    expect(fault(refused)).toEqual([409, "conflict", "yes"]);
    expect(refused.json.error.message).toContain("keep_events deletes 1 event");
    expect((await plan(admin, shorter)).json.changes).toMatchObject([{ loss: expect.any(String) }]);
    checkedAnswer("POST /configuration/apply", await apply(admin, shorter, { yes: true }));
    checkedAnswer("POST /configuration/apply", await apply(admin, withoutKeys));
  });

  test("an admin of all sites applies files without members, and deletes no site", async () => {
    expect((await plan(admin, withKeys)).json).toEqual({ changes: [], unlisted: [], notes: [] });
    for (const route of [plan, apply])
      expect(fault(await route(admin, withKeys + members))).toEqual([403, "forbidden", "members"]);
    const { text } = checkedAnswer("GET /configuration", await admin.ask("GET /configuration"));
    expect([text.includes("shop.example.com"), text.includes("@example.com")]).toEqual([true, false]);
    const other = "version: 1\nsites:\n  - hosts: [other.example.com]\n";
    expect(fault(await apply(admin, other, { prune: true, yes: true }))).toEqual([403, "forbidden", undefined]);
    expect((await owner.ask("GET /sites")).json.items).toHaveLength(1);
    const pruned = await apply(owner, other, { prune: true });
    expect(fault(pruned)).toEqual([409, "conflict", "yes"]);
  });

  test("members of one site, and callers without a role, see no configuration", async () => {
    const ada = await signIn(relay, "ada@example.com");
    const viewer = await invite(relay, owner, "viewer@example.com", "viewer", null);
    for (const person of [ada, viewer])
      for (const answer of [
        await person.ask("GET /configuration"),
        await plan(person, withoutKeys),
        await apply(person, withoutKeys),
      ])
        expect(fault(answer)).toEqual([403, "forbidden", undefined]);
    expect(fault(await ask(relay, "GET /configuration", undefined, {}))).toEqual([401, "signed_out", undefined]);
  });

  test("an API key reads, writes and adds keys within its scopes, for all sites, and never sees members", async () => {
    const keyWith = async (scopes: string[], siteId: string | null = null) => {
      const { json } = await owner.ask("POST /api-keys", { name: "deploy", site: siteId, scopes });
      const bearer = { Authorization: `Bearer ${json.key}` };
      const send = (route: string, body?: unknown) => ask(relay, route, body, bearer);
      return {
        get: () => send("GET /configuration"),
        apply: (text: string, more: object = {}) => send("POST /configuration/apply", { text, secrets, ...more }),
      };
    };
    const read = await keyWith(["read"]);
    const { text } = checkedAnswer("GET /configuration", await read.get());
    expect(["shop.example.com", "keys:", "members:"].map((one) => text.includes(one))).toEqual([true, false, false]);
    expect(fault(await read.apply(withoutKeys))).toEqual([403, "forbidden", undefined]);
    const write = await keyWith(["write"]);
    expect(fault(await write.get())).toEqual([403, "forbidden", undefined]);
    expect((await write.apply(withoutKeys)).json).toMatchObject({ changes: [] });
    expect(fault(await write.apply(withKeys))).toEqual([403, "forbidden", "sites[0].keys"]);
    const both = await keyWith(["write", "keys"]);
    expect((await both.apply(withKeys)).json).toMatchObject({ changes: [] });
    expect(fault(await both.apply(withKeys + members))).toEqual([403, "forbidden", "members"]);
    const { items } = (await owner.ask("GET /sites")).json;
    const ofOneSite = await keyWith(["read", "write"], items[0].id);
    expect(fault(await ofOneSite.get())).toEqual([403, "forbidden", undefined]);
  });

  test("inbound keys of a file that a program applied are revoked with its API key", async () => {
    const scopes = ["write", "keys"];
    const created = await owner.ask("POST /api-keys", { name: "deploy", site: null, scopes });
    const own = `cc_${"m".repeat(40)}`;
    const applied = await ask(
      relay,
      "POST /configuration/apply",
      { text: withKeys.replace("CRM", "Made"), secrets: { CRM_KEY: own } },
      { Authorization: `Bearer ${created.json.key}` },
    );
    expect(applied.json.changes).toMatchObject([{ what: 'key "Made" of shop.example.com' }]);
    expect((await relay.post(own, freshEvent())).status).toBe(200);
    const revoked = await owner.ask(`DELETE /api-keys/${created.json.id}`);
    expect(revoked.json.inboundKeys).toHaveLength(1);
    expect((await relay.post(own, freshEvent())).status).toBe(401);
    const again = await plan(owner, withKeys.replace("CRM", "Made"), { secrets: { CRM_KEY: own } });
    expect(checkedAnswer("POST /configuration/plan", again)).toEqual({
      changes: [],
      unlisted: [expect.stringContaining('key "CRM"')],
      notes: [expect.stringContaining('The key "Made" of shop.example.com was revoked, and stays so')],
    });
  });

  test("a request has at most 5,000 secrets", async () => {
    const ofCount = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`S${i}`, "x"]));
    expect((await plan(owner, "version: 1\n", { secrets: ofCount(5000) })).status).toBe(200);
    const refused = await plan(owner, "version: 1\n", { secrets: ofCount(5001) });
    expect([refused.status, refused.json.error.message]).toEqual([400, "secrets: must have at most 5000 fields."]);
  });

  test("the host of the dashboard cannot become a site", async () => {
    const headers = { Host: "cc.example.com", "Sec-Fetch-Site": "same-origin" };
    const text = "version: 1\nsites:\n  - hosts: [cc.example.com]\n";
    const refused = await owner.ask("POST /configuration/plan", { text }, headers);
    expect(refused.json.error.faults).toMatchObject([{ line: 3, field: "sites[0].hosts[0]" }]);
  });
});
