// A German browser sees German on every page, in the formats of its locale, and a choice of language stays.

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import * as firstPage from "../../dashboard/messages/de/firstPage.ts";
import * as otherPages from "../../dashboard/messages/de/otherPages.ts";
import * as signInPages from "../../dashboard/messages/de/signIn.ts";
import type { Messages } from "../../dashboard/messages/catalogue/catalogue.ts";
import { messages } from "../../src/kernel/messages/messages.ts";
import { platforms } from "../../src/platforms/index.ts";
import type { Kind } from "../../src/sources/kind.ts";
import { kinds as allKinds } from "../../src/sources/kinds/index.ts";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { startReceiver } from "../support/receiver.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { english, keysOf, messageAt, sectionNames } from "./catalogue.ts";
import { findOverflow, pagesOf, settled } from "./pages.ts";
import { choose, dialog, field, press, row, scenarioMs, sees, user } from "./users.ts";

const kinds: readonly Kind[] = allKinds;

const translation: Readonly<Record<string, Messages>> = {
  ...firstPage.translation,
  ...signInPages.translation,
  ...otherPages.translation,
};

const isSentence = (text: unknown): text is string =>
  typeof text === "string" && text.length >= 10 && /[a-z] [a-z]/.test(text) && !/[<{]/.test(text);

/** English texts that differ from the German ones and are long enough to appear only where they are shown. */
const englishTexts = [
  ...sectionNames.flatMap((name) => {
    const source = english[name] ?? {};
    const german = translation[name] ?? {};
    return keysOf(source)
      .filter((key) => messageAt(source, key) !== messageAt(german, key))
      .map((key) => messageAt(source, key));
  }),
  ...Object.entries({ ...firstPage.serverTexts.words, ...otherPages.serverTexts.words }).flatMap(([text, german]) =>
    text === german ? [] : [text],
  ),
  ...Object.values(messages),
  ...platforms.flatMap(({ description, settings, guide }) => [
    description,
    ...settings.map(({ help }) => help),
    ...(guide ? [...guide.credentials, ...guide.notSent] : []),
  ]),
  ...kinds.flatMap(({ about, settings, guide }) => [
    about,
    ...settings.map(({ help }) => help),
    ...guide.steps,
    ...guide.retries,
  ]),
].filter(isSentence);

/** Returns what the page shows or reads aloud. */
const readTexts = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [
      document.body.innerText,
      ...[...document.querySelectorAll("[aria-label], [placeholder], [title]")].flatMap((one) =>
        ["aria-label", "placeholder", "title"].map((name) => one.getAttribute(name) ?? ""),
      ),
    ].join("\n"),
  );

inChromium("a German browser", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let event: string;
  let webhook: string;
  let source: string;

  beforeAll(async () => {
    relay = await (await newInstallation("sqlite")).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    const receiver = await startReceiver();
    webhook = (await owner.ask(`POST /sites/${site}/webhooks`, { url: receiver.url, sendEmpty: true })).json.webhook.id;
    await owner.ask(`POST /sites/${site}/connections`, {
      platform: "webhook",
      settings: { url: receiver.url },
    });
    source = (await owner.ask(`POST /sites/${site}/sources`, { kind: "custom", settings: {} })).json.source.id;
    await owner.ask(`PATCH /sites/${site}/settings`, { settings: { block_domains: "blocked.example" } });
    for (const email of ["ada@customers.example", "ada@blocked.example"]) {
      const sent = { email, event: "purchase", orderId: "A-1", value: 1234.5, currency: "EUR" };
      expect((await relay.post(relay.key, sent)).status).toBe(200);
    }
    await relay.post("cc_wrong", { email: "ada@customers.example", event: "purchase" });
    const { items } = (await owner.ask(`GET /sites/${site}/events`)).json;
    event = items.find((one: { status: string }) => one.status === "filtered").id;
  }, scenarioMs);

  test(
    "every page is German, and no page is too wide for a phone",
    async () => {
      expect(englishTexts.length).toBeGreaterThan(600);
      const { page, open, go, errors, context } = await user(relay, owner, { locale: "de-DE" });
      const wrong: string[] = [];
      // A link to a page inside of another one, which loads its own texts.
      await open(`/sites/${site}/integrations/quality/unknown`);
      await sees(page, "Verbindung nicht gefunden");
      await page.setViewportSize({ width: 375, height: 900 });
      for (const path of [
        ...pagesOf(site, { event, webhook, source }),
        ...kinds.map(({ id }) => `/sites/${site}/sources?add=${id}`),
        `/sites/${site}/integrations/meta`,
        `/sites/${site}/integrations/meta?tab=events`,
        `/sites/${site}/integrations/webhook?tab=test`,
        `/sites/${site}/integrations/webhook?tab=backfill`,
      ]) {
        await go(path);
        await settled(page);
        const shown = await readTexts(page);
        for (const text of englishTexts) if (shown.includes(text)) wrong.push(`${path}: ${text}`);
        // Abbreviated months end with a full stop of their own.
        for (const one of shown.match(/.*[^.]\.\.(?!\.)/g) ?? []) wrong.push(`${path}, two full stops: ${one}`);
        for (const one of await findOverflow(page)) wrong.push(`${path}, too wide for a phone: ${one}`);
      }
      expect(wrong.join("\n")).toBe("");
      expect(await page.locator("html").getAttribute("lang")).toBe("de");

      await page.setViewportSize({ width: 1280, height: 900 });
      await open(`/sites/${site}/events`);
      await sees(row(page, "A-1").first(), /^1\.234,50\s€$/);
      await sees(page, "Gesperrte E-Mail-Domain: blocked.example");
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );

  test(
    "errors are German, at their field and on the sign-in page",
    async () => {
      const { page, open, context } = await user(relay, owner, { locale: "de-AT" });
      await open(`/sites/${site}/configuration/consent`);
      const days = page.getByLabel("Ereignisse und Zustellungen aufbewahren für", { exact: true });
      await days.fill("500");
      await press(page.locator("form").filter({ has: days }), "Speichern");
      await sees(page, "Muss 1 bis 400 Tage sein.");
      await context.close();

      const guest = await user(relay, null, { locale: "de-DE" });
      await guest.open("/sign-in");
      await field(guest.page, "E-Mail").fill("ada@example.com");
      await field(guest.page, "Passwort").fill("a wrong password");
      await press(guest.page, "Anmelden");
      await sees(guest.page, "Die E-Mail-Adresse oder das Passwort ist falsch.");
      await press(guest.page, "English");
      await guest.page.getByRole("heading", { name: "Sign in" }).waitFor();
      await guest.context.close();
    },
    scenarioMs,
  );

  test(
    "a user switches to English and back, and the choice stays after a reload",
    async () => {
      const { page, open, errors, context } = await user(relay, owner, { locale: "de-DE" });
      await open(`/sites/${site}/configuration/keys`);
      await page.getByRole("button", { name: "Schlüssel erstellen" }).waitFor();
      await choose(page, /Konto und Darstellung/, "English");
      await page.getByRole("button", { name: "Create key" }).waitFor();
      await page.reload();
      await press(page, "Create key");
      await dialog(page, "Create an inbound key").waitFor();
      await page.keyboard.press("Escape");
      await choose(page, /account and appearance/, "Deutsch");
      await page.getByRole("button", { name: "Schlüssel erstellen" }).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Schlüssel erstellen" }).waitFor();
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );
});
