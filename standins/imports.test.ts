// Checks of the folder as a whole, and of `npm run standins`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { standins } from "./index.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

const staysInside = (name: string, target: string) =>
  target.startsWith(".") && files.some((file) => file.name === join(dirname(name), target));

describe("the stand-ins", () => {
  test("stand-ins import only Node and each other: a double that shares code with the original proves nothing", () => {
    const foreign = files.flatMap(({ name, text }) =>
      [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)]
        .map(([, target]) => target as string)
        .filter((target) => !/^node:[\w/]+$/.test(target) && !staysInside(name, target))
        .filter((target) => !(/\.test\.ts$|testCalls\.ts$/.test(name) && target === "vitest"))
        // The program prints the settings of connections; no double uses them.
        .filter((target) => !(name === "main.ts" && target === "../scripts/standinConnections.ts"))
        .map((target) => `${name} imports ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  test("every stand-in has a folder with its id, and a test in it", () => {
    for (const { id } of standins) {
      expect(existsSync(join(folder, `${id}/index.ts`)), id).toBe(true);
      expect(existsSync(join(folder, `${id}/${id}.test.ts`)), id).toBe(true);
    }
  });

  test("no stand-in file is longer than 400 lines", () => {
    const long = files.filter(({ name, text }) => !name.endsWith(".test.ts") && text.split("\n").length > 401);
    expect(long.map(({ name }) => name)).toEqual([]);
  });
});

describe("npm run standins", () => {
  const start = (...options: string[]) =>
    spawn(process.execPath, [join(folder, "main.ts"), ...options], { stdio: ["ignore", "pipe", "pipe"] });

  test("npm run standins prints each origin and the relay's setting, serves, and stops on SIGTERM", async () => {
    const running = start("--port", "0");
    let printed = "";
    running.stdout.setEncoding("utf8").on("data", (part: string) => (printed += part));
    try {
      await expect.poll(() => printed).toMatch(/CLEANCAST_PLATFORM_ORIGINS='.*'\n/);
      const origins = JSON.parse(/ORIGINS='(.*)'/.exec(printed)?.[1] ?? "{}") as Record<string, string>;
      expect(Object.keys(origins)).toEqual(standins.map(({ id }) => id));
      for (const [id, origin] of Object.entries(origins)) {
        expect(printed).toContain(`${id.padEnd(16)}${origin}`);
        expect((await fetch(`${origin}/__standin/log`)).status).toBe(200);
      }
    } finally {
      running.kill("SIGTERM");
    }
    expect((await once(running, "exit"))[0]).toBe(0);
  });

  test.each([
    ["an unknown stand-in", ["--only", "unknown"], 'There is no stand-in "unknown".'],
    ["an invalid port", ["--port", "many"], "--port must be a port number."],
  ])("%s ends with a message", async (_, options, sentence) => {
    const running = start(...options);
    let printed = "";
    running.stderr.setEncoding("utf8").on("data", (part: string) => (printed += part));
    expect((await once(running, "close"))[0]).toBe(1);
    expect(printed).toContain(sentence);
  });
});
