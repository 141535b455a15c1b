// Each client is a package: what it carries, and its own tests, run by its language's runner against a real relay.

import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { newInstallation } from "../support/relay.ts";
import { findProgram } from "../support/servers/programs.ts";
import { buildNodeClient, root } from "./languages.ts";

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

type Package = {
  /** The folder of clients/. */
  name: string;
  /** The program that runs the tests. */
  program: string;
  commands: string[][];
  /** What the runner prints when all tests ran and none was skipped. */
  passed: RegExp;
  /** The file that makes it a package, and what that file must say. */
  manifest: [file: string, content: RegExp];
};

const packages: readonly Package[] = [
  {
    name: "node",
    program: process.execPath,
    commands: [[process.execPath, "--test"]],
    passed: /^\S+ fail 0\n[^]*^\S+ skipped 0$/m,
    manifest: ["package.json", new RegExp(`"version": "${version}"`)],
  },
  {
    name: "python",
    program: "python3",
    commands: [["python3", "-B", "-m", "unittest"]],
    passed: /\nOK\n$/,
    manifest: ["pyproject.toml", new RegExp(`version = "${version}"[^]*"py\\.typed"`)],
  },
  {
    name: "php",
    program: "php",
    commands: [["php", "tests/run.php"]],
    passed: /^ok - each conversion of a batch is answered\n(?![^]*not ok)[^]*ok - TLS on a plain port\n$/m,
    manifest: ["composer.json", /"autoload": \{\s*"classmap": \[\s*"cleancast\.php"\s*\]/],
  },
  {
    name: "go",
    program: "go",
    commands: [
      ["go", "vet", "./..."],
      ["go", "test", "-count=1", "-v", "./..."],
    ],
    passed: /^(?![^]*--- (?:SKIP|FAIL))[^]*\nok\s/,
    manifest: ["go.mod", /^module \S+\n\ngo 1\.19\n$/],
  },
];

let env: Record<string, string | undefined>;

beforeAll(async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  await home.run("connection", "add", "shop.example.com", "sandbox");
  const relay = await home.start();
  // Go keeps what it has compiled in the home folder.
  env = { ...process.env, HOME: homedir(), CLEANCAST_URL: relay.url, CLEANCAST_KEY: key };
});

describe.each(packages)("the client of clients/$name", ({ name, program, commands, passed, manifest: [file, content] }) => {
  const folder = join(root, "clients", name);

  test("a client's package carries a manifest, a licence and a changelog", () => {
    expect(readFileSync(join(folder, file), "utf8")).toMatch(content);
    expect(readFileSync(join(folder, "LICENSE"), "utf8")).toContain("MIT License");
    expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toMatch(/^# Changelog\n[^]*^## /m);
    if (name === "python") expect(existsSync(join(folder, "cleancast/py.typed"))).toBe(true);
  });

  const isInstalled = program === process.execPath || findProgram(program) !== undefined;
  test.skipIf(!isInstalled)(
    `a client's own tests pass with a real relay${isInstalled ? "" : ` (skipped: ${program} is not installed)`}`,
    async () => {
      const copy = freshFolder();
      cpSync(folder, copy, { recursive: true, filter: (path) => !/node_modules|__pycache__/.test(path) });
      if (name === "node") cpSync(buildNodeClient(), join(copy, "dist"), { recursive: true });
      let printed = "";
      for (const [command = "", ...args] of commands) {
        const { stdout, stderr } = await run(command, args, { cwd: copy, env }).catch(
          (failed: { stdout: string; stderr: string }) =>
            expect.unreachable(`${command} ${args.join(" ")}:\n${failed.stdout}${failed.stderr}`),
        );
        printed = stdout + stderr;
      }
      expect(printed).toMatch(passed);
    },
  );
});
