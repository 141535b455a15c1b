// Traffic that goes on while the demo runs: somebody visits, and now and then somebody buys.

import { request } from "node:http";
import { hashPerson, PlainEmail } from "../../src/identity/person.ts";
import type { Chance } from "./chance.ts";
import { coming, newCustomer } from "./people.ts";
import type { Opened } from "./sites.ts";

export type Live = {
  /** A person converts, mostly after a visit; returns who it was, and the relay's answer. */
  convert(opened: Opened, isSeen?: boolean): Promise<{ email: string; answer: string }>;
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

  type Answer = { text: string; cookie: string | undefined };

  function post(path: string, headers: Record<string, string>, body: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(`${origin}${path}`, { method: "POST", headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () =>
          resolve({ text, cookie: answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] }),
        );
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  }

  /** What the tag reports: that somebody is there, and who it is once they say so. */
  async function visit(
    { demo }: Opened,
    email: string | null,
    headers: Record<string, string> = {},
  ): Promise<void> {
    const { browser, seen, clickIds, browserIds, utm } = coming(chance, demo.host, Date.now());
    const from = {
      Host: demo.host,
      Origin: `https://${demo.host}`,
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": seen.address,
      "User-Agent": browser.userAgent,
      ...browser.headers,
      ...headers,
    };
    const says = {
      browser: browser.script,
      page: seen.page,
      referrer: seen.referrer,
      params: { ...clickIds, ...utm },
      cookies: browserIds,
    };
    const { cookie } = await post("/__cc/visit", from, says);
    if (email !== null)
      await post(
        "/__cc/identify",
        { ...from, ...(cookie ? { Cookie: cookie } : {}) },
        { ...says, emails: [hashPerson({ email: new PlainEmail(email) }).emailSha256] },
      );
  }

  async function convert(
    opened: Opened,
    isSeen = chance.happens(0.75),
  ): Promise<{ email: string; answer: string }> {
    const { demo, key } = opened;
    const customer = newCustomer(chance, ++number);
    if (isSeen) await visit(opened, customer.email);
    const kind = chance.weighted(demo.kinds.filter(({ name }) => name !== "refund"));
    const { text: answer } = await post(
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
    return { email: customer.email, answer };
  }

  const bot = (opened: Opened) =>
    visit(opened, null, { "User-Agent": "Mozilla/5.0 (compatible; SemrushBot/7~bl)" });

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
