// The launchers of the browser tests.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { inChromium, newVisitor, whySkipped } from "./chromium.ts";
import { findFirefox, whyNoFirefox } from "./drivers/firefox.ts";
import { findWebKit, whyNoWebKit } from "./drivers/webkit.ts";
import { findChromium } from "./launch.ts";

function folderWith(name: string, mode = 0o755): string {
  const folder = freshFolder();
  writeFileSync(join(folder, name), "#!/bin/sh\n");
  chmodSync(join(folder, name), mode);
  return folder;
}

test("a browser named in the environment is used before all others", () => {
  const env = { CLEANCAST_TEST_CHROMIUM: "/opt/chrome", PATH: folderWith("chromium") };
  expect(findChromium({ env, platform: "linux", arch: "x64" })).toEqual({
    from: "environment",
    path: "/opt/chrome",
  });
});

test("on linux x64 the dev dependency's browser comes before the system's; elsewhere there is only the system's", () => {
  const PATH = `${folderWith("other")}:${folderWith("chromium", 0o644)}:${folderWith("chromium-browser")}`;
  expect(findChromium({ env: { PATH }, platform: "linux", arch: "x64" })).toEqual({ from: "package" });
  expect(findChromium({ env: { PATH }, platform: "linux", arch: "arm64" })).toEqual({
    from: "system",
    path: join(PATH.split(":")[2] as string, "chromium-browser"),
  });
});

test("without any browser the tests are skipped with a reason, and in CI they fail with the remedy", () => {
  const machine = { platform: "linux", arch: "arm64" };
  const PATH = folderWith("other");
  expect(findChromium({ ...machine, env: { PATH } })).toEqual({
    missing: expect.stringContaining("install Debian's"),
  });
  expect(() => findChromium({ ...machine, env: { PATH, CI: "true" } })).toThrow(/cannot run, no Chromium .+ install Debian's/);
});

test("Firefox is the one named in the environment, else the system's; without one its tests are skipped with a reason", () => {
  const PATH = folderWith("firefox-esr");
  expect(findFirefox({ CLEANCAST_TEST_FIREFOX: "/opt/firefox", PATH })).toEqual({ path: "/opt/firefox" });
  expect(findFirefox({ PATH })).toEqual({ path: join(PATH, "firefox-esr") });
  expect(findFirefox({ PATH: folderWith("other"), CI: "true" })).toEqual({
    missing: expect.stringContaining("install Debian's firefox-esr"),
  });
});

test("WebKit needs its driver, its browser and a display; without one its tests are skipped with a reason", () => {
  const driver = folderWith("WebKitWebDriver");
  const display = folderWith("Xvfb");
  const browser = join(folderWith("MiniBrowser"), "MiniBrowser");
  expect(findWebKit({ PATH: `${driver}:${display}` }, browser)).toEqual({
    driver: join(driver, "WebKitWebDriver"),
    display: join(display, "Xvfb"),
    browser,
  });
  expect(findWebKit({ PATH: driver }, "/no/such/browser")).toEqual({
    missing: expect.stringMatching(/^Xvfb, MiniBrowser not found: install Debian's webkit2gtk-driver and xvfb/),
  });
});

// A run without a browser prints this line.
for (const reason of [whySkipped, whyNoFirefox, whyNoWebKit])
  if (reason !== null) process.stderr.write(`Browser tests are skipped: ${reason}.\n`);

inChromium("the browser", () => {
  test("the test browser has the locale en-US, and resolves only the names of test sites", async () => {
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    expect(await page.evaluate(() => [navigator.language, Intl.NumberFormat().resolvedOptions().locale])).toEqual([
      "en-US",
      "en-US",
    ]);
    await expect(page.goto("https://www.example.com/")).rejects.toThrow("ERR_NAME_NOT_RESOLVED");
    await visitor.close();
  });

  test("the test browser has a font, wherever it was unpacked", async () => {
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    await page.setContent("<h1>Overview</h1>");
    expect((await page.locator("h1").boundingBox())?.height).toBeGreaterThan(20);
    await visitor.close();
  });
});
