// Programs that post reports without a browser, and farms: many clicks of one operator. They send what a browser would send,
// recorded from one, with new ids.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { load, type Tool } from "./packages.ts";
import { selectors } from "./pages.ts";
import { shop } from "./relay.ts";
import { between, clickId, sleep, type SetUp, type Visit } from "./visit.ts";

const origin = `https://${shop}`;
const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

/** The headers of a beacon, in the order of Chromium. */
const beaconHeaders: Record<string, string> = {
  "sec-ch-ua-platform": '"Windows"',
  "user-agent": agent,
  "sec-ch-ua": '"Not:A-Brand";v="8", "Chromium";v="156", "Google Chrome";v="156"',
  "content-type": "text/plain;charset=UTF-8",
  "sec-ch-ua-mobile": "?0",
  accept: "*/*",
  origin,
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "no-cors",
  "sec-fetch-dest": "empty",
  referer: `${origin}/`,
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en-US,en;q=0.9",
  priority: "u=4, i",
};

type Post = { path: string; body: object };
type Client = (visit: Visit, post: Post, headers: Record<string, string>) => Promise<unknown>;

const browser = [false, "Win32", 0, true];
/** How a person used the page from which these reports were recorded. */
const use = [2, 92, 0, 0, 18, 85, 151, 12, 0, 0, false, false, 0, false, false, 66, 2];
const sha = () => Array.from({ length: 64 }, () => "0123456789abcdef"[Math.floor(Math.random() * 16)]).join("");
const newVisitor = () => randomUUID().slice(-22);

/** The reports of one visit: landing page, second page, form. */
function reportsOf(
  { set }: Visit,
  { gclid = clickId(), visitors = [newVisitor(), newVisitor()], withForm = true, emails = [sha()] } = {},
): Post[] {
  const report = (visitor: string, path: string) => ({
    visitor,
    consent: {},
    browser,
    params: { gclid, utm_source: "google", utm_medium: "cpc" },
    cookies: {},
    page: origin + path,
    referrer: "https://www.google.com",
  });
  const [first = "", second = ""] = visitors;
  const { formPath } = selectors[set];
  return [
    { path: "/__cc/visit", body: report(first, "/") },
    ...(withForm
      ? [
          { path: "/__cc/visit", body: report(second, formPath) },
          {
            path: "/__cc/identify",
            body: {
              ...report(second, formPath),
              emails,
              submit: [Math.round(between(6000, 30_000)), Math.round(between(20, 40)), false, use],
            },
          },
        ]
      : []),
  ];
}

const pauseOf = (visit: Visit) => (visit.set === "judging" ? between(1500, 4000) : 2500);

async function replay(visit: Visit, client: Client, headers: Record<string, string>, posts = reportsOf(visit)): Promise<void> {
  for (const post of posts) {
    await client(visit, post, headers).catch(() => {});
    await sleep(pauseOf(visit));
  }
}

const url = ({ front }: Visit, path: string) => `https://127.0.0.1:${front.port}${path}`;
const insecure = { rejectUnauthorized: false, servername: shop };

const undici: Client = async (visit, { path, body }, headers) => {
  const { Agent, request } = await load("undici");
  const dispatcher = new Agent({ connect: insecure, allowH2: true });
  await request(url(visit, path), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { host: shop, ...headers },
    dispatcher,
  });
  await dispatcher.close();
};
const got: Client = async (visit, { path, body }, headers) => {
  const module = await load("got");
  await module.default.post(url(visit, path), {
    body: JSON.stringify(body),
    headers: { ...headers, host: shop },
    https: { rejectUnauthorized: false },
    retry: { limit: 0 },
  });
};
const axios: Client = async (visit, { path, body }, headers) => {
  const module = await load("axios");
  const { Agent } = await import("node:https");
  const client = module.default ?? module;
  await client.post(url(visit, path), JSON.stringify(body), {
    headers: { ...headers, host: shop },
    httpsAgent: new Agent(insecure),
  });
};
const nodeFetch: Client = async (visit, { path, body }, headers) => {
  const module = await load("node-fetch");
  const { Agent } = await import("node:https");
  await module.default(url(visit, path), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { ...headers, host: shop },
    agent: new Agent(insecure),
  });
};
const curl =
  (...args: string[]): Client =>
  async (visit, { path, body }, headers) => {
    const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const target = `${origin}${path}`;
    const all = [
      "-sk",
      "-o",
      "/dev/null",
      "--connect-to",
      `${shop}:443:127.0.0.1:${visit.front.port}`,
      ...args,
      ...given,
      "--data-binary",
      JSON.stringify(body),
      target,
    ];
    const child = spawn("curl", all, { stdio: "ignore" });
    await once(child, "exit");
  };

const program = (
  name: string,
  client: Client,
  headers: Record<string, string> = beaconHeaders,
  more: Partial<SetUp> = {},
): SetUp => ({
  name,
  group: "program",
  hasForm: true,
  run: (visit) => replay(visit, client, headers),
  ...more,
});

const verbatim = new Map<string, Post[]>();

/** Sends the same bytes as the visit before. */
async function replayVerbatim(visit: Visit): Promise<void> {
  const posts = verbatim.get(visit.set) ?? reportsOf(visit, { withForm: true });
  verbatim.set(visit.set, posts);
  await replay(visit, undici, beaconHeaders, posts);
}

/** Fetches the tag as a browser does, keeps no cookie, and submits the emails of others by a script. */
async function submitMany(visit: Visit): Promise<void> {
  const { Agent, request } = await load("undici");
  const dispatcher = new Agent({ connect: insecure, allowH2: true });
  const { body } = await request(url(visit, "/__cc/tag.js"), { headers: { host: shop, "user-agent": agent }, dispatcher });
  await body.dump();
  await dispatcher.close();
  for (let n = 0; n < 12; n++) {
    const submit = [Math.round(between(1800, 4000)), 0, true];
    const posts = reportsOf(visit).map((post) => ("submit" in post.body ? { ...post, body: { ...post.body, submit } } : post));
    for (const post of n === 0 ? posts : posts.slice(2)) await undici(visit, post, beaconHeaders).catch(() => {});
    await sleep(between(200, 600));
  }
}

async function domLibrary(visit: Visit, open: (visit: Visit) => Promise<Tool>): Promise<void> {
  const window = await open(visit);
  // On a busy machine the scripts take a while.
  await sleep(8000);
  window.close?.();
}

export const programs: readonly SetUp[] = [
  program("curl", curl(), { origin, "content-type": "text/plain" }),
  program("curl, user agent of Chrome", curl("-A", agent), { origin, "content-type": "text/plain;charset=UTF-8" }),
  program("curl, all headers", curl(), beaconHeaders),
  program("curl, all headers, HTTP/1.1", curl("--http1.1"), beaconHeaders),
  program("undici, all headers", undici),
  program("got, all headers", got),
  program("axios, all headers", axios),
  program("node-fetch, all headers", nodeFetch),
  program("undici, rented server", undici, beaconHeaders, { network: "hosted" }),
  program("undici, headers of a page load", undici, {
    "user-agent": agent,
    "sec-ch-ua": beaconHeaders["sec-ch-ua"] ?? "",
    "sec-ch-ua-platform": '"Windows"',
    "sec-ch-ua-mobile": "?0",
    "upgrade-insecure-requests": "1",
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    origin,
    "content-type": "text/plain;charset=UTF-8",
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
    "accept-encoding": "gzip, deflate, br, zstd",
    "accept-language": "en-US,en;q=0.9",
  }),
  program("axios, JSON", axios, {
    ...beaconHeaders,
    "content-type": "application/json",
    accept: "application/json, text/plain, */*",
  }),
  program("form robot, rented server", undici, beaconHeaders, { network: "hosted", run: submitMany }),
  program("undici, the same report again", undici, beaconHeaders, { run: replayVerbatim }),
  program("jsdom", undici, beaconHeaders, {
    hasForm: false,
    run: (visit) =>
      domLibrary(visit, async () => {
        const { JSDOM, ResourceLoader } = await load("jsdom");
        const resources = ResourceLoader ? new ResourceLoader({ strictSSL: false }) : "usable";
        process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
        const local = visit.url.replace(origin, `https://127.0.0.1:${visit.front.port}`);
        // jsdom has no way to send a report; programs that use it lend it one.
        const beforeParse = (window: Tool) => {
          window.fetch = (path: string, options: object) =>
            fetch(new URL(path, local), {
              ...options,
              headers: { origin, "user-agent": window.navigator.userAgent, "content-type": "text/plain;charset=UTF-8" },
            });
        };
        const dom = await JSDOM.fromURL(local, { runScripts: "dangerously", resources, pretendToBeVisual: true, beforeParse });
        return dom.window;
      }),
  }),
  program("happy-dom", undici, beaconHeaders, {
    hasForm: false,
    run: (visit) =>
      domLibrary(visit, async () => {
        const { Browser } = await load("happy-dom");
        process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
        const page = new Browser({ settings: { enableJavaScriptEvaluation: true, fetch: { disableStrictSSL: true } } }).newPage();
        await page.goto(visit.url.replace(origin, `https://127.0.0.1:${visit.front.port}`));
        return { close: () => void page.close() };
      }),
  }),
];

/** Posts many ad clicks from the address of this visit. */
const farm = (
  name: string,
  visits: { tuning: number; judging: number },
  client: Client,
  pauseMs: number,
  more: Partial<SetUp> = {},
): SetUp => ({
  name,
  group: "farm",
  async run(visit) {
    for (let n = 0; n < visits[visit.set]; n++) {
      const posts = reportsOf(visit, { withForm: n % 10 === 9 });
      for (const post of posts) await client(visit, post, beaconHeaders).catch(() => {});
      await sleep(pauseMs * between(0.5, 1.5));
    }
  },
  ...more,
});

export const farms: readonly SetUp[] = [
  farm("farm: 400 clicks of one program at once", { tuning: 200, judging: 400 }, undici, 10),
  farm("farm: 60 clicks of one program, slowly", { tuning: 40, judging: 60 }, undici, 900),
  farm("farm: rented server", { tuning: 40, judging: 60 }, undici, 300, { network: "hosted" }),
];
