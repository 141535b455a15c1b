// Programs that were written after the rules, and that no rule was tuned against. They know the tag, and each imitates a person in its own
// way. Whatever they teach goes into the rules only with other recordings.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { handsOn } from "./display.ts";
import { load, type Tool } from "./packages.ts";
import { selectors } from "./pages.ts";
import { startChromium, stop } from "./people.ts";
import { shop } from "./relay.ts";
import { chromium, chromiumArgs } from "./tools.ts";
import { clickId, pageLoaded, sleep, type SetUp, type Visit } from "./visit.ts";

const hidden = ["--disable-blink-features=AutomationControlled", "--window-size=1200,720"];

async function withPage(visit: Visit, work: (page: Tool, protocol: Tool) => Promise<void>): Promise<void> {
  const { launch } = await load("puppeteer-core");
  const browser = await launch({
    executablePath: chromium,
    headless: false,
    defaultViewport: null,
    ignoreDefaultArgs: ["--enable-automation"],
    args: [...chromiumArgs(visit), ...hidden],
    env: { ...process.env, DISPLAY: visit.display },
    acceptInsecureCerts: true,
  });
  try {
    const [page] = await browser.pages();
    await work(page, await page.createCDPSession());
  } finally {
    await Promise.race([browser.close(), sleep(5000)]);
  }
}

async function centreOf(page: Tool, selector: string): Promise<{ x: number; y: number }> {
  const box = await (await page.$(selector)).boundingBox();
  return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
}

type Hands = { click: (selector: string) => Promise<void>; type: (text: string) => Promise<void> };

/** The pages of a visit: the landing page, its link, and the form. */
async function walk(visit: Visit, page: Tool, { click, type }: Hands): Promise<void> {
  const at = selectors[visit.set];
  await page.goto(visit.url);
  await pageLoaded(visit, "/");
  await sleep(900);
  await click(at.next);
  await pageLoaded(visit, at.formPath);
  await sleep(900);
  await click(at.email);
  await type(visit.email);
  await click(at.send);
  await sleep(900);
}

/** Mouse moves along straight lines with constant steps; a constant time for each press, key and pause. */
const straightLines = (visit: Visit) =>
  withPage(visit, (page) =>
    walk(visit, page, {
      async click(selector) {
        const { x, y } = await centreOf(page, selector);
        await page.mouse.move(x, y, { steps: 30 });
        await page.mouse.down();
        await sleep(80);
        await page.mouse.up();
      },
      async type(text) {
        for (const letter of text) {
          await page.keyboard.down(letter);
          await sleep(60);
          await page.keyboard.up(letter);
          await sleep(80);
        }
      },
    }),
  );

/** The times of a session that was recorded once: how long each button and key was down, and the pause after it. */
const recordedPresses = [94, 71, 118];
const recordedKeys = [
  [88, 61],
  [102, 143],
  [67, 22],
  [95, 187],
  [79, 54],
  [110, 96],
  [84, 31],
  [73, 128],
  [99, 70],
  [91, 212],
  [62, 45],
  [105, 83],
] as const;
/** The way of the mouse as shares of the whole, with its bow in pixels. */
const recordedWay = [
  [0.02, 1, 9],
  [0.07, 4, 11],
  [0.15, 9, 8],
  [0.27, 15, 12],
  [0.42, 19, 9],
  [0.58, 18, 10],
  [0.73, 13, 8],
  [0.85, 8, 14],
  [0.93, 4, 11],
  [0.98, 1, 16],
  [1, 0, 40],
] as const;

const recordedSession = (visit: Visit) =>
  withPage(visit, async (page, protocol) => {
    let from = { x: 420, y: 260 };
    let presses = 0;
    const mouse = (type: string, x: number, y: number, buttons = 0) =>
      protocol.send("Input.dispatchMouseEvent", { type, x, y, button: buttons ? "left" : "none", buttons, clickCount: buttons });
    await walk(visit, page, {
      async click(selector) {
        const to = await centreOf(page, selector);
        for (const [share, bow, pauseMs] of recordedWay) {
          await mouse(
            "mouseMoved",
            Math.round(from.x + (to.x - from.x) * share),
            Math.round(from.y + (to.y - from.y) * share + bow),
          );
          await sleep(pauseMs);
        }
        await mouse("mousePressed", to.x, to.y, 1);
        await sleep(recordedPresses[presses++ % recordedPresses.length] ?? 90);
        await protocol.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...to, button: "left", clickCount: 1 });
        from = to;
      },
      async type(text) {
        for (const [at, letter] of Array.from(text).entries()) {
          const [holdMs, pauseMs] = recordedKeys[at % recordedKeys.length] ?? [90, 90];
          await page.keyboard.down(letter);
          await sleep(holdMs);
          await page.keyboard.up(letter);
          await sleep(pauseMs);
        }
      },
    });
  });

/** No protocol at all: a script presses the mouse and the keys of the screen, at constant intervals. */
async function screenScript(visit: Visit): Promise<void> {
  const started = startChromium(visit, visit.url, []);
  const hands = handsOn(visit.display);
  const { formPath } = selectors[visit.set];
  const press = async (path: string, name: string) => {
    const { places } = await pageLoaded(visit, path, 60_000);
    const { x, y } = places[name] ?? { x: 0, y: 0 };
    await hands.run(["mousemove", String(x), String(y), "sleep", "0.3", "click", "1"]);
    await sleep(300);
  };
  try {
    await press("/", "next");
    await press(formPath, "email");
    await hands.run(["type", "--delay", "100", visit.email]);
    await sleep(300);
    await press(formPath, "send");
    await sleep(900);
  } finally {
    await stop(started);
  }
}

/** Fetches the page, the tag and its second part, keeps the cookie, and posts every report that a browser posts, with its headers. */
const python = `
import hashlib, http.client, json, random, ssl, sys, time, uuid
port, host, gclid, email, form, fetches = sys.argv[1:]
context = ssl._create_unverified_context()
agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
hints = [("sec-ch-ua-platform", '"Windows"'), ("User-Agent", agent),
  ("sec-ch-ua", '"Not:A-Brand";v="8", "Chromium";v="156", "Google Chrome";v="156"'), ("sec-ch-ua-mobile", "?0")]
cookie = ""
def send(method, path, body=None, dest="empty"):
  global cookie
  connection = http.client.HTTPSConnection("127.0.0.1", int(port), context=context)
  connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
  headers = [("Host", host)] + hints + [("Accept", "*/*")]
  if body is not None: headers += [("Content-Type", "text/plain;charset=UTF-8"), ("Content-Length", str(len(body))), ("Origin", "https://" + host)]
  headers += [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", dest),
    ("Referer", "https://" + host + "/"), ("Accept-Encoding", "gzip, deflate, br, zstd"), ("Accept-Language", "en-US,en;q=0.9")]
  if cookie: headers.append(("Cookie", cookie))
  for name, value in headers: connection.putheader(name, value)
  connection.endheaders(body.encode() if body is not None else None)
  answer = connection.getresponse()
  answer.read()
  for value in answer.headers.get_all("Set-Cookie") or []: cookie = value.split(";")[0]
def between(low, high): return random.randint(low, high)
def use(keys): return [between(1, 3), between(60, 130), 0, 0, keys, between(70, 110), between(120, 190), between(5, 20), 0, 0, False, False, 0, False, False, between(45, 95), between(1, 4)]
browser = [False, "Win32", 0, True]
def report(path, visitor, more={}):
  return json.dumps({"visitor": visitor, "consent": {}, "browser": browser, "params": {"gclid": gclid, "utm_source": "google"}, "cookies": {}, "page": "https://" + host + path, "referrer": "https://www.google.com", **more})
if fetches == "yes":
  for file in ["tag", "use"]: send("GET", "/__cc/" + file + ".js", dest="script")
visitor = str(uuid.uuid4())[-22:]
send("POST", "/__cc/visit", report("/", visitor))
time.sleep(between(20, 40) / 10)
send("POST", "/__cc/use", json.dumps({"browser": browser, "use": use(0)}))
visitor = str(uuid.uuid4())[-22:]
send("POST", "/__cc/visit", report(form, visitor))
time.sleep(between(30, 60) / 10)
emails = [hashlib.sha256(email.encode()).hexdigest()]
send("POST", "/__cc/identify", report(form, visitor, {"emails": emails, "submit": [between(6000, 20000), between(22, 40), False, use(len(email))]}))
`;

async function pythonProgram({ set, front, email }: Visit, fetches: "yes" | "no"): Promise<void> {
  const args = ["-c", python, String(front.port), shop, clickId(), email, selectors[set].formPath, fetches];
  await once(spawn("python3", args, { stdio: ["ignore", "inherit", "inherit"] }), "exit");
}

const attack = (name: string, run: (visit: Visit) => Promise<void>): SetUp => ({ name, group: "attack", hasForm: true, run });

export const attacks: readonly SetUp[] = [
  attack("attack: straight lines and constant times", straightLines),
  attack("attack: the session of a person, recorded", recordedSession),
  attack("attack: a script at the screen, without a protocol", screenScript),
  attack("attack: Python with all reports, fetches the tag", (visit) => pythonProgram(visit, "yes")),
  attack("attack: Python with all reports, does not fetch the tag", (visit) => pythonProgram(visit, "no")),
];
