// `npm run screenshots` takes a picture of every page of the dashboard with the demo's data, in light and dark, on a desktop,
// a small laptop and a phone. It fails when a page logs an error, violates the content security policy, or does not finish loading.
//
//   --out FOLDER   the folder to write to (screenshots)
//   --days N       the days of history in the demo (62)
//   --only REGEXP  only pages whose name matches
//   --size NAMES   the windows (desktop,laptop,phone)
//   --locale NAMES the languages and formats of the browser (en-US), like en-US,de-DE
//   --guides       only the pictures of the guides, which go to docs/images

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Browser, BrowserContext, Locator, Page, Request } from "playwright-core";
import { findChromium, launchChromium } from "../test/browser/launch.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "screenshots" },
    days: { type: "string", default: "62" },
    only: { type: "string", default: "" },
    size: { type: "string", default: "desktop,laptop,phone" },
    locale: { type: "string", default: "en-US" },
    guides: { type: "boolean", default: false },
  },
});

const wanted = new RegExp(values.only);
const locales = values.locale.split(",");
const wantedSizes = values.size.split(",");

type Demo = { origin: string; owner: string; password: string; site: string; product: string; invitation: string };
type Shown = {
  name: string;
  path: string;
  /** Runs before the picture is taken. */
  prepare?: (page: Page) => Promise<void>;
  /** The height of the window, for a drawer that fills it. */
  height?: number;
  /** True for a page that fills the window: it is taken as it is. */
  fits?: true;
};

const sizes = {
  desktop: { width: 1440, height: 900 },
  laptop: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
} as const;
const unknownSize = wantedSizes.find((name) => !Object.hasOwn(sizes, name));
if (unknownSize !== undefined) throw new Error(`There is no size ${unknownSize}. Choose from ${Object.keys(sizes).join(", ")}.`);
const schemes = ["light", "dark"] as const;

const publicPages: Shown[] = [
  { name: "sign-in", path: "/dashboard/sign-in" },
  { name: "forgotten", path: "/dashboard/forgotten" },
  { name: "reset", path: "/dashboard/reset#screenshots" },
  { name: "reference", path: "/api/reference" },
];

const invitationIn = ({ invitation }: Demo): Shown => ({
  name: "invitation",
  path: `/dashboard/invitation#${invitation}`,
});

/** Opens the trace of the first event. */
async function openTrace(page: Page): Promise<void> {
  await page.locator("tbody tr").first().click();
}

/** Opens the trace of an event of the past, whose person has visits. */
async function openPath(page: Page): Promise<void> {
  await page.locator("tbody tr").filter({ hasText: "AO-" }).nth(1).click();
  await page.locator(".cc-path").scrollIntoViewIfNeeded();
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

function memberPages({ site, product }: Demo): Shown[] {
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

/** A part of a page, from the top of one element to the end of another: a few pictures, which several guides share. */
type Picture = Shown & { from: (page: Page) => Locator; to: (page: Page) => Locator; above?: number; below?: number };

const pictureSize = { width: 1120, height: 900 };

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

function pictures({ site }: Demo): Picture[] {
  const path = `/dashboard/sites/${site}/sources`;
  const panel = (page: Page) => page.getByRole("tabpanel");
  const card = (title: string) => (page: Page) =>
    page.locator(".cc-card").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
  const kinds = (page: Page) => page.locator("section").last();
  return [
    { name: "source-choose", path, from: kinds, to: (page) => page.locator(".cc-tile", { hasText: "Salesforce" }), above: 16 },
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

const margin = 16;

async function takePictures(context: BrowserContext, demo: Demo): Promise<void> {
  for (const picture of pictures(demo).filter((one) => wanted.test(one.name))) {
    const page = await context.newPage();
    recordFaults(page, picture.name);
    const settled = createSettler(page);
    try {
      await page.goto(`${demo.origin}${picture.path}`);
      await settled();
      if (picture.prepare) await picture.prepare(page).then(settled);
      await fitWindow(page, settled, picture);
      const [first, last] = await Promise.all([picture.from(page).boundingBox(), picture.to(page).boundingBox()]);
      if (!first || !last) throw new Error("the part is not shown");
      const { above = 0, below = margin } = picture;
      const y = first.y - above;
      const clip = { x: first.x - margin, y, width: first.width + 2 * margin, height: last.y + last.height + below - y };
      const file = join(pathOf("../docs/images/"), `${picture.name}.png`);
      await page.screenshot({ path: file, clip, animations: "disabled", caret: "hide" });
      console.log(file);
    } catch (error) {
      faults.push(`${picture.name}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
    await page.close();
  }
}

/** Returns a function that waits until all requests but the live feed have ended, and nothing is loading. */
function createSettler(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on("request", (request) => void (request.url().endsWith("/feed") || underWay.add(request)));
  page.on("requestfinished", (request) => void underWay.delete(request));
  page.on("requestfailed", (request) => void underWay.delete(request));
  const skeletons = page.locator(".mantine-Skeleton-root, [data-loading=true]");
  return async () => {
    const until = Date.now() + 60_000;
    for (let quiet = 0; quiet < 5; await page.waitForTimeout(100)) {
      if (Date.now() > until) throw new Error("something is still loading after 60 seconds");
      quiet = underWay.size === 0 && (await skeletons.count()) === 0 ? quiet + 1 : 0;
    }
  };
}

/** Makes the window as high as the page, so that the picture has the whole page. */
async function fitWindow(page: Page, settled: () => Promise<void>, { height }: Shown): Promise<void> {
  const window = page.viewportSize() ?? sizes.desktop;
  // Stops after four rounds, because some pages grow with their window.
  for (let before = 0, times = 0; times < 4; times++) {
    const whole = height ?? Math.ceil((await page.locator("html").boundingBox())?.height ?? 0);
    const high = Math.max(whole, window.height, before);
    if (high === before) return;
    await page.setViewportSize({ width: window.width, height: high });
    await settled();
    before = high;
  }
}

/** Starts a program and waits until `read` finds a value in its output. */
async function start<T>(args: string[], env: Record<string, string>, read: (output: string) => T | null) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const answer = await new Promise<T>((resolve, reject) => {
    let output = "";
    void ended.then(() => reject(new Error(`${args[0]} has ended`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = read((output += text));
      if (found !== null) resolve(found);
    });
  });
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return { answer, stop };
}

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The port is chosen when the relay listens: a free one may be taken by then, because writing the history takes a minute.
const startDemo = () =>
  start([pathOf("demo/main.ts"), "--quiet", "--days", values.days, "--port", "0"], {}, (output) =>
    output.includes("\n") ? (JSON.parse(output) as Demo) : null,
  );

/** Starts a relay that has not been set up yet. */
async function startEmpty() {
  const data = mkdtempSync(join(tmpdir(), "cleancast-empty-"));
  const env = {
    CLEANCAST_DATA: data,
    HOST: "127.0.0.1",
    PORT: "0",
    LOG_LEVEL: "silent",
  };
  const { answer, stop } = await start([pathOf("../bin/cleancast.mjs"), "serve"], env, (output) => {
    const link = /(http:\/\/[^/\s]+)(\/dashboard\/setup#\S+)/.exec(output);
    return link ? { origin: String(link[1]), path: String(link[2]) } : null;
  });
  return { answer, stop: () => stop().then(() => rmSync(data, { recursive: true, force: true })) };
}

const faults: string[] = [];

function recordFaults(page: Page, name: string): void {
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      faults.push(`${name}: ${message.type()} on the console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
}

async function take(
  context: BrowserContext,
  origin: string,
  list: readonly Shown[],
  viewport: { width: number; height: number },
  suffix: string,
): Promise<void> {
  for (const shown of list.filter((one) => wanted.test(one.name))) {
    const name = `${shown.name}-${suffix}`;
    const page = await context.newPage();
    recordFaults(page, name);
    const settled = createSettler(page);
    try {
      await page.setViewportSize(viewport);
      await page.goto(`${origin}${shown.path}`);
      await settled();
      if (shown.prepare) await shown.prepare(page).then(settled);
      if (!shown.fits) await fitWindow(page, settled, shown);
      const path = join(values.out, `${name}.png`);
      await page.screenshot({ path, animations: "disabled", caret: "hide" });
      console.log(path);
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
    await page.close();
  }
}

async function signIn(context: BrowserContext, { origin, owner, password }: Demo): Promise<void> {
  const answer = await context.request.post(`${origin}/api/v1/session`, {
    data: { email: owner, password },
    headers: { Origin: origin },
  });
  if (!answer.ok()) throw new Error(`signing in failed: ${answer.status()} ${await answer.text()}`);
}

const found = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
if ("missing" in found) throw new Error(found.missing);
if (!values.guides) mkdirSync(values.out, { recursive: true });
const browser: Browser = await launchChromium(found);
async function takeGuides(): Promise<void> {
  const demo = await startDemo();
  try {
    const options = { viewport: pictureSize, colorScheme: "light", locale: "en-US", reducedMotion: "reduce" } as const;
    const context = await browser.newContext(options);
    await signIn(context, demo.answer);
    await takePictures(context, demo.answer);
    await context.close();
  } finally {
    await demo.stop();
  }
}

async function takeAll(): Promise<void> {
  const demo = await startDemo();
  const empty = await startEmpty();
  try {
    for (const locale of locales)
      for (const [size, viewport] of Object.entries(sizes).filter(([name]) => wantedSizes.includes(name)))
        for (const colorScheme of schemes) {
          const options = { viewport, colorScheme, locale, reducedMotion: "reduce" } as const;
          const context = await browser.newContext(options);
          const suffix = [size, colorScheme, ...(locales.length > 1 ? [locale] : [])].join("-");
          const shoot = ({ origin }: { origin: string }, list: readonly Shown[]) => take(context, origin, list, viewport, suffix);
          await shoot(demo.answer, [...publicPages, invitationIn(demo.answer)]);
          await shoot(empty.answer, [{ name: "setup", path: empty.answer.path }]);
          await signIn(context, demo.answer);
          await shoot(demo.answer, memberPages(demo.answer));
          await context.close();
        }
  } finally {
    await empty.stop();
    await demo.stop();
  }
}

try {
  await (values.guides ? takeGuides() : takeAll());
} finally {
  await browser.close();
}
if (faults.length) {
  console.error(`\n${faults.length} faults:\n${[...new Set(faults)].join("\n")}`);
  process.exitCode = 1;
}
