// The dashboard in Firefox: from the set-up link to the first conversion. The other stories run in Chromium.

import { type ElementHandle, type Page, TimeoutError } from "puppeteer-core";
import { describe, expect, test } from "vitest";
import { launchFirefox, whyNoFirefox } from "../browser/drivers/firefox.ts";
import { password } from "../support/apiClient.ts";
import { eventually, newInstallation } from "../support/relay.ts";
import { scenarioMs } from "./users.ts";

const textOf = (text: string) => `::-p-text(${text})`;

/** Fills a field by its label, which ends with a star if the field is required. */
async function fill(page: Page, label: string, text: string): Promise<void> {
  const field = await page.waitForFunction(
    (wanted) => [...document.querySelectorAll("label")].find((one) => one.innerText.replace(/\s*\*$/, "") === wanted)?.control,
    {},
    label,
  );
  await (field as ElementHandle<HTMLElement>).type(text);
}

/**
 * Presses the newest button or link with this text: a dialog comes after the page below it. Waits until nothing covers it,
 * because a dialog takes a moment to close.
 */
async function press(page: Page, text: string): Promise<void> {
  // A button that is drawn anew between the search and the click is searched again.
  for (let left = 20; !(await tryPress(page, text)); left--)
    if (left === 0) throw new Error(`${text} was drawn anew all the time`);
}

async function tryPress(page: Page, text: string, timeout = page.getDefaultTimeout()): Promise<boolean> {
  const search = page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll<HTMLElement>("button, a")].findLast((one) => {
        if (one.innerText.trim() !== wanted || !one.checkVisibility()) return false;
        one.scrollIntoView({ block: "nearest" });
        const { x, y, width, height } = one.getBoundingClientRect();
        return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      }),
    { timeout },
    text,
  );
  try {
    await ((await search) as ElementHandle<HTMLElement>).click();
    return true;
  } catch (error) {
    if (/detached|not clickable/.test(String(error))) return false;
    throw error;
  }
}

function ignoreTimeout(error: unknown): void {
  if (!(error instanceof TimeoutError)) throw error;
}

const title = "the dashboard in Firefox";
const inFirefox = whyNoFirefox === null ? describe : describe.skip;

inFirefox(whyNoFirefox === null ? title : `${title} (skipped: ${whyNoFirefox})`, () => {
  test(
    "a new owner sets up, creates a key, sees the first conversion arrive and opens its trace",
    async () => {
      const relay = await (await newInstallation("sqlite")).start();
      const page = await (await launchFirefox()).newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.setDefaultTimeout(60_000);

      const link = /(http\S+\/dashboard\/setup#\w+)/.exec(relay.output())?.[1] ?? "";
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await fill(page, "Your name", "Olga Owner");
      await fill(page, "Email", "olga@example.com");
      await fill(page, "Password", password);
      await press(page, "Create owner");
      await press(page, "Send one for me");
      await page.waitForFunction(() => /Sandbox accepted it/.test(document.body.innerText));

      await press(page, "Configuration");
      await press(page, "Create key");
      await fill(page, "Name", "Shop");
      await press(page, "Create");
      const secret = await page.waitForSelector("[data-secret]", { visible: true });
      const key = (await secret?.evaluate((element) => element.textContent)) ?? "";
      expect(key).toMatch(/^cc_\w{20,}$/);
      await press(page, "I have copied it");

      await press(page, "Overview");
      await page.waitForSelector("[role=status][aria-label='Live feed: connected']");
      const event = { email: "ada@customers.example", event: "purchase", orderId: "A-1001", value: 49.9 };
      expect((await relay.post(key, event)).status).toBe(200);
      // The feed moves while the overview is drawn: a click can meet the row as it moves. The row may be covered by the dialog
      // that an earlier click has opened.
      await eventually("the trace opens", async () => {
        if (!(await page.$("[role=dialog]"))) await tryPress(page, "purchase", 2000).catch(ignoreTimeout);
        return (await page.$(`[role=dialog] ${textOf("Sandbox")}`)) !== null;
      });
      await page.waitForSelector(`[role=dialog] ${textOf("A-1001")}`);
      expect(errors).toEqual([]);
      await page.close();
    },
    scenarioMs,
  );
});
