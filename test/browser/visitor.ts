// Actions of visitors on the test site.

import type { Cookie, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../support/relay.ts";
import { newVisitor } from "./chromium.ts";
import type { Conversion, Stage } from "./stage.ts";

/** A page of a new visitor. A profile that is used again may still get cookies, in the answer to the last report of its last page. */
export async function newPage(): Promise<Page> {
  const visitor = await newVisitor();
  onTestFinished(() => visitor.close());
  return visitor.newPage();
}

/** Opens a page of the site, and waits for the tag. */
export async function land({ site }: Stage, page: Page, path: string, query: string): Promise<void> {
  site.clearRecorded();
  await page.goto(`${site.origin}${path}${query}`);
  await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
}

/** Submits the form, which leaves the page, and waits for the report to the relay. */
export async function submit({ site }: Stage, page: Page, email: string): Promise<void> {
  await page.fill("[name=email]", email);
  await page.click("#send");
  await page.waitForURL("**/thanks");
  await site.waitForReports("identify", 1);
}

/** Waits until the relay has the decision of this source. */
export async function decided({ site }: Stage, source: string, state: string): Promise<void> {
  const says = () =>
    ["visit", "consent", "identify"]
      .flatMap((endpoint) => site.reports(endpoint))
      .some((one) => (one.fields["consent"] as Record<string, string>)[source] === state);
  await eventually(`${source} says ${state}`, says);
}

/** The cookies that the relay has set in this browser. */
export async function relayCookies({ site }: Stage, page: Page): Promise<Cookie[]> {
  const cookies = await page.context().cookies(`${site.origin}/__cc/visit`);
  return cookies.filter((one) => one.name.startsWith("__cc"));
}

/** The same cookies as `name=value`, sorted, without the proof of a refusal, which identifies nobody. */
export async function heldCookies(stage: Stage, page: Page): Promise<string[]> {
  const cookies = (await relayCookies(stage, page)).filter(({ name }) => name !== "__cc_p");
  return cookies.map(({ name, value }) => `${name}=${value}`).toSorted();
}

/** The conversion that a platform receives of a person who opted out. */
export const withoutIdentifiers: Conversion = expect.objectContaining({
  emailSha256: null,
  phoneSha256: null,
  clickIds: {},
  utm: {},
  consent: "denied",
});
