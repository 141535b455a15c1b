// Launches Chromium: the one in CLEANCAST_TEST_CHROMIUM, the system's, or the one that the browser tests have unpacked.

import { existsSync, globSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser } from "playwright-core";

const cache = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));

function findChromium(): string | undefined {
  const named = process.env.CLEANCAST_TEST_CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const system = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  const unpacked = globSync(join(cache, "chromium-*", "chromium"));
  return [...(named ? [named] : []), ...system, ...unpacked].find((path) => existsSync(path));
}

/** Returns null when no Chromium is found. */
export async function launch(): Promise<Browser | null> {
  const executablePath = findChromium();
  if (!executablePath) return null;
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
    // The libraries of the browser that the tests unpack.
    env: { ...process.env, LD_LIBRARY_PATH: join(dirname(executablePath), "al2023", "lib") },
  });
}
