// People who use the dashboard in a real browser, and what goes wrong on their pages.

import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import type { Person } from "../support/apiClient.ts";
import { newVisitor } from "../browser/chromium.ts";
import type { Relay } from "../support/relay.ts";

export type Heard = {
  /** Errors of scripts and of the content security policy. */
  faults: string[];
  /** Answers that the browser notes on the console: those of refusals that a test provokes. */
  refusals: string[];
};

/** Collects what a developer would see on the console. */
export async function listen(context: BrowserContext): Promise<Heard> {
  const heard: Heard = { faults: [], refusals: [] };
  context.on("weberror", (error) => heard.faults.push(`uncaught: ${error.error()}`));
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const isAnswer = message.text().startsWith("Failed to load resource");
    const where = message.page()?.url() ?? "";
    (isAnswer ? heard.refusals : heard.faults).push(
      `${message.text()} at ${message.location().url} on ${where}`,
    );
  });
  await context.addInitScript(() => {
    addEventListener("unhandledrejection", (event) => console.error(`unhandled: ${event.reason}`));
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  return heard;
}

export type User = {
  page: Page;
  context: BrowserContext;
  heard: Heard;
  /** Opens an address of the dashboard, such as `/sites`, as a new document. */
  open: (path: string) => Promise<void>;
  /** Goes there within the document that is open, as a link does: much cheaper where many pages are looked at. */
  go: (path: string) => Promise<void>;
};

const patience = 20_000;

/** For a whole story; a loaded machine takes many times as long as an idle one. */
export const storyMs = 120_000;

/** A browser of its own, signed in as `person` where one is given. */
export async function user(
  relay: Pick<Relay, "url">,
  person: Person | null,
  options: BrowserContextOptions = {},
): Promise<User> {
  const context = await newVisitor({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(patience);
  const heard = await listen(context);
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
    heard,
    open: async (path) => void (await page.goto(`${relay.url}/dashboard${path}`)),
    go: async (path) => {
      // By way of a page that is not there, which tells the new one from the old.
      const nowhere = page.getByText("There is no such page");
      for (const to of ["/nowhere", path])
        await page
          .evaluate((there) => history.pushState(null, "", `/dashboard${there}`), to)
          .then(() => nowhere.waitFor({ state: to === path ? "detached" : "attached" }));
    },
  };
}

/** Waits until this text can be read. */
export const sees = (where: Page | Locator, text: string | RegExp): Promise<void> =>
  where.getByText(text).filter({ visible: true }).first().waitFor();

/** Presses a button by what stands on it. */
export const press = (where: Page | Locator, name: string | RegExp): Promise<void> =>
  where
    .getByRole("button", { name, exact: typeof name === "string" })
    .filter({ visible: true })
    .first()
    .click();

/** The question that is open; windows that close fade, so only the newest counts. */
export const dialog = (page: Page, title: string | RegExp): Locator =>
  page.getByRole("dialog", { name: title }).filter({ visible: true }).last();

/** A field by its label; what is required carries a star. */
export const field = (where: Page | Locator, label: string): Locator =>
  where
    .getByLabel(new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}( \\*)?$`))
    .and(where.locator("input, textarea, select"));

/** Opens a menu and chooses from it. */
export async function choose(page: Page, menu: string | RegExp, item: string): Promise<void> {
  await press(page, menu);
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** The secret that a window shows this once; closes the window. */
export async function takeSecret(page: Page): Promise<string> {
  const shown = page.locator("[data-secret]").filter({ visible: true });
  await shown.waitFor();
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

/** The row of a table that holds this text. */
export const row = (where: Page | Locator, text: string | RegExp): Locator =>
  where.getByRole("row").filter({ hasText: text });
