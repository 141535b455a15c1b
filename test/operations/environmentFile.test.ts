// The file .env, which the program reads before everything else: each test is a process of its own.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { command } from "../support/relay.ts";

/** Runs `serve` in a folder with a setting in the environment that stops a start which gets so far. */
function start(folder: string, as?: number) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, "serve"], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", CLEANCAST_DATA: join(folder, "data"), LOG_LEVEL: "none" },
    encoding: "utf8",
    ...(as === undefined ? {} : { uid: as, gid: as }),
  });
  return { status, stdout, stderr };
}

const refusal = (folder: string, code: string) => ({
  status: 1,
  stdout: "",
  stderr: `Cleancast cannot start:\n  - .env in ${folder} exists and cannot be read (${code}); let this user read it, or remove it.\n`,
});

describe("a file .env that exists and cannot be read stops the start", () => {
  test("where it is a folder", () => {
    const folder = freshFolder();
    mkdirSync(join(folder, ".env"));
    expect(start(folder)).toEqual(refusal(folder, "EISDIR"));
  });

  test("where it is a link to itself", () => {
    const folder = freshFolder();
    symlinkSync(".env", join(folder, ".env"));
    expect(start(folder)).toEqual(refusal(folder, "ELOOP"));
  });

  // Another user than root cannot start a process as a third one, and reads its own files whatever their mode but 000.
  const asRoot = process.getuid?.() === 0;
  test("where it belongs to another user", () => {
    const folder = freshFolder();
    writeFileSync(join(folder, ".env"), "HOST=127.0.0.1\n");
    chmodSync(folder, 0o755);
    chmodSync(join(folder, ".env"), asRoot ? 0o600 : 0o000);
    expect(start(folder, asRoot ? 65_534 : undefined)).toEqual(refusal(folder, "EACCES"));
  });
});

test("settings of .env are read, also after a byte order mark, and the environment takes precedence", () => {
  const folder = freshFolder();
  writeFileSync(join(folder, ".env"), "\uFEFFPORT=eighty\nexport HOST=localhost\nLOG_LEVEL=info\n");
  expect(start(folder).stderr).toBe(
    "Cleancast cannot start:\n" +
      '  - PORT is "eighty"; set it to a number from 0 to 65535.\n' +
      '  - LOG_LEVEL is "none"; set it to one of trace, debug, info, warn, error, silent.\n',
  );
});

test("a folder without .env is fine", () => {
  expect(start(freshFolder()).stderr).toBe(
    'Cleancast cannot start:\n  - LOG_LEVEL is "none"; set it to one of trace, debug, info, warn, error, silent.\n',
  );
});
