// A real Chromium for tests, one per test file; it ends with the file. Where none can be found the browser tests are
// skipped, but never in CI: there a missing browser is a fault.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { describe } from "vitest";
import { afterFile, takeAll } from "../support/afterFile.ts";
import { findChromium, launchChromium, prepare } from "./launch.ts";

const found = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
export const whySkipped = "missing" in found ? found.missing : null;

/** A `describe` that needs the browser. */
export function inChromium(name: string, tests: () => void): void {
  if (whySkipped === null) describe(name, tests);
  else describe.skip(`${name} (skipped: ${whySkipped})`, tests);
}

let launched: Promise<Browser> | undefined;
const extra = new Set<Browser>();

afterFile(async () => {
  const browser = await launched;
  launched = undefined;
  for (const one of [browser, ...takeAll(extra)]) await one?.close();
});

async function launch(more: readonly string[] = []): Promise<Browser> {
  if ("missing" in found) throw new Error(found.missing);
  return launchChromium(found, more);
}

/** Starts a second browser with more switches, which also ends with the test file. */
export async function launchWith(switches: readonly string[]): Promise<Browser> {
  const browser = await launch(switches);
  extra.add(browser);
  return browser;
}

/** Starts a browser without a driver, which opens one address; the page does the rest. Returns a function that ends it. */
export async function connectWithoutDriver(url: string, switches: readonly string[]): Promise<() => Promise<void>> {
  if ("missing" in found) throw new Error(found.missing);
  const { path, args, env } = await prepare(found);
  const profile = mkdtempSync(join(tmpdir(), "cleancast-profile-"));
  const child = spawn(path, [...args, "--headless=new", `--user-data-dir=${profile}`, ...switches, url], {
    env: { ...process.env, ...env },
    stdio: "ignore",
    detached: true,
  });
  const ended = once(child, "exit");
  return async () => {
    // The processes that the browser has started are in the same group.
    if (child.exitCode === null && child.pid) process.kill(-child.pid, "SIGKILL");
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** A new browser profile: a visitor without any history. */
export async function newVisitor(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= launch();
  const browser = await launched;
  // Without a locale, headless Chromium reports "en-US@posix", which Intl refuses.
  return browser.newContext({ locale: "en-US", ...options });
}
