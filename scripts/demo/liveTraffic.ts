// The traffic of the running demo: visits, and a conversion now and then.

import { request } from "node:http";
import { hashPerson, PlainEmail } from "../../src/identity/person.ts";
import type { Random } from "./random.ts";
import { drawArrival, newCustomer } from "./people.ts";
import type { CreatedSite } from "./sites.ts";
import { nextRequest, type DemoSource } from "./sources.ts";

type Live = {
  /** Sends a conversion, by default in most cases after a visit; returns the email and the relay's answer. */
  convert(created: CreatedSite, hasVisit?: boolean): Promise<{ email: string; answer: string }>;
  bot(created: CreatedSite): Promise<void>;
  /** Lets a sender send its own webhook; returns the relay's answer. */
  sendWebhook(source: DemoSource): Promise<string>;
  start(): void;
  stop(): void;
};

export function liveTraffic(
  origin: string,
  sites: { shop: CreatedSite; product: CreatedSite; sources: readonly DemoSource[] },
  random: Random,
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
        answer.on("end", () => resolve({ text, cookie: answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] }));
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  }

  /** Sends the tag's report of a visit, and of the email if there is one. */
  async function visit({ demo }: CreatedSite, email: string | null, headers: Record<string, string> = {}): Promise<void> {
    const { browser, seen, clickIds, browserIds, utm } = drawArrival(random, demo, Date.now());
    const from = {
      Host: demo.host,
      Origin: `https://${demo.host}`,
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": seen.address,
      "User-Agent": browser.userAgent,
      ...browser.headers,
      ...headers,
    };
    const report = {
      browser: browser.script,
      page: seen.page,
      referrer: seen.referrer,
      params: { ...clickIds, ...utm },
      cookies: browserIds,
    };
    const { cookie } = await post("/__cc/visit", from, report);
    if (email !== null)
      await post(
        "/__cc/identify",
        { ...from, ...(cookie ? { Cookie: cookie } : {}) },
        { ...report, emails: [hashPerson({ email: new PlainEmail(email) }).emailSha256] },
      );
  }

  async function convert(created: CreatedSite, hasVisit = random.chance(0.75)): Promise<{ email: string; answer: string }> {
    const { demo, key } = created;
    const customer = newCustomer(random, ++number);
    if (hasVisit) await visit(created, customer.email);
    const kind = random.pickWeighted(demo.kinds.filter(({ name, after }) => name !== "refund" && after === undefined));
    const { text: answer } = await post(
      "/__cc/inbound",
      { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      {
        ...customer,
        event: kind.name,
        ...(kind.value === null ? {} : { value: Math.round(kind.value * (50 + 100 * random.number())) / 100 }),
        currency: random.chance(demo.dollars) ? "USD" : "EUR",
        ...(kind.hasOrder ? { orderId: `${demo.orderPrefix}${number}` } : {}),
      },
    );
    return { email: customer.email, answer };
  }

  const bot = (created: CreatedSite) => visit(created, null, { "User-Agent": "Mozilla/5.0 (compatible; SemrushBot/7~bl)" });

  async function sendWebhook(source: DemoSource): Promise<string> {
    const { path, headers, body } = nextRequest(source, random, ++number);
    return (await post(path, headers, body)).text;
  }

  async function next(): Promise<void> {
    const created = random.chance(0.8) ? sites.shop : sites.product;
    const what = random.number();
    if (what < 0.25) await sendWebhook(random.pick(sites.sources));
    else if (what < 0.5) await convert(created);
    else if (what < 0.6) await bot(created);
    else await visit(created, null);
  }

  function start(): void {
    timer = setTimeout(
      () =>
        void next()
          .catch(onError)
          .finally(() => timer && start()),
      random.integer(1500, 5000),
    );
  }

  return {
    convert,
    bot,
    sendWebhook,
    start,
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
