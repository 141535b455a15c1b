// Traffic that goes on while the demo runs: somebody visits, and now and then somebody buys.

import { request } from "node:http";
import { personOf } from "../src/identity/person.ts";
import type { Chance } from "./demoChance.ts";
import { coming, newCustomer } from "./demoPeople.ts";
import type { Opened } from "./demoSites.ts";

export type Live = {
  /** A person visits and converts; returns the answers. */
  convert(opened: Opened): Promise<string>;
  bot(opened: Opened): Promise<void>;
  start(): void;
  stop(): void;
};

export function liveTraffic(
  origin: string,
  sites: { shop: Opened; product: Opened },
  chance: Chance,
  onError: (error: unknown) => void,
): Live {
  let number = 900_000;
  let timer: NodeJS.Timeout | undefined;

  function post(path: string, headers: Record<string, string>, body: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(`${origin}${path}`, { method: "POST", headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () => resolve(text));
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  }

  /** What the tag reports. */
  function visit(
    { demo }: Opened,
    email: string | null,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const { browser, seen, clickIds, browserIds, utm } = coming(chance, demo.host, Date.now());
    return post(
      "/__cc/identify",
      {
        Host: demo.host,
        Origin: `https://${demo.host}`,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": seen.address,
        "User-Agent": browser.userAgent,
        ...browser.headers,
        ...headers,
      },
      {
        ...(email === null ? {} : { emails: [personOf({ email }).email] }),
        browser: browser.script,
        page: seen.page,
        referrer: seen.referrer,
        params: { ...clickIds, ...utm },
        cookies: browserIds,
      },
    );
  }

  async function convert(opened: Opened): Promise<string> {
    const { demo, key } = opened;
    const customer = newCustomer(chance, ++number);
    if (chance.happens(0.75)) await visit(opened, customer.email);
    const kind = chance.weighted(demo.kinds.filter(({ name }) => name !== "refund"));
    return post(
      "/__cc/inbound",
      { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      {
        ...customer,
        event: kind.name,
        ...(kind.value === null
          ? {}
          : { value: Math.round(kind.value * (50 + 100 * chance.number())) / 100 }),
        currency: chance.happens(demo.dollars) ? "USD" : "EUR",
        ...(kind.hasOrder ? { orderId: `${demo.orderPrefix}${number}` } : {}),
      },
    );
  }

  const bot = async (opened: Opened) =>
    void (await visit(opened, null, { "User-Agent": "Mozilla/5.0 (compatible; SemrushBot/7~bl)" }));

  async function next(): Promise<void> {
    const opened = chance.happens(0.8) ? sites.shop : sites.product;
    const what = chance.number();
    if (what < 0.45) await convert(opened);
    else if (what < 0.6) await bot(opened);
    else await visit(opened, null);
  }

  function start(): void {
    timer = setTimeout(
      () =>
        void next()
          .catch(onError)
          .finally(() => timer && start()),
      chance.whole(1500, 5000),
    );
  }

  return {
    convert,
    bot,
    start,
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
