// A real Chromium for tests, one per test file; it ends with the file. Where none can be found the browser tests are
// skipped, but never in CI: there a missing browser is a fault.

import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";
import { afterAll, describe } from "vitest";
import { certificate } from "./certificate.ts";

type Machine = { env: Record<string, string | undefined>; platform: string; arch: string };
export type Source = { from: "environment" | "system"; path: string } | { from: "package" };

const systemNames = ["chromium", "chromium-browser", "google-chrome"];
const remedy = "install Debian's chromium (apt-get install chromium), or name one in CLEANCAST_TEST_CHROMIUM";

/** Which browser to use: the one that somebody named, the one that comes with `npm ci`, or the system's. */
export function findChromium({ env, platform, arch }: Machine): Source | { missing: string } {
  const named = env["CLEANCAST_TEST_CHROMIUM"];
  if (named) return { from: "environment", path: named };
  if (platform === "linux" && arch === "x64") return { from: "package" };
  for (const name of systemNames) {
    for (const folder of (env["PATH"] ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (folder && isExecutable(path)) return { from: "system", path };
    }
  }
  const missing = `no Chromium for ${platform} ${arch} was found: ${remedy}`;
  if (env["CI"] === "true") throw new Error(`The browser tests cannot run, ${missing}.`);
  return { missing };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const found = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
export const whySkipped = "missing" in found ? found.missing : null;

/** A `describe` that needs the browser. */
export function inChromium(name: string, tests: () => void): void {
  if (whySkipped === null) describe(name, tests);
  else describe.skip(`${name} (skipped: ${whySkipped})`, tests);
}

/** Every name of the test sites leads to this machine, and no other name leads anywhere. */
const resolverRules = "MAP *.test 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";

function argumentsOf(source: Source): string[] {
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: "spki", format: "der" });
  return [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // What the package's browser needs doubles the time of any other, where software drawing is enough.
    ...(source.from === "package"
      ? ["--no-zygote", "--use-gl=angle", "--use-angle=swiftshader"]
      : ["--disable-gpu"]),
    `--host-resolver-rules=${resolverRules}`,
    // This one certificate is trusted, for any name; every other fault of TLS stays a fault.
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
  ];
}

let launched: Promise<Browser> | undefined;
const extra = new Set<Browser>();

afterAll(async () => {
  const browser = await launched;
  launched = undefined;
  for (const one of [browser, ...extra]) await one?.close();
});

async function launch(more: readonly string[] = []): Promise<Browser> {
  if ("missing" in found) throw new Error(found.missing);
  const { path, env } = found.from === "package" ? await unpack() : { path: found.path, env: {} };
  return chromium.launch({
    executablePath: path,
    args: [...argumentsOf(found), ...more],
    env: { ...process.env, ...env },
  });
}

/** Another browser of its own, with more switches; it ends with the file too. */
export async function launchWith(switches: readonly string[]): Promise<Browser> {
  const browser = await launch(switches);
  extra.add(browser);
  return browser;
}

/** A browser that nobody drives: it opens one address, and the page does the rest. Returns how to end it. */
export async function openAlone(url: string, switches: readonly string[]): Promise<() => Promise<void>> {
  if ("missing" in found) throw new Error(found.missing);
  const { path, env } = found.from === "package" ? await unpack() : { path: found.path, env: {} };
  const profile = mkdtempSync(join(tmpdir(), "cleancast-profile-"));
  const child = spawn(
    path,
    [...argumentsOf(found), "--headless=new", `--user-data-dir=${profile}`, ...switches, url],
    { env: { ...process.env, ...env }, stdio: "ignore", detached: true },
  );
  const ended = once(child, "exit");
  return async () => {
    // Its helpers are processes of the same group.
    if (child.exitCode === null && child.pid) process.kill(-child.pid, "SIGKILL");
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** A new browser profile: somebody who was never here before. */
export async function newVisitor(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= launch();
  const browser = await launched;
  // Without a locale, headless says "en-US@posix", which Intl refuses.
  return browser.newContext({ locale: "en-US", ...options });
}

/**
 * The dev dependency brings its browser compressed, for x64. Its own unpacking takes whatever it finds in the temporary
 * folder for itself, so it is given an empty one, which gets its final name only when everything is in it.
 */
async function unpack(): Promise<{ path: string; env: Record<string, string> }> {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const home = join(dirname(entry), "..");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const cache = join(home, "..", "..", ".cache");
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const fresh = mkdtempSync(join(cache, `chromium-${version}-unpacking-`));
    await inflateInto(fresh, join(home, "bin"));
    // Of two test files that unpack at once, the second finds the first one's folder.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return {
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "al2023", "lib"), FONTCONFIG_PATH: join(folder, "fonts") },
  };
}

export async function inflateInto(folder: string, packed: string): Promise<void> {
  const { inflate } = await import("@sparticuz/chromium");
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  const files = ["chromium.br", "fonts.tar.br", "swiftshader.tar.br", "al2023.tar.br"];
  // Where each goes is decided in the call itself, so the variable can go back at once.
  const inflating = files.map((file) => inflate(join(packed, file)));
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  await Promise.all(inflating);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "chromium"), 0o755);
}
