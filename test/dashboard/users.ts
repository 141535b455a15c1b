// Users of the dashboard in a real browser, and the errors on their pages.

import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Person } from "../support/apiClient.ts";
import { newVisitor } from "../browser/chromium.ts";
import type { Relay } from "../support/relay.ts";
import { checkLayer } from "./access.ts";

type PageErrors = {
  /** Errors of scripts and of the content security policy. */
  scriptErrors: string[];
  /** Failed requests that the browser logs, such as refusals that a test provokes. */
  failedRequests: string[];
};

/** Collects the errors and warnings of the console. */
async function collectErrors(context: BrowserContext): Promise<PageErrors> {
  const errors: PageErrors = { scriptErrors: [], failedRequests: [] };
  context.on("weberror", (error) => errors.scriptErrors.push(`uncaught: ${error.error()}`));
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const isFailedRequest = message.text().startsWith("Failed to load resource");
    const where = message.page()?.url() ?? "";
    (isFailedRequest ? errors.failedRequests : errors.scriptErrors).push(
      `${message.text()} at ${message.location().url} on ${where}`,
    );
  });
  await context.addInitScript(() => {
    addEventListener("unhandledrejection", (event) => console.error(`unhandled: ${event.reason}`));
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  return errors;
}

export type User = {
  page: Page;
  context: BrowserContext;
  errors: PageErrors;
  /** Opens a path of the dashboard, such as `/sites`, as a new document. */
  open: (path: string) => Promise<void>;
  /** Navigates within the open document, as a link does: much cheaper for many pages. */
  go: (path: string) => Promise<void>;
};

const timeoutMs = 120_000;

/** Timeout of a whole scenario; a busy machine takes many times as long as an idle one. */
export const scenarioMs = 300_000;

/** Opens a separate browser context, signed in as `person` if given. */
export async function user(relay: Pick<Relay, "url">, person: Person | null, options: BrowserContextOptions = {}): Promise<User> {
  const context = await newVisitor({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(timeoutMs);
  const errors = await collectErrors(context);
  if (person)
    await context.addCookies(
      person.cookie.split("; ").map((one) => {
        const [name = "", ...value] = one.split("=");
        return { name, value: value.join("="), url: relay.url };
      }),
    );
  const page = await context.newPage();
  return {
    page,
    context,
    errors,
    open: async (path) => void (await page.goto(`${relay.url}/dashboard${path}`)),
    go: async (path) => {
      // Goes through a missing page, which separates the new page from the old one.
      const nowhere = page.getByText(/^(Page not found|Seite nicht gefunden)$/);
      for (const to of ["/nowhere", path])
        await page
          .evaluate((there) => history.pushState(null, "", `/dashboard${there}`), to)
          .then(() => nowhere.waitFor({ state: to === path ? "detached" : "attached" }));
    },
  };
}

/** Waits until this text is visible. */
export const sees = (where: Page | Locator, text: string | RegExp): Promise<void> =>
  orShowPage(where, where.getByText(text).filter({ visible: true }).first().waitFor());

/** Presses a button by its label. */
export const press = (where: Page | Locator, name: string | RegExp): Promise<void> => {
  const buttons = where.getByRole("button", { name, exact: typeof name === "string" });
  return orShowPage(where, buttons.filter({ visible: true }).first().click());
};

/** Turns a switch on with the keyboard: a click may miss it while the page still moves. */
export async function turnOn(page: Page, name: string): Promise<void> {
  const control = page.getByRole("switch", { name });
  await control.press("Space");
  await expect.poll(() => control.isChecked()).toBe(true);
}

/** Adds what the page showed instead to the error of a step that failed. */
async function orShowPage(where: Page | Locator, step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (error) {
    const page = "page" in where ? where.page() : where;
    const text = await page.locator("body").innerText({ timeout: 5000 }).catch(String);
    throw new Error(`${String(error)}\n${page.url()} shows:\n${text.slice(0, 4000)}`, { cause: error });
  }
}

/** Finds the newest dialog with this title: an older one may still be fading out. */
export const dialog = (page: Page, title: string | RegExp): Locator =>
  page.getByRole("dialog", { name: title }).filter({ visible: true }).last();

/** Finds a field by its label, which ends with a star if the field is required. */
export const field = (where: Page | Locator, label: string): Locator =>
  where
    .getByLabel(new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}( \\*)?$`))
    .and(where.locator("input, textarea, select"));

/** Opens a menu and chooses from it. */
export async function choose(page: Page, menu: string | RegExp, item: string): Promise<void> {
  await press(page, menu);
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** Reads a secret that is shown once, and closes its dialog. With `source`, the dialog is checked first. */
export async function takeSecret(page: Page, source?: string): Promise<string> {
  const shown = page.locator("[data-secret]").filter({ visible: true });
  await shown.waitFor();
  if (source) await checkLayer(page, source);
  const secret = (await shown.textContent()) ?? "";
  await press(page, "I have copied it");
  await shown.waitFor({ state: "detached" });
  return secret;
}

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await field(page, "Email").fill(email);
  await field(page, "Password").fill(password);
  await press(page, "Sign in");
}

export async function signOut(page: Page): Promise<void> {
  await choose(page, /account and appearance/, "Sign out");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

/** Finds the rows of a table that contain this text. */
export const row = (where: Page | Locator, text: string | RegExp): Locator => where.getByRole("row").filter({ hasText: text });
