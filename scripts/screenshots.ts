// `npm run screenshots` takes a picture of every page of the dashboard with the demo's data, and of the pages of a new site, in light
// and dark, on a desktop, a small laptop and a phone. It fails when a page logs an error, violates the content security policy, or does not finish loading.
//
//   --out FOLDER   the folder to write to (screenshots)
//   --days N       the days of history in the demo (62)
//   --only REGEXP  only pages whose name matches
//   --size NAMES   the windows (desktop,laptop,phone)
//   --scheme NAMES the colours (light,dark)
//   --locale NAMES the languages and formats of the browser (en-US), like en-US,de-DE
//   --guides       only the pictures of the README and of the guides, which go to docs/images

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { findChromium, launchChromium } from "../test/browser/launch.ts";
import {
  emptyPages,
  invitationIn,
  memberPages,
  pictures,
  publicPages,
  type Demo,
  type Picture,
  type Shown,
} from "./screenshotPages.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "screenshots" },
    days: { type: "string", default: "62" },
    only: { type: "string", default: "" },
    size: { type: "string", default: "desktop,laptop,phone" },
    scheme: { type: "string", default: "light,dark" },
    locale: { type: "string", default: "en-US" },
    guides: { type: "boolean", default: false },
  },
});

const wanted = new RegExp(values.only);
const locales = values.locale.split(",");
const wantedSizes = values.size.split(",");

const sizes = {
  desktop: { width: 1440, height: 900 },
  laptop: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
} as const;
const unknownSize = wantedSizes.find((name) => !Object.hasOwn(sizes, name));
if (unknownSize !== undefined) throw new Error(`There is no size ${unknownSize}. Choose from ${Object.keys(sizes).join(", ")}.`);
const schemes = (["light", "dark"] as const).filter((one) => values.scheme.split(",").includes(one));
if (schemes.length === 0) throw new Error(`There are no colours ${values.scheme}. Choose from light, dark.`);
const pictureSize = { width: 1120, height: 900 };

const margin = 16;

async function takePictures(context: BrowserContext, demo: Demo): Promise<void> {
  for (const picture of pictures(demo).filter((one) => wanted.test(one.name))) {
    const page = await context.newPage();
    recordFaults(page, picture.name);
    const settled = createSettler(page);
    try {
      await page.emulateMedia({ colorScheme: picture.scheme ?? "light" });
      if (picture.window) await page.setViewportSize(picture.window);
      await page.goto(`${demo.origin}${picture.path}`);
      await settled();
      if (picture.prepare) await picture.prepare(page).then(settled);
      const clip = picture.window ? {} : { clip: await findPart(page, settled, picture) };
      const file = join(pathOf("../docs/images/"), `${picture.name}.png`);
      await page.screenshot({ path: file, ...clip, animations: "disabled", caret: "hide" });
      console.log(file);
    } catch (error) {
      faults.push(`${picture.name}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
    await page.close();
  }
}

async function findPart(page: Page, settled: () => Promise<void>, picture: Extract<Picture, { from: unknown }>) {
  await fitWindow(page, settled, picture);
  const [first, last] = await Promise.all([picture.from(page).boundingBox(), picture.to(page).boundingBox()]);
  if (!first || !last) throw new Error("the part is not shown");
  const { above = 0, below = margin } = picture;
  const y = first.y - above;
  return { x: first.x - margin, y, width: first.width + 2 * margin, height: last.y + last.height + below - y };
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

/** Starts a relay that has not been set up yet, and has no site. */
async function startEmpty() {
  const data = mkdtempSync(join(tmpdir(), "cleancast-empty-"));
  const env = {
    CLEANCAST_DATA: data,
    HOST: "127.0.0.1",
    PORT: "0",
    LOG_LEVEL: "silent",
    CLEANCAST_FIRST_SITE: "false",
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

async function post<T>(context: BrowserContext, origin: string, path: string, data: unknown): Promise<T> {
  const answer = await context.request.post(`${origin}/api/v1/${path}`, { data, headers: { Origin: origin } });
  if (!answer.ok()) throw new Error(`POST ${path} failed: ${answer.status()} ${await answer.text()}`);
  return (await answer.json()) as T;
}

const signIn = (context: BrowserContext, { origin, owner, password }: Demo) =>
  post(context, origin, "session", { email: owner, password });

/** Creates the owner and a site, and returns the pages of that site and the session that opens them. */
async function setUp({ origin, path }: { origin: string; path: string }) {
  const context = await browser.newContext();
  const [, token] = path.split("#");
  await post(context, origin, "setup", {
    token,
    email: "owner@example.com",
    name: "Robin Owner",
    password: "screenshots of a new site",
  });
  const site = await post<{ id: string }>(context, origin, "sites", { host: "shop.example.com" });
  const storageState = await context.storageState();
  await context.close();
  return { pages: emptyPages({ site: site.id }), storageState };
}

const found = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
if ("missing" in found) throw new Error(found.missing);
if (!values.guides) mkdirSync(values.out, { recursive: true });
const browser: Browser = await launchChromium(found);
async function takeGuides(): Promise<void> {
  const demo = await startDemo();
  try {
    const options = { viewport: pictureSize, locale: "en-US", reducedMotion: "reduce" } as const;
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
  const fresh = await startEmpty();
  try {
    const newSite = await setUp(fresh.answer);
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
          const ofOwner = await browser.newContext({ ...options, storageState: newSite.storageState });
          await take(ofOwner, fresh.answer.origin, newSite.pages, viewport, suffix);
          await ofOwner.close();
        }
  } finally {
    await fresh.stop();
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
