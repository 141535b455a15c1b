// Access for everyone: axe finds violations on pages and in what lies over them, and the focus goes back to what opened it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { settled } from "./pages.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Axe = { run: (context: unknown, options: unknown) => Promise<{ violations: Violation[] }> };
type Violation = { id: string; impact: string; nodes: { html: string; failureSummary?: string }[] };

// Best practices that are no success criterion of WCAG are not checked.
const everyRule = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
};
export const coloursOnly = { runOnly: { type: "rule", values: ["color-contrast"] } };

/** Finds serious accessibility violations. */
export async function findViolations(page: Page, rules: object = everyRule, within = "html"): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(
    ([where, options]) => (window as unknown as { axe: Axe }).axe.run({ include: [[where]] }, options),
    // No rule that is run reads the sources of style sheets.
    [within, { ...rules, resultTypes: ["violations"], elementRef: false, preload: false }] as const,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((one) => `${id}: ${one.html.slice(0, 160)} ${one.failureSummary?.replaceAll("\n", " ").slice(0, 300) ?? ""}`),
    );
}

/** What lies over a page: dialogs, drawers, menus, lists of choices and tooltips. */
const layer = "[role=dialog], [role=menu], [role=listbox], [role=tooltip]";
export const layersOf = (page: Page): Locator => page.locator(layer).filter({ visible: true });

/**
 * Checks the layer that is open, in both themes. `source` is the file in dashboard/ that opens it: layers.test.ts fails for one
 * that no test names.
 */
export async function checkLayer(page: Page, source: string): Promise<void> {
  await layersOf(page).first().waitFor();
  await settled(page);
  // Only the colours differ between the themes. The attribute alone changes them, without a reload.
  const switchTheme = () =>
    page.evaluate(() => {
      const { dataset } = document.documentElement;
      const theme = dataset["mantineColorScheme"] === "dark" ? "light" : "dark";
      dataset["mantineColorScheme"] = theme;
      return theme;
    });
  const faults = await findViolations(page, everyRule, layer);
  const other = await switchTheme();
  for (const fault of await findViolations(page, coloursOnly, layer)) faults.push(`${other}: ${fault}`);
  await switchTheme();
  expect(faults, source).toEqual([]);
}

/** Waits until this element has the focus. */
export const hasFocus = (element: Locator): Promise<void> =>
  expect
    .poll(() => element.evaluateAll((all) => all.some((one) => one === document.activeElement)), {
      message: `the focus is on ${String(element)}`,
    })
    .toBe(true);
