// The pages and parts of pages of which `npm run screenshots` takes pictures, and what it does there first.

import type { Locator, Page } from "playwright-core";

export type Demo = { origin: string; owner: string; password: string; site: string; product: string; invitation: string };
export type Shown = {
  name: string;
  path: string;
  /** Runs before the picture is taken. */
  prepare?: (page: Page) => Promise<void>;
  /** The height of the window, for a drawer that fills it. */
  height?: number;
  /** True for a page that fills the window: it is taken as it is. */
  fits?: true;
};

export const publicPages: Shown[] = [
  { name: "sign-in", path: "/dashboard/sign-in" },
  { name: "forgotten", path: "/dashboard/forgotten" },
  { name: "reset", path: "/dashboard/reset#screenshots" },
  { name: "reference", path: "/api/reference" },
];

export const invitationIn = ({ invitation }: Demo): Shown => ({
  name: "invitation",
  path: `/dashboard/invitation#${invitation}`,
});

/** Opens the trace of the first event. */
async function openTrace(page: Page): Promise<void> {
  await page.locator("tbody tr").first().click();
}

/** Opens the trace of an event of the past, whose person has visits. */
async function openOrder(page: Page): Promise<void> {
  await page.locator("tbody tr").filter({ hasText: "AO-" }).nth(1).click();
}

async function openPath(page: Page): Promise<void> {
  await openOrder(page);
  await page.locator(".cc-path").scrollIntoViewIfNeeded();
}

/** Leaves what is usual: no alert above the page, and folded first steps. */
async function calm(page: Page): Promise<void> {
  const mute = page.getByRole("button", { name: "Mute for a day" });
  for (let alerts = await mute.count(); alerts > 0; alerts = await mute.count()) {
    await mute.click();
    await page.waitForTimeout(200);
  }
  // The browser remembers both.
  const fold = page.getByRole("button", { name: "Hide" });
  if (await fold.isVisible()) await fold.click();
  await page.mouse.move(0, 0);
}

/** Chooses a file of past conversions and checks it. */
async function checkFile(page: Page): Promise<void> {
  const time = new Date(Date.now() - 86_400_000).toISOString();
  const rows = [`ada@example.com,A-1,${time},49.90,purchase`, `bob@example.com,A-2,soon,12.00,purchase`];
  const buffer = Buffer.from(`Email,Order ID,Paid at,Total,Event,Shop\n${rows.map((row) => `${row},north\n`).join("")}`);
  await page.locator("input[type=file]").setInputFiles({ name: "orders.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: /^(?:Check the file|Datei prüfen)$/ }).click();
  await page.getByRole("button", { name: /^(?:Import 1 row|1 Zeile importieren)$/ }).waitFor();
}

/** Shares a view and opens it. */
const openShared =
  (scope: "report" | "wall") =>
  async (page: Page): Promise<void> => {
    const { origin, pathname } = new URL(page.url());
    const site = pathname.split("/")[3] ?? "";
    const answer = await page.request.post(`${origin}/api/v1/sites/${site}/shared-links`, {
      data: { scope, name: "Agency" },
      headers: { Origin: origin },
    });
    const { url } = (await answer.json()) as { url: string };
    await page.goto(`${origin}${new URL(url).pathname}${new URL(url).hash}`);
    await page
      .locator(scope === "wall" ? "#ticker li" : "h2")
      .first()
      .waitFor();
  };

/** Opens the match quality of a platform that can be asked for confirmations. */
async function openQuality(page: Page): Promise<void> {
  await page.locator("tbody a", { hasText: "Google Ads" }).first().click();
}

/** Enters a value rule, of which the page shows what it would have sent. */
async function enterRule(page: Page): Promise<void> {
  await page.getByLabel(/^(?:Value of purchase|Wert von purchase)$/).fill("20%");
  await page.locator("[aria-live=polite] p").first().waitFor();
}

/** Opens a tab of a source, the first one where none is named. */
const openSource =
  (tab: number, name = "") =>
  async (page: Page) => {
    await page.locator("article a", { hasText: name }).first().click();
    await page.getByRole("tab").nth(tab).click();
  };

/** Opens the dialog of an action of the first source; on a phone the actions are in a menu. */
const askSource = (action: RegExp) => async (page: Page) => {
  await openSource(0)(page);
  const menu = page.getByRole("button", { name: /^(?:More actions|Weitere Aktionen)$/ });
  const button = page.getByRole("button", { name: action });
  await button.or(menu).first().waitFor();
  if (!(await button.isVisible())) await menu.click();
  await button.click();
  // The menu of a phone is a dialog too.
  await page
    .getByRole("dialog")
    .filter({ has: page.getByRole("button", { name: /^(?:Cancel|Abbrechen)$/ }) })
    .waitFor();
};

/** Opens the orders behind the first loss of the funnel. */
async function openMissing(page: Page): Promise<void> {
  await page.locator(".cc-funnel-losses a").first().click();
}

export function memberPages({ site, product }: Pick<Demo, "site" | "product">): Shown[] {
  const page = (name: string, path: string, more: Partial<Shown> = {}): Shown => ({
    name,
    path: `/dashboard/sites/${site}/${path}`,
    ...more,
  });
  return [
    { name: "sites", path: "/dashboard/sites" },
    { name: "account", path: "/dashboard/account" },
    page("overview", "overview"),
    page("overview-linear", "overview?model=linear"),
    page("first-conversion", "first-conversion"),
    page("events", "events"),
    page("trace", "events?event=purchase&clickId=gclid", { prepare: openTrace, height: 1400 }),
    page("trace-path", "events?event=purchase&clickId=gclid", { prepare: openPath }),
    page("sources", "sources"),
    page("source-add", "sources?add=stripe"),
    page("source-setup", "sources", { prepare: openSource(0) }),
    page("source-requests", "sources", { prepare: openSource(1) }),
    page("source-preview", "sources", { prepare: openSource(2) }),
    page("source-settings", "sources", { prepare: openSource(3) }),
    page("source-mapping", "sources", { prepare: openSource(2, "Mountain school") }),
    page("source-pause", "sources", { prepare: askSource(/^(?:Pause|Pausieren)$/) }),
    page("source-rotate", "sources", { prepare: askSource(/^(?:Rotate address|Adresse erneuern)$/) }),
    page("source-remove", "sources", { prepare: askSource(/^(?:Remove|Entfernen)$/) }),
    page("platforms", "integrations"),
    page("platform-meta", "integrations/meta"),
    page("platform-meta-values", "integrations/meta?tab=events", { prepare: enterRule }),
    page("platform-meta-test", "integrations/meta?tab=test"),
    page("platform-meta-performance", "integrations/meta?tab=performance"),
    page("platform-linkedin", "integrations/linkedin"),
    page("platform-reddit", "integrations/reddit"),
    page("sync-log", "integrations/log"),
    page("webhooks", "integrations/webhooks"),
    page("data-export", "integrations/export"),
    page("quality", "integrations/quality"),
    page("quality-connection", "integrations/quality", { prepare: openQuality }),
    page("reconciliation", "reconciliation"),
    page("funnel", "reconciliation/funnel"),
    page("reconciliation-rows", "reconciliation/funnel", { prepare: openMissing }),
    { name: "leads", path: `/dashboard/sites/${product}/leads` },
    page("keys", "configuration/keys"),
    page("tag", "configuration/tag"),
    page("domains", "configuration/domains"),
    page("general", "configuration/general"),
    page("invalid-clicks", "bots/clicks"),
    page("evidence", "bots/evidence"),
    page("bot-visits", "bots/visits"),
    page("suspicious-visits", "bots/visits?suspicious=true"),
    page("traffic", "configuration/traffic"),
    page("consent", "configuration/consent"),
    page("deduplication", "configuration/deduplication"),
    page("import", "configuration/import", { prepare: checkFile }),
    page("api-keys", "settings/api-keys"),
    page("assistants", "settings/assistants"),
    page("members", "settings/members"),
    page("alerts", "settings/alerts"),
    page("shared-report", "settings/sharing", { prepare: openShared("report") }),
    page("wall", "settings/sharing", { prepare: openShared("wall"), fits: true }),
    page("sharing", "settings/sharing"),
    page("oauth-apps", "settings/oauth-apps"),
    page("audit", "settings/audit"),
  ];
}

const pagesOfLists =
  /^(?:overview|events|sources|platforms|sync-log|webhooks|quality|reconciliation|funnel|leads|invalid-clicks|evidence|bot-visits|keys|tag|domains|consent|api-keys|members|alerts|sharing|audit)$/;

/** The pages of a site to which nothing has come yet. */
export const emptyPages = ({ site }: { site: string }): Shown[] =>
  memberPages({ site, product: site })
    .filter(({ name }) => pagesOfLists.test(name))
    .map((page) => ({ ...page, name: `empty-${page.name}` }));

/** What a window shows, for the README; or a part of a page, from the top of one element to the end of another, for the guides. */
export type Picture = Shown & { scheme?: "dark" } & (
    | { window: { width: number; height: number } }
    | { window?: undefined; from: (page: Page) => Locator; to: (page: Page) => Locator; above?: number; below?: number }
  );

/** Adds a source that has not seen a request, and opens it. */
const openNew =
  (kind: string, settings: Record<string, string>) =>
  async (page: Page): Promise<void> => {
    const { origin, pathname } = new URL(page.url());
    const site = pathname.split("/")[3] ?? "";
    const answer = await page.request.post(`${origin}/api/v1/sites/${site}/sources`, {
      data: { kind, settings },
      headers: { Origin: origin },
    });
    if (!answer.ok()) throw new Error(`adding a source failed: ${answer.status()} ${await answer.text()}`);
    const { source } = (await answer.json()) as { source: { id: string } };
    await page.goto(`${origin}/dashboard/sites/${site}/sources/${source.id}`);
    await page.getByRole("tabpanel").waitFor();
  };

export function pictures({ site }: Demo): Picture[] {
  const path = `/dashboard/sites/${site}/sources`;
  const panel = (page: Page) => page.getByRole("tabpanel");
  const card = (title: string) => (page: Page) =>
    page.locator(".cc-card").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
  const kinds = (page: Page) => page.locator("section").last();
  const at = `/dashboard/sites/${site}`;
  const funnel = (page: Page) => page.locator(".cc-card").filter({ has: page.locator(".cc-funnel-losses") });
  const overview = { path: `${at}/overview`, prepare: calm, window: { width: 1280, height: 1010 } };
  return [
    { name: "overview-light", ...overview },
    { name: "overview-dark", ...overview, scheme: "dark" },
    { name: "phone", ...overview, window: { width: 390, height: 844 } },
    {
      name: "trace",
      path: `${at}/events?event=purchase&clickId=gclid`,
      prepare: openOrder,
      window: { width: 1280, height: 1200 },
    },
    { name: "funnel", path: `${at}/reconciliation/funnel`, from: funnel, to: funnel, above: 16 },
    { name: "source-choose", path, from: kinds, to: (page) => page.locator(".cc-card", { hasText: "Salesforce" }), above: 16 },
    { name: "source-set-up", path, prepare: openNew("stripe", {}), from: panel, to: card("Address and secret"), below: 4 },
    { name: "source-woocommerce", path, prepare: openNew("woocommerce", {}), from: panel, to: card("At WooCommerce") },
    {
      name: "source-salesforce",
      path,
      prepare: openNew("salesforce", { organization_id: "00D000000000062EAA", stages: "Closed Won=purchase" }),
      from: panel,
      to: card("At Salesforce"),
    },
    { name: "source-live", path, prepare: openSource(0, "Shopify"), from: panel, to: card("Live") },
    {
      name: "source-requests",
      path,
      prepare: openSource(1, "Stripe"),
      from: panel,
      to: (page) => page.locator("tbody tr").nth(7),
      below: 0,
    },
    {
      name: "source-mapping",
      path,
      prepare: openSource(2, "Mountain school"),
      from: panel,
      to: (page) => page.getByText("The chosen line is"),
      below: 8,
    },
    {
      name: "source-preview",
      path,
      prepare: openSource(2, "Mountain school"),
      from: card("Preview"),
      to: card("Preview"),
      above: 16,
    },
  ];
}
