// Automated browsers: real tools, most of them with the webdriver flag hidden. Each is a driver with a few verbs; two scripts
// use it, one for the site of the tuning set and one for that of the judging set.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/support/servers/freePort.ts";
import { load, type Tool } from "./packages.ts";
import { selectors } from "./pages.ts";
import { shop } from "./relay.ts";
import { between, pageLoaded, sleep, type SetUp, type Visit } from "./visit.ts";

type Driver = {
  open(url: string): Promise<void>;
  click(selector: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
};

export const chromium = "/usr/bin/chromium";

export function chromiumArgs({ front }: Visit): string[] {
  return [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--ignore-certificate-errors",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    `--host-resolver-rules=MAP ${shop}:443 127.0.0.1:${front.port}`,
  ];
}

const hiding = "--disable-blink-features=AutomationControlled";
/** The user agent of the installed Chromium, without its headless name. */
const plainAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const windowsAgent = plainAgent.replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64");
const iphoneAgent =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

export function freshProfile(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-bots-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

const withDisplay = (visit: Visit) => ({ ...process.env, DISPLAY: visit.display }) as Record<string, string>;

// ---- drivers

type PuppeteerOptions = {
  headless: boolean | "shell";
  args?: string[];
  package?: string;
  agent?: string;
  keyDelay?: number;
  viewport?: null;
};

async function puppeteer(
  visit: Visit,
  options: PuppeteerOptions,
  wrap?: (page: Tool) => Promise<Partial<Driver>>,
): Promise<Driver> {
  const module = await load(options.package ?? "puppeteer-core");
  const launcher = module.default ?? module;
  const browser = await launcher.launch({
    executablePath: options.headless === "shell" ? "/usr/bin/chromium-headless-shell" : chromium,
    headless: options.headless,
    args: [...chromiumArgs(visit), ...(options.args ?? [])],
    env: withDisplay(visit),
    acceptInsecureCerts: true,
    ...(options.viewport === null ? { defaultViewport: null } : {}),
  });
  const [page = await browser.newPage()] = await browser.pages();
  if (options.agent) await page.setUserAgent(options.agent);
  const delay = options.keyDelay ? { delay: options.keyDelay } : {};
  return {
    open: (url) => page.goto(url),
    click: (selector) => page.click(selector),
    type: (selector, text) => page.type(selector, text, delay),
    close: () => browser.close(),
    ...(await wrap?.(page)),
  };
}

async function stealth(
  visit: Visit,
  options: PuppeteerOptions,
  wrap?: (page: Tool) => Promise<Partial<Driver>>,
): Promise<Driver> {
  const { addExtra } = await load("puppeteer-extra");
  const plugin = await load("puppeteer-extra-plugin-stealth");
  const core = await load("puppeteer-core");
  const extra = addExtra(core.default ?? core);
  extra.use((plugin.default ?? plugin)());
  const browser = await extra.launch({
    executablePath: chromium,
    headless: options.headless,
    args: [...chromiumArgs(visit), ...(options.args ?? [])],
    env: withDisplay(visit),
    acceptInsecureCerts: true,
    ...(options.viewport === null ? { defaultViewport: null } : {}),
  });
  const page = await browser.newPage();
  return {
    open: (url) => page.goto(url),
    click: (selector) => page.click(selector),
    type: (selector, text) => page.type(selector, text),
    close: () => browser.close(),
    ...(await wrap?.(page)),
  };
}

async function ghostCursor(page: Tool): Promise<Partial<Driver>> {
  const { createCursor } = await load("ghost-cursor");
  const cursor = createCursor(page);
  return {
    click: (selector) => cursor.click(selector),
    async type(selector, text) {
      await cursor.click(selector);
      await page.keyboard.type(text, { delay: 100 });
    },
  };
}

type PlaywrightOptions = {
  headless: boolean;
  args?: string[];
  ignore?: string[];
  context?: object;
  types?: "fill" | "keys";
  package?: string;
  plugins?: boolean;
};

async function playwright(visit: Visit, options: PlaywrightOptions): Promise<Driver> {
  const module = await load(options.package ?? "playwright-core");
  const launcher = (module.default ?? module).chromium ?? module.chromium;
  const browser = await launcher.launch({
    executablePath: chromium,
    headless: options.headless,
    args: [...chromiumArgs(visit), ...(options.args ?? [])],
    ...(options.ignore ? { ignoreDefaultArgs: options.ignore } : {}),
    env: withDisplay(visit),
    ...(options.plugins ? { plugins: (await load("playwright-ghost/plugins")).default.recommended() } : {}),
  });
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options.context });
  const page = await context.newPage();
  return {
    open: (url) => page.goto(url),
    click: (selector) => page.click(selector),
    type: (selector, text) =>
      options.types === "keys" ? page.locator(selector).pressSequentially(text, { delay: 100 }) : page.fill(selector, text),
    close: () => browser.close(),
  };
}

async function selenium(visit: Visit, args: string[], exclude: string[] = []): Promise<Driver> {
  const { Builder, By } = await load("selenium-webdriver");
  const chrome = await load("selenium-webdriver/chrome.js");
  const options = new chrome.Options().setChromeBinaryPath(chromium).addArguments(...chromiumArgs(visit), ...args);
  if (exclude.length) options.excludeSwitches(...exclude);
  const service = new chrome.ServiceBuilder("/usr/bin/chromedriver").setEnvironment(withDisplay(visit));
  const driver = await new Builder().forBrowser("chrome").setChromeOptions(options).setChromeService(service).build();
  const find = (selector: string) => driver.findElement(By.css(selector));
  return {
    open: (url) => driver.get(url),
    click: async (selector) => (await find(selector)).click(),
    type: async (selector, text) => (await find(selector)).sendKeys(text),
    close: () => driver.quit(),
  };
}

async function firefoxBidi(visit: Visit, headless: boolean): Promise<Driver> {
  const { launch } = await load("puppeteer-core");
  const browser = await launch({
    browser: "firefox",
    executablePath: "/usr/bin/firefox-esr",
    headless,
    acceptInsecureCerts: true,
    env: withDisplay(visit),
    extraPrefsFirefox: {
      "network.proxy.type": 1,
      "network.proxy.ssl": "127.0.0.1",
      "network.proxy.ssl_port": visit.front.proxyPort,
    },
  });
  const page = await browser.newPage();
  return {
    open: (url) => page.goto(url),
    click: (selector) => page.click(selector),
    type: (selector, text) => page.type(selector, text),
    close: () => browser.close(),
  };
}

/** The protocol by hand, without a library between. */
type CdpOptions = { headless: boolean; args?: string[]; human?: boolean; insert?: boolean; agent?: object };

async function cdp(visit: Visit, { headless, args = [], human = false, insert = false, agent }: CdpOptions): Promise<Driver> {
  const connect = (await load("chrome-remote-interface")).default;
  const profile = freshProfile();
  const child = spawn(
    chromium,
    [
      ...chromiumArgs(visit),
      ...(headless ? ["--headless=new"] : []),
      ...args,
      // Port 0 would set the webdriver flag.
      `--remote-debugging-port=${await freePort()}`,
      `--user-data-dir=${profile.folder}`,
      "about:blank",
    ],
    { env: withDisplay(visit), stdio: ["ignore", "ignore", "pipe"] },
  );
  const port = await debuggingPort(child);
  const client = await connect({ port, host: "127.0.0.1" });
  const { Page, Runtime, Input, Emulation } = client;
  await Page.enable();
  if (agent) await Emulation.setUserAgentOverride(agent);
  let [x, y] = [between(50, 400), between(50, 400)];
  const centre = async (selector: string): Promise<{ x: number; y: number }> => {
    const expression = `(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return JSON.stringify({x: b.x + b.width / 2, y: b.y + b.height / 2}) })()`;
    return JSON.parse((await Runtime.evaluate({ expression })).result.value);
  };
  const mouse = (type: string, more: object = {}) => Input.dispatchMouseEvent({ type, x, y, ...more });
  const click = async (selector: string) => {
    const to = await centre(selector);
    if (human) to.x += between(-8, 8);
    const from = { x, y };
    const steps = human ? Math.round(between(25, 50)) : 1;
    for (let step = 1; step <= steps; step++) {
      const share = human ? 1 - (1 - step / steps) ** 2 : 1;
      x = from.x + (to.x - from.x) * share;
      y = from.y + (to.y - from.y) * share + (human ? Math.sin(share * Math.PI) * 30 : 0);
      if (human) [x, y] = [Math.round(x), Math.round(y)];
      await mouse("mouseMoved");
      if (human) await sleep(between(8, 20));
    }
    const button = { button: "left", clickCount: 1 };
    await mouse("mousePressed", button);
    if (human) await sleep(between(60, 140));
    await mouse("mouseReleased", button);
  };
  return {
    async open(url) {
      await Page.navigate({ url });
      await Page.loadEventFired();
    },
    click,
    async type(selector, text) {
      await click(selector);
      if (insert) return Input.insertText({ text });
      for (const letter of text) {
        const key = { key: letter, text: letter, unmodifiedText: letter };
        await Input.dispatchKeyEvent({ type: "keyDown", ...key });
        if (human) await sleep(between(50, 120));
        await Input.dispatchKeyEvent({ type: "keyUp", ...key });
        if (human) await sleep(between(50, 220));
      }
      return undefined;
    },
    async close() {
      await client.close();
      child.kill();
      if (child.exitCode === null) await Promise.race([once(child, "exit"), sleep(3000)]);
      profile.remove();
    },
  };
}

async function debuggingPort(child: ChildProcess): Promise<number> {
  let text = "";
  for await (const part of child.stderr ?? []) {
    text += String(part);
    const port = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(text)?.[1];
    if (port) {
      // Keeps the pipe empty, so that the browser does not wait for it.
      child.stderr?.resume();
      return Number(port);
    }
  }
  throw new Error(`Chromium did not start: ${text.slice(-500)}`);
}

// ---- what they do

async function fillForm(driver: Driver, visit: Visit): Promise<void> {
  const at = selectors[visit.set];
  await driver.open(visit.url);
  await pageLoaded(visit, "/");
  if (visit.set === "judging") await sleep(between(600, 2500));
  await driver.click(at.next);
  await pageLoaded(visit, at.formPath);
  if (visit.set === "judging") {
    await sleep(between(300, 1800));
    await driver.type("[name=person]", "Robin Example");
  }
  await driver.type(at.email, visit.email);
  if (visit.set === "judging") await sleep(between(100, 900));
  await driver.click(at.send);
  await sleep(700);
}

async function bounce(driver: Driver, visit: Visit): Promise<void> {
  await driver.open(visit.url);
  await pageLoaded(visit, "/");
  await sleep(visit.set === "judging" ? 1200 : 500);
}

const tool = (name: string, open: (visit: Visit) => Promise<Driver>, more: Partial<SetUp> = {}): SetUp => ({
  name,
  group: "browser",
  hasForm: true,
  ...more,
  async run(visit) {
    const driver = await open(visit);
    try {
      await (more.hasForm === false ? bounce : fillForm)(driver, visit);
    } finally {
      await Promise.race([driver.close(), sleep(5000)]);
    }
  },
});

/** A plain command line, without a protocol. */
const commandLine = (name: string, args: string[]): SetUp => ({
  name,
  group: "browser",
  hasForm: false,
  async run(visit) {
    const profile = freshProfile();
    const child = spawn(
      chromium,
      [...chromiumArgs(visit), "--headless=new", `--user-data-dir=${profile.folder}`, ...args, visit.url],
      {
        env: withDisplay(visit),
        stdio: "ignore",
      },
    );
    await Promise.race([once(child, "exit"), sleep(20_000)]);
    child.kill();
    profile.remove();
  },
});

const device = {
  userAgent: iphoneAgent,
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 3,
  isMobile: true,
  hasTouch: true,
};
const spoofed = (platform: string) => ({
  userAgent: windowsAgent,
  platform: "Win32",
  userAgentMetadata: {
    platform,
    platformVersion: "15.0.0",
    architecture: "x86",
    model: "",
    mobile: false,
    brands: [
      { brand: "Chromium", version: "156" },
      { brand: "Google Chrome", version: "156" },
      { brand: "Not_A Brand", version: "99" },
    ],
  },
});
const phoneAgent =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36";

export const tools: readonly SetUp[] = [
  // Tools as they are: they say what they are.
  tool("puppeteer, headless", (visit) => puppeteer(visit, { headless: true })),
  tool("puppeteer, window", (visit) => puppeteer(visit, { headless: false })),
  tool("puppeteer, old headless shell", (visit) => puppeteer(visit, { headless: "shell" })),
  tool("puppeteer, headless, user agent of Windows", (visit) => puppeteer(visit, { headless: true, agent: windowsAgent })),
  tool("playwright, headless", (visit) => playwright(visit, { headless: true })),
  tool("playwright, window", (visit) => playwright(visit, { headless: false })),
  tool("playwright, iPhone", (visit) => playwright(visit, { headless: true, context: device })),
  tool("playwright-ghost", (visit) =>
    playwright(visit, { headless: false, package: "playwright-ghost", plugins: true, types: "keys" }),
  ),
  tool("patchright, headless", (visit) => playwright(visit, { headless: true, package: "patchright-core" })),
  tool("selenium, headless", (visit) => selenium(visit, ["--headless=new"])),
  tool("selenium, window", (visit) => selenium(visit, [])),
  tool("firefox, BiDi, headless", (visit) => firefoxBidi(visit, true)),
  tool("firefox, BiDi, window", (visit) => firefoxBidi(visit, false)),
  tool("protocol by hand, headless", (visit) => cdp(visit, { headless: true })),
  tool("rebrowser-puppeteer, headless", (visit) => puppeteer(visit, { headless: true, package: "rebrowser-puppeteer-core" })),
  // Crawlers by name.
  ...(
    [
      [
        "Googlebot, its network",
        "google",
        "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
      ],
      ["Googlebot, rented server", "hosted", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
      ["uptime monitor", "hosted", `${plainAgent} DatadogSynthetics`],
      ["link preview", "home", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"],
    ] as const
  ).map(([name, network, agent]) =>
    tool(name, (visit) => puppeteer(visit, { headless: true, args: [hiding], agent }), { network, hasForm: false }),
  ),
  // The flag hidden.
  tool("puppeteer, headless, hidden", (visit) =>
    puppeteer(visit, { headless: true, args: [hiding, `--user-agent=${plainAgent}`] }),
  ),
  tool("puppeteer, window, hidden", (visit) => puppeteer(visit, { headless: false, args: [hiding] })),
  tool("puppeteer, window, hidden, no viewport", (visit) =>
    puppeteer(visit, { headless: false, args: [hiding], viewport: null }),
  ),
  tool("puppeteer, window, hidden, slow keys", (visit) =>
    puppeteer(visit, { headless: false, args: [hiding], viewport: null, keyDelay: 80 }),
  ),
  tool("rebrowser-puppeteer, window, hidden", (visit) =>
    puppeteer(visit, { headless: false, args: [hiding], viewport: null, package: "rebrowser-puppeteer-core" }),
  ),
  tool("puppeteer, hidden, Chromium of Windows", (visit) =>
    puppeteer(visit, { headless: true, args: [hiding], agent: windowsAgent }),
  ),
  tool("stealth, headless", (visit) => stealth(visit, { headless: true })),
  tool("stealth, window", (visit) => stealth(visit, { headless: false })),
  tool("stealth, window, no viewport", (visit) => stealth(visit, { headless: false, viewport: null })),
  tool("stealth, rented server", (visit) => stealth(visit, { headless: false }), { network: "hosted" }),
  tool("stealth, ghost-cursor", (visit) => stealth(visit, { headless: false }, ghostCursor)),
  tool("ghost-cursor, headless, hidden", (visit) =>
    puppeteer(visit, { headless: true, args: [hiding, `--user-agent=${plainAgent}`] }, ghostCursor),
  ),
  tool("ghost-cursor, window, hidden", (visit) =>
    puppeteer(visit, { headless: false, args: [hiding], viewport: null }, ghostCursor),
  ),
  tool("playwright, window, hidden", (visit) => playwright(visit, { headless: false, args: [hiding] })),
  tool("playwright, window, hidden, no viewport, keys", (visit) =>
    playwright(visit, { headless: false, args: [hiding], types: "keys", context: { viewport: null } }),
  ),
  tool("playwright, headless, hidden", (visit) =>
    playwright(visit, { headless: true, args: [hiding, `--user-agent=${plainAgent}`], context: { userAgent: plainAgent } }),
  ),
  tool("playwright-extra, stealth", (visit) => playwrightExtra(visit)),
  tool("patchright, window", (visit) =>
    playwright(visit, { headless: false, package: "patchright-core", context: { viewport: null } }),
  ),
  tool("patchright, window, keys", (visit) =>
    playwright(visit, { headless: false, package: "patchright-core", types: "keys", context: { viewport: null } }),
  ),
  tool(
    "patchright, rented server",
    (visit) => playwright(visit, { headless: false, package: "patchright-core", context: { viewport: null } }),
    {
      network: "hosted",
    },
  ),
  tool("selenium, window, hidden", (visit) => selenium(visit, [hiding], ["enable-automation"])),
  tool("selenium, headless, hidden", (visit) =>
    selenium(visit, [hiding, "--headless=new", `--user-agent=${plainAgent}`], ["enable-automation"]),
  ),
  tool("protocol by hand, window", (visit) => cdp(visit, { headless: false })),
  tool("protocol by hand, headless, hidden", (visit) => cdp(visit, { headless: true, args: [`--user-agent=${plainAgent}`] })),
  tool("protocol by hand, window, inserted text", (visit) => cdp(visit, { headless: false, insert: true })),
  tool("protocol by hand, window, like a person", (visit) => cdp(visit, { headless: false, human: true })),
  tool("protocol by hand, window, spoofed Windows", (visit) => cdp(visit, { headless: false, agent: spoofed("Windows") })),
  tool("protocol by hand, phone without touch", (visit) =>
    cdp(visit, { headless: true, agent: { userAgent: phoneAgent, platform: "Linux armv81" } }),
  ),
  tool("mail scanner, data centre, spoofed", (visit) => cdp(visit, { headless: true, agent: spoofed("Windows") }), {
    network: "azure",
    hasForm: false,
  }),
  tool(
    "ad reviewer, ordinary user agent",
    (visit) => puppeteer(visit, { headless: true, args: [hiding, `--user-agent=${plainAgent}`] }),
    {
      network: "google",
      hasForm: false,
    },
  ),
  commandLine("chromium --dump-dom", ["--dump-dom", "--virtual-time-budget=5000", `--user-agent=${plainAgent}`]),
  commandLine("chromium --screenshot", ["--screenshot=/dev/null", "--virtual-time-budget=5000"]),
];

async function playwrightExtra(visit: Visit): Promise<Driver> {
  const { addExtra } = await load("playwright-extra");
  const core = await load("playwright-core");
  const plugin = await load("puppeteer-extra-plugin-stealth");
  const extra = addExtra((core.default ?? core).chromium);
  extra.use((plugin.default ?? plugin)());
  const browser = await extra.launch({
    executablePath: chromium,
    headless: false,
    args: [...chromiumArgs(visit), hiding],
    env: withDisplay(visit),
  });
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  return {
    open: (url) => page.goto(url),
    click: (selector) => page.click(selector),
    type: (selector, text) => page.fill(selector, text),
    close: () => browser.close(),
  };
}
