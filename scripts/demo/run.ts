// Runs the demo: writes its history, starts the relay on it, and sends live traffic until it is stopped.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../src/installation/config.ts";
import { makeDataFolder } from "../../src/installation/dataFolder.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { createProgress } from "./progress.ts";
import { createRandom } from "./random.ts";
import { writeHistory } from "./history.ts";
import { liveTraffic } from "./liveTraffic.ts";
import { allowedPrivate, startReceiver } from "./webhook.ts";

const command = fileURLToPath(new URL("../../bin/cleancast.mjs", import.meta.url));

export type DemoOptions = {
  port: string;
  days: number;
  /** Ends after a few events. */
  isShort: boolean;
  /** Without live traffic, and with one line of JSON. */
  isQuiet: boolean;
};

export async function runDemo(options: DemoOptions): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "cleancast-demo-"));
  const ending: (() => unknown)[] = [() => rmSync(data, { recursive: true, force: true })];
  async function stop(): Promise<void> {
    for (let end = ending.pop(); end; end = ending.pop()) await end();
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop().then(() => process.exit(0)));
  try {
    await start(options, data, ending);
    if (options.isShort) await stop();
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start({ port, days, isShort, isQuiet }: DemoOptions, data: string, ending: (() => unknown)[]): Promise<void> {
  const print = (text: string) => void (isQuiet || console.log(text));
  const standins = await startStandins();
  ending.push(() => standins.close());
  const receiver = await startReceiver();
  ending.push(() => receiver.close());
  const env = {
    ...process.env,
    CLEANCAST_DATA: data,
    HOST: "127.0.0.1",
    PORT: port,
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
    CLEANCAST_ALLOW_PRIVATE: allowedPrivate,
    CLEANCAST_RETRY_SECONDS: "5",
    LOG_LEVEL: "silent",
  };

  const progress = createProgress(isQuiet ? null : process.stdout);
  const config = readConfig(env);
  makeDataFolder(config);
  const history = await writeHistory({
    location: config.store,
    encryptionKey: config.encryptionKey(),
    now: Date.now(),
    days,
    receiver,
    onProgress: (step, share) =>
      progress.show(step === "events" ? `Writing ${days} days of history` : "Computing statistics", share),
  });
  progress.show("Starting the relay", 1);

  const relay = spawn(process.execPath, [command, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => relay.once("exit", () => resolve()));
  ending.push(() => {
    relay.kill("SIGTERM");
    return ended;
  });
  const origin = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error("the relay did not start")));
    let output = "";
    relay.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const [, address] = /is running on (http:\/\/localhost:\d+)/.exec(output) ?? [];
      if (address) resolve(address);
    });
  });

  progress.end();

  const live = liveTraffic(origin.replace("localhost", "127.0.0.1"), history, createRandom(7), (error) =>
    console.error(`The demo's live traffic failed: ${String(error)}`),
  );
  ending.push(() => live.stop());
  const converted: { email: string; answer: string }[] = [];
  for (let i = 0; i < (isQuiet ? 0 : 6); i++) {
    // The second person has a visit, so that "Find a person" shows something.
    converted.push(await live.convert(i % 4 ? history.shop : history.product, i === 1 ? true : undefined));
    await live.bot(history.shop);
  }
  // Also without live traffic: the pages of sources show what became of requests.
  for (const source of history.sources)
    for (let i = 0; i < (isShort ? 1 : 9); i++) {
      const answer = await live.sendWebhook(source);
      if (answer !== '{"ok":true}') throw new Error(`the relay did not take a request of ${source.sender.name}: ${answer}`);
    }
  const rejected = converted.filter(({ answer }) => !answer.includes('"ok":true'));
  if (rejected.length)
    throw new Error(`the relay did not accept every event: ${rejected.map(({ answer }) => answer).join("\n")}`);

  const { owner, viewer, password } = history.signIns;
  const { rejectedOrder } = history;
  const why = rejectedOrder
    ? `npx cleancast why ${rejectedOrder.orderId} --site ${history.shop.demo.host}        (${rejectedOrder.platform} rejected it)`
    : `npx cleancast event list ${history.shop.demo.host}`;
  const connected = new Set([history.shop, history.product].flatMap(({ demo }) => demo.platforms.map(([id]) => id)));
  if (isQuiet)
    console.log(JSON.stringify({ origin, site: history.shop.siteId, product: history.product.siteId, ...history.signIns }));
  print(`
A relay with ${connected.size} platforms, each connected to its stand-in, and ${history.sources.length} sources is running with ${history.events} events of ${days} days.

  Dashboard   ${origin}/dashboard/
  Sign in     ${owner}
  Password    ${password}        (${viewer} has the same password and is read-only)
  A person    ${converted[1]?.email}        (of ${history.shop.demo.host}: Configuration, Consent & privacy, Find a person)

Look at first:
  Overview    why deliveries failed, and the alert of a platform that needs to be connected again
  Sources     what Stripe, Shopify and three others sent, and what became of it
  Funnel      how many orders of the shop reached Google Ads, and why the others did not

From the command line:
  CLEANCAST_DATA=${data} ${why}
  CLEANCAST_DATA=${data} npx cleancast event list ${history.shop.demo.host}
  CLEANCAST_DATA=${data} npx cleancast traffic bots ${history.shop.demo.host}
  curl ${standins.origins["meta"]}/__standin/log        (what a platform received)

Send an event and watch it arrive:
  curl ${origin}/__cc/inbound -H 'X-CC-Api-Key: ${history.shop.key}' -H 'Content-Type: application/json' \\
    -d '{"email":"person1@customers.example","event":"purchase","orderId":"my-1","value":99,"currency":"EUR"}'

Ctrl-C stops the demo and removes its data.`);

  if (!isShort && !isQuiet) live.start();
}
