// The documentation in a browser: search, light and dark themes, wide and narrow screens, and copying of code.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { newInstallation } from "../support/relay.ts";
import { inChromium, newVisitor } from "./chromium.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
type Axe = {
  run: (options: unknown) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

inChromium("the documentation", () => {
  let origin: string;
  beforeAll(async () => {
    origin = (await (await newInstallation("sqlite")).start()).url;
  });

  async function open(path: string, width: number, colorScheme: "light" | "dark"): Promise<{ page: Page; wrong: string[] }> {
    const visitor = await newVisitor({ viewport: { width, height: 800 }, colorScheme });
    await visitor.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    const page = await visitor.newPage();
    const wrong: string[] = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(String(error)));
    await page.goto(`${origin}/docs/${path}`);
    return { page, wrong };
  }

  /** Returns the findings of axe, and the width of a page that overflows. */
  async function faultsOf(page: Page, width: number): Promise<string[]> {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    // Injected by the debugger, because the page's policy allows no other script.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      (window as unknown as { axe: Axe }).axe.run({
        runOnly: ["wcag2a", "wcag2aa", "wcag21aa"],
        resultTypes: ["violations"],
        elementRef: false,
      }),
    );
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    return wide > width ? [`${wide} pixels wide`, ...found] : found;
  }

  test("a page on a wide dark screen is accessible, copies whole code blocks and keeps the chosen theme", async () => {
    const { page, wrong } = await open("how-to/receive-conversions", 1280, "dark");
    expect(await faultsOf(page, 1280)).toEqual([]);
    const example = page.locator(".labelled", { hasText: "event-receiver.mjs" }).first();
    await example.hover();
    await example.locator(".copy").click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(readFileSync(new URL("../../docs/examples/event-receiver.mjs", import.meta.url), "utf8").trimEnd());
    await page.click(".theme");
    await page.reload();
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("light");
    expect(wrong).toEqual([]);
  });

  test("a page on a phone is accessible, does not overflow, and its sections open and close", async () => {
    const { page, wrong } = await open("how-to/troubleshooting", 375, "light");
    expect(await faultsOf(page, 375)).toEqual([]);
    expect(await page.isVisible("#sections")).toBe(false);
    await page.click(".menu");
    // A long section is closed at first.
    await page.click("#sections details:has(a[href='/docs/explanation/consent']) summary");
    await page.click("#sections a[href='/docs/explanation/consent']");
    await page.waitForURL("**/docs/explanation/consent");
    expect(await page.isVisible("#sections")).toBe(false);
    expect(wrong).toEqual([]);
  });

  test("the search of the documents works by keyboard alone and leads to the matching section", async () => {
    const { page, wrong } = await open("", 1280, "light");
    await page.keyboard.press("/");
    await page.keyboard.type("value must be a finite");
    await page.waitForSelector("#found .row");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/how-to/troubleshooting#a-field-is-wrong");
    expect(wrong).toEqual([]);
  });
});
