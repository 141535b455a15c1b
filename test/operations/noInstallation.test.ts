// In a folder without an installation, commands say so and create nothing.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandIn } from "../support/commands.ts";
import { freshDatabase, freshFolder } from "../support/databases.ts";
import { root } from "../support/documents/documents.ts";
import { leafCommands } from "../support/leafCommands.ts";

/** Commands that begin to set up an installation. */
const creating = ["serve", "migrate", "restore", "apply", "site add", "member add", "api-key add", "oauth app set"];
/** Commands that need none. */
const independent = ["platform list", "platform show", "key generate", "config-schema", "completion"];

/** Every other command, with a value for each of its arguments. */
const all = (await leafCommands())
  .filter(({ words }) => ![...creating, ...independent].includes(words.join(" ")))
  .map(({ words, command }) => [
    ...words,
    ...command.registeredArguments.map((one) => (one.name() === "name=value" ? "a=b" : (one.argChoices?.[0] ?? "x"))),
    ...command.options.flatMap(({ mandatory, long }) => (mandatory && long ? [long, "7"] : [])),
  ]);

describe("in a folder without an installation", () => {
  const folder = join(freshFolder(), "missing");
  const env = { PATH: process.env.PATH ?? "", CLEANCAST_DATA: folder };

  test("there are commands to test", () => expect(all.length).toBeGreaterThan(50));

  test.each(all.map((args) => [args.join(" "), args] as const))("%s creates nothing", async (_name, args) => {
    const { out, err, code } = await commandIn({ args, env });
    expect(existsSync(folder)).toBe(false);
    if (args[0] === "doctor") return;
    expect([out, code], err).toEqual(["", 3]);
    if (args[0] !== "move")
      expect(err).toBe(`There is no installation in ${folder} (CLEANCAST_DATA). 'cleancast serve' creates one.\n`);
  });

  test.each(["missing", "empty"])("the doctor names a %s folder in one line, and reports nothing else", async (kind) => {
    const place = kind === "missing" ? folder : freshFolder();
    const args = ["doctor", "--offline"];
    const { out, code } = await commandIn({ args, env: { ...env, CLEANCAST_DATA: place } });
    const lines = out.split("\n").filter((line) => !line.startsWith("ok"));
    expect(lines).toEqual([
      `FAIL  There is no installation in ${place} (CLEANCAST_DATA). 'cleancast serve' creates one.`,
      "",
      "1 error, 0 warnings, 0 notes.",
      "",
    ]);
    expect(code).toBe(1);
    expect(kind === "missing" ? existsSync(place) : readdirSync(place).length > 0).toBe(false);
  });

  test("apply creates an installation for a good file only, and never in a dry run", async () => {
    const place = join(freshFolder(), "new");
    const files = freshFolder();
    writeFileSync(join(files, "good.json"), `{ "version": 1, "sites": [{ "hosts": ["shop.example.com"] }] }`);
    writeFileSync(join(files, "bad.json"), `{ "version": 1, "sites": [{ "hosts": [] }] }`);
    const apply = (name: string, ...more: string[]) =>
      commandIn({
        args: ["apply", join(files, name), ...more],
        env: { ...env, CLEANCAST_DATA: place },
      });
    expect((await apply("none.json")).code).toBe(2);
    expect((await apply("bad.json")).code).toBe(2);
    const dry = await apply("good.json", "--dry-run");
    expect(dry).toEqual({
      out: "+ site shop.example.com\n\n1 to add, 0 to change, 0 to remove.\n",
      err: `There is no installation in ${place} yet; apply creates it.\n`,
      code: 0,
    });
    expect(JSON.parse((await apply("good.json", "--dry-run", "--json")).out)).toMatchObject({
      changes: [{ kind: "add", what: "site shop.example.com" }],
    });
    // The schema takes these; only the comparison with an installation finds the fault.
    const twice = `{ "version": 1, "sites": [{ "hosts": ["a.example.com"] }, { "hosts": ["a.example.com"] }] }`;
    writeFileSync(join(files, "twice.json"), twice);
    for (const options of [[], ["--dry-run"]]) {
      const { err, code } = await apply("twice.json", ...options);
      expect([code, err]).toEqual([
        2,
        `${join(files, "twice.json")}:1:71: sites[1].hosts[0]: a.example.com is in the file twice.\nNothing was changed.\n`,
      ]);
    }
    expect(existsSync(place)).toBe(false);
    const { err, code } = await apply("good.json");
    expect([err.split("\n")[0], code]).toEqual([`Creating a new installation in ${place}.`, 0]);
    expect(existsSync(join(place, "cleancast.db"))).toBe(true);
  });

  test("a restore without its key creates nothing", async () => {
    const { err, code } = await commandIn({ args: ["restore", "cleancast.backup"], env });
    expect([err, code]).toEqual([expect.stringContaining("There is no encryption key"), 4]);
    expect(existsSync(folder)).toBe(false);
  });

  test.each([
    ["migrate"],
    ["site", "add", "shop.example.com"],
    ["member", "add", "ada@example.com", "--role", "owner"],
    ["api-key", "add", "terraform"],
    ["oauth", "app", "set", "meta", "client_id=1", "client_secret=2"],
  ])("%s %s creates an installation, and says so", async (...args) => {
    const place = join(freshFolder(), "new");
    const { err, code } = await commandIn({ args, env: { ...env, CLEANCAST_DATA: place } });
    expect([err, code]).toEqual([`Creating a new installation in ${place}.\n`, 0]);
    expect(existsSync(join(place, "cleancast.db"))).toBe(true);
  });
});

test("every command that creates an installation is documented, with what asks before it deletes", async () => {
  const page = readFileSync(join(root, "docs/reference/cli.md"), "utf8").replaceAll(/\s+/g, " ");
  const [, named = ""] = /Only (.*?) create an installation/.exec(page) ?? [];
  expect([...named.matchAll(/`([^`]+)`/g)].map(([, name]) => name).toSorted()).toEqual(creating.toSorted());
  const [, deleting = ""] = /## Commands that ask (.*?) ## Exit codes/.exec(page) ?? [];
  const asking = (await leafCommands())
    .filter(({ command }) => command.options.some(({ long }) => long === "--yes"))
    .map(({ words }) => words.join(" "));
  expect(asking.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  for (const name of ["site remove", "connection remove", "webhook remove", "person erase", "site set", "apply"])
    expect(deleting).toContain(`\`${name}`);
});

test("in an empty PostgreSQL database, commands say so and create nothing", async () => {
  const url = await freshDatabase();
  const folder = join(freshFolder(), "data");
  const env = { PATH: process.env.PATH ?? "", CLEANCAST_DATA: folder, DATABASE_URL: url };
  const { host, pathname } = new URL(url);
  const sentence = `There is no installation in the database ${pathname.slice(1)} at ${host} (DATABASE_URL). 'cleancast serve' creates one.`;
  expect(await commandIn({ args: ["site", "list"], env })).toEqual({
    out: "",
    err: `${sentence}\n`,
    code: 3,
  });
  const doctor = await commandIn({ args: ["doctor", "--offline"], env });
  expect(doctor.out.split("\n").filter((line) => line.startsWith("FAIL"))).toEqual([`FAIL  ${sentence}`]);
  expect(existsSync(folder)).toBe(false);
});
