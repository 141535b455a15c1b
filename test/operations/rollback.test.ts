// An upgrade from 0.2.0, which takes the configuration along. A version that runs on a newer schema: it serves, and refuses commands
// that only the newer version may run. A schema that was never released is refused by all.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { latestVersion } from "../../src/store/schema/migrate.ts";
import { change, setUpSite } from "../support/installation.ts";
import { freshFolder } from "../support/databases.ts";
import { root } from "../support/documents/documents.ts";
import { emptyInstallation, engines, newInstallation } from "../support/relay.ts";
import { freshEvent } from "../contract/answers.ts";

const newer = latestVersion + 1;

/** The variables that an exported file names in its second line. */
const variablesOf = (text: string) => (/It needs these variables: (.+)\./.exec(text)?.[1] ?? "").split(", ");

describe.each(engines)("an upgrade from 0.2.0 on %s", (engine) => {
  test("the configuration that 0.2.0 exported is applied whole, and its senders go on with their keys", async () => {
    const file = join(root, "test/fixtures/export-0.2.0.yaml");
    const names = variablesOf(readFileSync(file, "utf8"));
    const secret = `whsec_${Buffer.alloc(32, "upgrade").toString("base64")}`;
    const valueOf = (name: string) =>
      /_URL(?:_\d)?$/.test(name) ? `https://example.com/${name.toLowerCase()}` : /WEBHOOK/.test(name) ? secret : "token";
    expect(names).toHaveLength(7);
    const home = await emptyInstallation(engine, Object.fromEntries(names.map((name) => [name, valueOf(name)])));
    expect(await home.print("apply", file)).toContain("Applied: 15 to add, 0 to change, 0 to remove.");
    expect(await home.print("apply", file)).toContain("Nothing to change.");
    const { items } = await home.run("connection", "list", "shop.example.com");
    expect(items.map(({ platform }: { platform: string }) => platform).toSorted()).toEqual([
      "ga4",
      "google_ads",
      "meta",
      "sandbox",
      "webhook",
    ]);
    for (const { id, platform } of items) if (platform !== "sandbox") await home.run("connection", "pause", id);
    const relay = await home.start();
    const answer = await relay.post(`cc_${"u".repeat(40)}`, freshEvent());
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true, results: { sandbox: { ok: true } } });
  });
});

describe.each(engines)("a rollback on %s", (engine) => {
  test("the previous release works on a newer schema, and refuses commands that must know every table", async () => {
    const home = await newInstallation(engine);
    await setUpSite(home, [["sandbox", {}]]);
    const backup = join(freshFolder(), "before.backup");
    await home.run("backup", backup);
    await change(
      home,
      `INSERT INTO migrations (version, name, applied_at) VALUES (${newer}, 'tomorrow', 0)`,
      `ALTER TABLE sites ADD COLUMN note text`,
    );
    expect(await home.print("migrate")).toBe(
      `Schema ${newer} belongs to a newer version. This version knows schema ${latestVersion}, and is compatible with it.\n`,
    );
    expect((await home.run("site", "list")).items).toHaveLength(1);
    await home.run("site", "add", "other.example.com");

    const mismatch = `has schema ${newer}, this version of Cleancast knows ${latestVersion}`;
    const refusals: [string[], string][] = [
      [["backup", `${backup}.2`], `${mismatch}: take the backup with the newer version.`],
      [["check"], `${mismatch}: check it with the newer one.`],
      [["encryption-key", "rotate", "--alone"], `${mismatch}: change the key with the newer version.`],
      [["encryption-key", "lost", "--yes"], `${mismatch}: change the key with the newer version.`],
      [["restore", backup, "--force"], "belongs to a newer version of Cleancast; restore with that version."],
    ];
    for (const [args, text] of refusals) expect((await home.fails(...args)).error).toContain(text);
    if (engine === "sqlite")
      expect((await home.fails("move", "--to", "postgres://127.0.0.1:9/x")).error).toContain(
        `${mismatch}: move it with the newer one.`,
      );

    await change(home, `UPDATE settings SET value = '${newer}' WHERE name = 'oldest_schema'`);
    expect((await home.fails("site", "list")).error).toContain("needs something that is no longer there");
  });

  test("every command refuses a database of an unreleased version, and names the remedy", async () => {
    const home = await newInstallation(engine);
    await setUpSite(home, [["sandbox", {}]]);
    await change(home, `UPDATE migrations SET version = 12`, `DELETE FROM settings WHERE name = 'schema_generation'`);
    const remedy = engine === "sqlite" ? "a new data folder" : "a new, empty database";
    const text = `made by an unreleased version of Cleancast, and cannot be used or migrated: start with ${remedy}.`;
    const commands = [["migrate"], ["site", "list"], ["backup", join(freshFolder(), "b")], ["check"]];
    if (engine === "sqlite") commands.push(["move", "--to", "postgres://127.0.0.1:9/x"]);
    for (const args of commands) expect((await home.fails(...args)).error).toContain(text);
    expect(await home.print("doctor")).toContain(text);
  });
});
