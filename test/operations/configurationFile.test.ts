// A configuration file on the command line and at the start of a relay, with real processes.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/kernel/time.ts";
import { password, signIn } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { root } from "../support/documents/documents.ts";
import { newEvent } from "../support/events.ts";
import { withStore } from "../support/installation.ts";
import { command, emptyInstallation, engines, type Installation } from "../support/relay.ts";
import { accepted, freshEvent, summarize } from "../contract/answers.ts";

const key = `cc_${"k".repeat(40)}`;
const file = (keepEvents = "60d", more = "") => `version: 1
sites:
  - hosts: [shop.example.com]
    settings:
      keep_events: ${keepEvents}
    keys:
      - name: CRM
        key: \${CRM_KEY}
    connections:
      - platform: sandbox
${more}members:
  - email: ada@example.com
    role: owner
    password: "@owner.txt"
`;

const hasTerminal = (() => {
  try {
    execFileSync("script", ["--version"]);
    return true;
  } catch {
    return false;
  }
})();

describe.each(engines)("a configuration file on %s", (engine) => {
  let home: Installation;
  const folder = freshFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const path = write("cleancast.yaml", file());
  const shorter = write("shorter.yaml", file("10d"));
  const bad = write("bad.yaml", file("soon", "    conections: []\n"));
  const twice = write("twice.yaml", file("60d", "  - hosts: [shop.example.com]\n"));
  write("owner.txt", `${password}\n`);

  beforeAll(async () => {
    home = await emptyInstallation(engine, { CRM_KEY: key });
  });

  const keepEvents = async (): Promise<string> => {
    const { settings } = await home.run("site", "show", "shop.example.com");
    return settings.items.find((one: { name: string }) => one.name === "keep_events").value;
  };
  const serve = async (config: string) => {
    const { ended, printed } = home.launch("serve", "--config", config);
    return { code: await ended, ...printed };
  };

  test.runIf(engine === "sqlite")(
    "a start with a bad file ends with exit code 2, names each line and field, and creates nothing",
    async () => {
      expect(await serve(bad)).toEqual({
        code: 2,
        out: "",
        err:
          `${bad}:5:7: sites[0].settings.keep_events: must be from 1 to 400 days, written like 90d.\n` +
          `${bad}:11:5: sites[0].conections: is not a known field.\nNothing was changed.\n`,
      });
      expect(await serve(twice)).toEqual({
        code: 2,
        out: "",
        err: `${twice}:11:13: sites[1].hosts[0]: shop.example.com is in the file twice.\nNothing was changed.\n`,
      });
      expect(await home.exitCode("site", "list")).toBe(3);
    },
  );

  test("nodes that start with one file and no clicks accept conversions, and the owner can sign in", async () => {
    const nodes = engine === "postgres" ? [1, 2] : [1];
    const relays = await Promise.all(nodes.map(() => home.start({}, command, ["--config", path])));
    const summaries = relays.map((relay) => /^Configuration: \S+, (.*)$/m.exec(relay.output())?.[1]);
    expect(summaries.toSorted()).toEqual(["5 to add, 0 to change, 0 to remove.", "no differences."].slice(0, nodes.length));
    for (const relay of relays) {
      expect(relay.output()).not.toMatch(/First start|create the owner|k{40}/);
      const answer = await relay.post(key, freshEvent());
      expect(summarize(answer)).toEqual(accepted("purchase", { sandbox: { ok: true } }));
      const owner = await signIn(relay, "ada@example.com");
      expect((await owner.ask("GET /session")).json.session.grants).toEqual([{ site: null, role: "owner" }]);
    }
    await Promise.all(relays.map((relay) => relay.stop()));
    const { items: sites } = await home.run("site", "list");
    expect(sites.map(({ hosts }: { hosts: unknown }) => JSON.stringify(hosts))).toHaveLength(1);
  });

  test("a start does not fail because a key of the file was rotated or revoked, and says so", async () => {
    const { items: keys } = await home.run("key", "list");
    const { id } = keys.find((one: { name: string }) => one.name === "CRM");
    const rotated = await home.run("key", "rotate", id);
    const notes: string[] = [];
    for (const what of ["rotate", "revoke"]) {
      if (what === "revoke") for (const one of [id, rotated.id]) await home.run("key", "remove", one);
      const relay = await home.start({}, command, ["--config", path]);
      notes.push(relay.output());
      await relay.stop();
    }
    expect(notes).toEqual([
      expect.stringContaining('The key "CRM" of shop.example.com expires at '),
      expect.stringContaining('The key "CRM" of shop.example.com was revoked, and stays so'),
    ]);
  });

  test("apply shows the difference and asks before data is deleted; a start refuses to delete", async () => {
    await withStore(home, async (store, directory) => {
      const siteId = directory.host("shop.example.com")?.siteId ?? "";
      const old = newEvent(siteId, { receivedAt: Date.now() - 50 * dayMs }, { deliveries: [] });
      await store.events.accept(old);
    });
    const started = await serve(shorter);
    expect([started.code, started.out]).toEqual([4, ""]);
    expect(started.err).toContain("keep_events deletes 1 event");
    expect(started.err).toContain("A start deletes nothing");
    const refused = await home.fails("apply", shorter);
    expect(refused).toMatchObject({ field: "yes", error: expect.stringContaining("Add --yes to do it.") });
    expect(await home.exitCode("apply", shorter)).toBe(4);
    expect(await home.run("apply", shorter, "--dry-run")).toMatchObject({
      changes: [{ kind: "change", what: "settings of shop.example.com", loss: expect.any(String) }],
    });
    expect(await keepEvents()).toBe("60d");
    expect(await home.run("apply", shorter, "--yes")).toMatchObject({ changes: [{ kind: "change" }] });
    expect(await keepEvents()).toBe("10d");
    await home.run("apply", path);
  });

  test.runIf(hasTerminal && engine === "sqlite")(
    "on a terminal, apply shows the difference and waits for the answer",
    async () => {
      const answer = async (text: string) => {
        const line = `'${process.execPath}' '${command}' apply '${shorter}'`;
        const child = spawn("script", ["-qec", line, "/dev/null"], { env: home.env });
        let shown = "";
        child.stdout.on("data", (part: Buffer) => {
          shown += String(part);
          if (shown.includes("Type yes to do it: ") && child.stdin.writable) child.stdin.end(`${text}\n`);
        });
        await once(child, "close");
        expect(shown).toContain("~ keep_events  60d → 10d");
        return child.exitCode;
      };
      expect(await answer("no")).toBe(4);
      expect(await keepEvents()).toBe("60d");
      expect(await answer("yes")).toBe(0);
      expect(await keepEvents()).toBe("10d");
      await home.run("apply", path);
    },
  );

  test("apply exits with 2 for a bad file and lists its faults; what is not in the file goes with --prune only", async () => {
    expect(await home.exitCode("apply", bad)).toBe(2);
    expect(await home.fails("apply", bad)).toMatchObject({
      faults: [
        { line: 5, column: 7, field: "sites[0].settings.keep_events", message: "must be from 1 to 400 days, written like 90d." },
        { line: 11, column: 5, field: "sites[0].conections", message: "is not a known field." },
      ],
    });
    expect(await home.fails("apply", join(folder, "none.yaml"))).toMatchObject({ field: "file" });
    await home.run("site", "add", "old.example.com");
    expect(await home.print("apply", path)).toMatch(/^Nothing to change\.\nThe key "CRM" .* was revoked/);
    expect(await home.run("apply", path, "--dry-run")).toMatchObject({ unlisted: ["site old.example.com"] });
    expect(await home.fails("apply", path, "--prune")).toMatchObject({
      field: "yes",
      error: expect.stringContaining("Deletes site old.example.com with 0 events"),
    });
    await home.run("apply", path, "--prune", "--yes");
    expect(await home.exitCode("site", "show", "old.example.com")).toBe(3);
  });

  test("export writes a file that apply finds no difference to", async () => {
    const exported = write("export.yaml", await home.print("export"));
    expect(readFileSync(exported, "utf8")).not.toContain(password);
    expect(await home.run("apply", exported, "--prune")).toMatchObject({ changes: [] });
  });
});

test("config-schema prints the published schema", async () => {
  const home = await emptyInstallation("sqlite");
  const published = readFileSync(join(root, "docs/reference/cleancast.schema.json"), "utf8");
  expect(await home.print("config-schema")).toBe(published);
});
