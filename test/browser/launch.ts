// Finds and starts Chromium for the browser tests and the screenshots.

import { createHash, X509Certificate } from "node:crypto";
import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { certificate } from "./certificate.ts";

export type Machine = { env: Record<string, string | undefined>; platform: string; arch: string };
type Source = { from: "environment" | "system"; path: string } | { from: "package" };

// The headless shell needs half as much CPU as a browser that can also show windows.
const systemNames = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const remedy = "install Debian's (apt-get install chromium-headless-shell), or name one in CLEANCAST_TEST_CHROMIUM";

/** Finds the browser named in the environment, else the one that `npm ci` installs, else the system's. */
export function findChromium({ env, platform, arch }: Machine): Source | { missing: string } {
  const named = env["CLEANCAST_TEST_CHROMIUM"];
  if (named) return { from: "environment", path: named };
  if (platform === "linux" && arch === "x64") return { from: "package" };
  const path = findOnPath(systemNames, env);
  if (path) return { from: "system", path };
  const missing = `no Chromium for ${platform} ${arch} was found: ${remedy}`;
  if (env["CI"] === "true") throw new Error(`The browser tests cannot run, ${missing}.`);
  return { missing };
}

/** Finds the first of these programs on the PATH. */
export function findOnPath(names: readonly string[], env: Machine["env"]): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A browser that can be started, with its arguments and environment. */
type Found = { path: string; args: string[]; env: Record<string, string> };

export async function prepare(source: Source): Promise<Found> {
  const { path, env } = source.from === "package" ? await unpack() : { path: source.path, env: {} };
  return { path, args: argumentsOf(), env };
}

export async function launchChromium(source: Source, more: readonly string[] = []): Promise<Browser> {
  const { path, args, env } = await prepare(source);
  return chromium.launch({
    executablePath: path,
    args: [...args, ...more],
    env: { ...process.env, ...env },
  });
}

/** All *.test names resolve to this machine, and no other name resolves. */
const resolverRules = "MAP *.test 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";

function argumentsOf(): string[] {
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
    // Pages are drawn by Skia. The alternative in software is a whole graphics card, and takes a third of the time of a test.
    "--disable-gpu",
    `--host-resolver-rules=${resolverRules}`,
    // This one certificate is trusted, for any name; every other TLS error is still an error.
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
  ];
}

/**
 * Unpacks the browser of the dev dependency, which is compressed and for x64. The package's own function trusts any file that
 * it finds in the temporary folder, so it gets an empty folder, which is renamed when it is complete.
 */
async function unpack(): Promise<{ path: string; env: Record<string, string> }> {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const home = join(dirname(entry), "..");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const cache = join(home, "..", "..", ".cache");
  const folder = join(cache, `chromium-${version}-with-fonts`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const fresh = mkdtempSync(join(cache, `chromium-${version}-unpacking-`));
    await inflateInto(fresh, join(home, "bin"));
    writeFileSync(join(fresh, "fonts", "fonts.conf"), ownFonts);
    // Of two test files that unpack at the same time, the second finds the first one's folder.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return {
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "al2023", "lib"), FONTCONFIG_PATH: join(folder, "fonts") },
  };
}

/** The package's own file names fixed folders, such as /tmp/fonts. Without any font, text has no height and counts as hidden. */
const ownFonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">.</dir></fontconfig>
`;

async function inflateInto(folder: string, packed: string): Promise<void> {
  const { inflate } = await import("@sparticuz/chromium");
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  const files = ["chromium.br", "fonts.tar.br", "swiftshader.tar.br", "al2023.tar.br"];
  // inflate() reads the variable before it returns its promise, so the variable can be restored here.
  const inflating = files.map((file) => inflate(join(packed, file)));
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  await Promise.all(inflating);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "chromium"), 0o755);
}
