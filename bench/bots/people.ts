// People: browsers that are started with an address and nothing else, on a screen with a window manager. xdotool moves the
// mouse and presses the keys, with the times of hands. Those with phones are in phones.ts.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { X509Certificate } from "node:crypto";
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { handsOn, ordinary, type Hand, type Hands } from "./display.ts";
import { certificate, type PageNews, type Place } from "./front.ts";
import { selectors } from "./pages.ts";
import { shop } from "./relay.ts";
import { chromium, chromiumArgs, freshProfile } from "./tools.ts";
import { peopleWithPhones } from "./phones.ts";
import { between, pageLoaded, sleep, type SetUp, type Visit } from "./visit.ts";

type Habits = {
  hand?: Hand;
  /** keyboard: no mouse at all. tap: a touchpad that presses and releases at once. */
  pointer?: "mouse" | "keyboard" | "tap";
  entry?: "keys" | "paste" | "suggested" | "manager" | "submits" | "inserted" | "auto-type";
  submit?: "click" | "enter";
  /** The page cannot tell where it is on the screen. */
  isPlaceHidden?: boolean;
  /** Leaves after the landing page. */
  bounces?: boolean;
};

/** Fields that the browser remembers from other sites' forms. */
const remembered = { tuning: "email", judging: "mail" };

type Started = {
  child: ChildProcess;
  remove(): void;
  /** Opens the page of the next person; a browser without it is started anew. */
  open?(url: string): Promise<void>;
};

export function startChromium(visit: Visit, url: string, args: readonly string[]): Started {
  const profile = freshProfile();
  const all = [
    ...chromiumArgs(visit),
    `--user-data-dir=${profile.folder}`,
    "--window-size=1200,720",
    "--window-position=20,20",
    ...args,
  ];
  const isApp = args.some((arg) => arg === "--app");
  const run = (page: string) =>
    spawn(chromium, isApp ? [...all.filter((arg) => arg !== "--app"), `--app=${page}`] : [...all, page], {
      stdio: "ignore",
      env: { ...process.env, DISPLAY: visit.display },
    });
  // A second start with the same profile opens a tab in the first one's window.
  return { child: run(url), remove: () => profile.remove(), open: async (next) => void (await once(run(next), "exit")) };
}

function startFirefox(visit: Visit, url: string, preferences: Record<string, unknown>, args: readonly string[] = []): Started {
  const profile = freshProfile();
  const all = {
    "network.proxy.type": 1,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": visit.front.proxyPort,
    "browser.shell.checkDefaultBrowser": false,
    "browser.aboutwelcome.enabled": false,
    "datareporting.policy.dataSubmissionEnabled": false,
    "browser.startup.homepage_override.mstone": "ignore",
    "startup.homepage_welcome_url": "",
    "app.normandy.enabled": false,
    "termsofuse.acceptedVersion": 9,
    "termsofuse.acceptedDate": "1770000000000",
    "browser.preonboarding.enabled": false,
    ...preferences,
  };
  const lines = Object.entries(all).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
  writeFileSync(join(profile.folder, "user.js"), lines.join("\n"));
  writeFormHistory(join(profile.folder, "formhistory.sqlite"), remembered[visit.set], visit.email);
  const { fingerprint256 } = new X509Certificate(certificate.cert);
  writeFileSync(
    join(profile.folder, "cert_override.txt"),
    `# PSM Certificate Override Settings file\n${shop}:443:\tOID.2.16.840.1.101.3.4.2.1\t${fingerprint256}\t\n`,
  );
  const child = spawn(
    "/usr/bin/firefox-esr",
    ["--no-remote", "--new-instance", "--profile", profile.folder, "--width", "1200", "--height", "720", ...args, url],
    {
      stdio: "ignore",
      env: { ...process.env, DISPLAY: visit.display, HOME: profile.folder },
    },
  );
  const hands = handsOn(visit.display);
  return {
    child,
    remove: () => profile.remove(),
    async open(next) {
      await hands.combination("ctrl+t");
      await sleep(400);
      await hands.autoType(next);
      await hands.combination("Return");
    },
  };
}

/** What Firefox suggests in a field: the schema is its own (toolkit/components/satchel). */
function writeFormHistory(file: string, field: string, value: string): void {
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE moz_formhistory (id INTEGER PRIMARY KEY, fieldname TEXT NOT NULL, value TEXT NOT NULL,
      timesUsed INTEGER, firstUsed INTEGER, lastUsed INTEGER, guid TEXT);
    CREATE TABLE moz_deleted_formhistory (id INTEGER PRIMARY KEY, timeDeleted INTEGER, guid TEXT);
    CREATE TABLE moz_sources (id INTEGER PRIMARY KEY, source TEXT NOT NULL);
    CREATE TABLE moz_history_to_sources (history_id INTEGER, source_id INTEGER, PRIMARY KEY (history_id, source_id)) WITHOUT ROWID;
    PRAGMA user_version = 5`);
  const now = Date.now() * 1000;
  database
    .prepare(
      "INSERT INTO moz_formhistory (fieldname, value, timesUsed, firstUsed, lastUsed, guid) VALUES (?, ?, 9, ?, ?, 'a1b2c3d4')",
    )
    .run(field, value, now, now);
  database.close();
}

function startWebKit(visit: Visit, url: string): Started {
  const profile = freshProfile();
  mkdirSync(join(profile.folder, "data"));
  const child = spawn(
    miniBrowser,
    [`--proxy=http://127.0.0.1:${visit.front.proxyPort}`, "--ignore-tls-errors", "--private", "--geometry=1200x700", url],
    {
      stdio: "ignore",
      env: { ...process.env, DISPLAY: visit.display, HOME: profile.folder, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" },
    },
  );
  return { child, remove: () => profile.remove() };
}

const architecture = process.arch === "arm64" ? "aarch64" : "x86_64";
const miniBrowser = `/usr/lib/${architecture}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

async function enterEmail(hands: Hands, visit: Visit, { entry = "keys" }: Habits, place: () => Promise<void>): Promise<void> {
  switch (entry) {
    case "keys":
      await place();
      return hands.type(visit.email);
    case "auto-type":
      await place();
      return hands.autoType(visit.email);
    case "paste":
      // There is no other program to copy from: the address bar serves.
      await hands.combination("ctrl+l");
      await hands.autoType(visit.email);
      for (const keys of ["ctrl+a", "ctrl+c", "Escape", "Escape"]) await hands.combination(keys);
      await place();
      return hands.combination("ctrl+v");
    case "suggested":
      await place();
      await sleep(700);
      return hands.key("Down", "Down", "Return");
    case "inserted":
      await place();
      return hands.key("F8");
    case "manager":
    case "submits":
      return hands.key("F8");
  }
}

/** Landing page, a link, the form: by mouse, or by keys alone. */
async function visitAsPerson(visit: Visit, habits: Habits): Promise<void> {
  const { formPath } = selectors[visit.set];
  const isKeyboard = habits.pointer === "keyboard";
  const tap: Hand = { ...ordinary, pressMs: [2, 12] };
  const hands = handsOn(visit.display, habits.pointer === "tap" ? tap : (habits.hand ?? ordinary));
  const place = async (news: PageNews, name: string): Promise<Place> =>
    habits.isPlaceHidden ? hands.find(news, name) : (news.places[name] ?? { x: 0, y: 0 });
  const landing = await pageLoaded(visit, "/", 150_000);
  await sleep(between(300, 900));
  if (habits.bounces) {
    if (!isKeyboard) await hands.wander();
    await hands.scroll(2);
    await sleep(between(500, 1500));
    // Leaves for another page: what was seen is reported then.
    await hands.combination("ctrl+l");
    await hands.autoType("about:blank");
    await hands.combination("Return");
    return sleep(600);
  }
  if (isKeyboard) await hands.key("Tab", "Return");
  else {
    if (visit.set === "judging") await hands.wander();
    await hands.click(await place(landing, "next"));
  }
  const form = await pageLoaded(visit, formPath, 20_000);
  await sleep(between(300, 900));
  if (visit.set === "judging" && habits.entry !== "submits") {
    if (isKeyboard) await hands.key("Tab");
    else await hands.click(await place(form, "name"));
    await hands.type("robin");
  }
  await enterEmail(hands, visit, habits, async () => {
    if (isKeyboard) await hands.key("Tab");
    else await hands.click(await place(form, "email"));
  });
  await sleep(between(150, 600));
  if (habits.entry === "submits") return sleep(600);
  if (isKeyboard && habits.entry === "manager") await hands.key(...(visit.set === "judging" ? ["Tab"] : ["Tab", "Return"]));
  if (isKeyboard || habits.submit === "enter") await hands.key("Return");
  else await hands.click(await place(form, "send"));
  await sleep(900);
}

type PersonOptions = Habits & Pick<SetUp, "network" | "strips">;

const person = (name: string, start: (visit: Visit, url: string) => Started, options: PersonOptions = {}): SetUp => {
  const { network, strips, ...habits } = options;
  const helper = habits.entry === "manager" || habits.entry === "submits" || habits.entry === "inserted";
  return {
    name,
    group: "person",
    hasForm: !habits.bounces,
    ...(network ? { network } : {}),
    ...(strips ? { strips } : {}),
    async run(visit, next) {
      const { email } = visit;
      // The page's script that stands for the password manager reads its task from the address.
      const urlOf = ({ url }: Visit) => (helper ? `${url}#${habits.entry}=${visit.email}` : url);
      let started = start(visit, urlOf(visit));
      try {
        await visitAsPerson(visit, habits);
        while (await next()) {
          // The browser suggests what its profile has.
          if (habits.entry === "suggested") visit.email = email;
          if (started.open) await started.open(urlOf(visit));
          else {
            await stop(started);
            started = start(visit, urlOf(visit));
          }
          await visitAsPerson(visit, habits);
        }
      } finally {
        await stop(started);
      }
    },
  };
};

export async function stop({ child, ...started }: Started): Promise<void> {
  child.kill();
  if (child.exitCode === null) await Promise.race([once(child, "exit"), sleep(4000)]);
  if (child.exitCode === null) child.kill("SIGKILL");
  started.remove();
}

const withChromium = (name: string, args: readonly string[] = [], options: PersonOptions = {}) =>
  person(`Chromium, ${name}`, (visit, url) => startChromium(visit, url, args), options);
const withFirefox = (
  name: string,
  preferences: Record<string, unknown> = {},
  options: PersonOptions = {},
  args: readonly string[] = [],
) => person(`Firefox, ${name}`, (visit, url) => startFirefox(visit, url, preferences, args), options);
const withWebKit = (name: string, options: PersonOptions = {}) => person(`WebKit, ${name}`, startWebKit, options);

const quick: Hand = { pressMs: [35, 80], holdMs: [40, 80], gapMs: [25, 110] };
const hintHeaders = ["sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"];
const fetchHeaders = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];
const slow: Hand = { pressMs: [120, 420], holdMs: [90, 260], gapMs: [200, 700] };

export const people: readonly SetUp[] = [
  withChromium("mouse"),
  withChromium("quick", [], { hand: quick }),
  withChromium("slow", [], { hand: slow }),
  withChromium("touchpad taps", [], { pointer: "tap" }),
  withChromium("Enter key", [], { submit: "enter" }),
  withChromium("keyboard only", [], { pointer: "keyboard" }),
  withChromium("screen reader's use", ["--force-renderer-accessibility"], { pointer: "keyboard", hand: slow }),
  withChromium("pasted email", [], { entry: "paste" }),
  withChromium("password manager fills", [], { entry: "manager" }),
  withChromium("password manager submits", [], { entry: "submits" }),
  withChromium("password manager submits, VPN", [], { entry: "submits", network: "hosted" }),
  withChromium("dictation or text tool inserts", [], { entry: "inserted" }),
  withChromium("dictation or text tool inserts, VPN", [], { entry: "inserted", network: "hosted" }),
  withChromium("KeePass types", [], { entry: "auto-type" }),
  withChromium("leaves again", [], { bounces: true }),
  withChromium("small window, German", ["--window-size=700,620", "--lang=de", "--accept-lang=de-DE,de"]),
  withChromium("window of 800 × 600", ["--window-size=800,600"]),
  withChromium("incognito", ["--incognito"]),
  withChromium("whole screen", ["--start-fullscreen"]),
  withChromium("app window", ["--app"]),
  withChromium("large pixels", ["--force-device-scale-factor=1.25"], { isPlaceHidden: true }),
  withChromium("no graphics card", ["--disable-gpu", "--disable-3d-apis"]),
  withChromium("VPN in a data centre", [], { network: "hosted" }),
  withChromium("VPN, touchpad taps", [], { network: "hosted", pointer: "tap" }),
  withChromium("VPN, keyboard only", [], { network: "hosted", pointer: "keyboard" }),
  withChromium("VPN, pasted email", [], { network: "hosted", entry: "paste" }),
  withChromium("privacy relay", [], { network: "relay" }),
  withChromium("carrier network", [], { network: "carrier" }),
  withChromium("keyboard only, password manager fills", [], { pointer: "keyboard", entry: "manager" }),
  withChromium("old and slow computer", ["--js-flags=--jitless", "--disable-gpu"], { hand: slow }),
  withChromium("gateway removes client hints", [], { network: "azure", strips: hintHeaders }),
  withChromium("gateway removes fetch metadata", [], { network: "azure", strips: [...hintHeaders, ...fetchHeaders] }),
  withFirefox("mouse"),
  withFirefox("quick", {}, { hand: quick }),
  withFirefox("touchpad taps", {}, { pointer: "tap" }),
  withFirefox("keyboard only", {}, { pointer: "keyboard" }),
  withFirefox("pasted email", {}, { entry: "paste" }),
  withFirefox("resists fingerprinting", { "privacy.resistFingerprinting": true }, { isPlaceHidden: true }),
  withFirefox("resists fingerprinting, keyboard only", { "privacy.resistFingerprinting": true }, { pointer: "keyboard" }),
  withFirefox(
    "resists fingerprinting, VPN, keyboard only",
    { "privacy.resistFingerprinting": true },
    { pointer: "keyboard", network: "hosted" },
  ),
  withFirefox("no beacons", { "beacon.enabled": false }),
  withFirefox("no cookies", { "network.cookie.cookieBehavior": 2 }),
  withFirefox("private window", {}, {}, ["--private-window"]),
  withFirefox("German, strict protection", { "intl.accept_languages": "de-DE,de", "browser.contentblocking.category": "strict" }),
  withFirefox("KeePass types, VPN", {}, { entry: "auto-type", network: "hosted" }),
  withFirefox("the browser's suggestion", {}, { entry: "suggested" }),
  withFirefox("the browser's suggestion, keyboard only", {}, { entry: "suggested", pointer: "keyboard" }),
  withFirefox("password manager submits", {}, { entry: "submits" }),
  withFirefox("carrier network, slow", {}, { network: "carrier", hand: slow }),
  withFirefox("screen reader's use", { "accessibility.force_disabled": -1 }, { pointer: "keyboard", hand: slow }),
  withFirefox("large pixels", { "layout.css.devPixelsPerPx": "1.25" }, { isPlaceHidden: true }),
  withFirefox("VPN in a data centre", {}, { network: "hosted" }),
  withFirefox("leaves again", {}, { bounces: true }),
  withWebKit("leaves again", { bounces: true }),
  withWebKit("keyboard only", { pointer: "keyboard" }),
  withWebKit("keyboard only, slow", { pointer: "keyboard", hand: slow }),
  ...peopleWithPhones,
];
