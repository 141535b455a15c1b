// `npm run demo` starts a relay with two months of history, three sites, every platform connected to its stand-in, and live
// traffic. Its data folder is removed when it ends.
//
// `npm run demo -- --help` lists the options.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readConfig } from "../../src/installation/config.ts";
import { makeDataFolder } from "../../src/installation/dataFolder.ts";
import { errorCode } from "../../src/kernel/errorCode.ts";
import { Refusal } from "../../src/kernel/refusal.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { createProgress } from "./progress.ts";
import { createRandom } from "./random.ts";
import { writeHistory } from "./history.ts";
import { liveTraffic } from "./liveTraffic.ts";
import { allowedPrivate, startReceiver } from "./webhook.ts";

const command = fileURLToPath(new URL("../../bin/cleancast.mjs", import.meta.url));
const usage = `npm run demo -- [options]

  --port N   the port to listen on (also PORT; 8080 by default)
  --days N   days of history, from 1 to 90 (62 by default)
  --once     a short history and a few events, then ends
  --quiet    no live traffic, and one line of JSON`;

function readOptions() {
  try {
    return parseArgs({
      options: {
        port: { type: "string", default: process.env["PORT"] || "8080" },
        days: { type: "string" },
        once: { type: "boolean", default: false },
        quiet: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split(". ", 1)[0] ?? "") : "");
  }
}

function refuse(fault: string): never {
  console.error(`${fault}.\n\n${usage}`);
  process.exit(2);
}

const values = readOptions();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const days = Number(values.days ?? (values.once ? 2 : 62));
if (!(days >= 1 && days <= 90)) refuse("--days takes a number from 1 to 90");
if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) refuse("--port takes a number from 0 to 65535");
const print = (text: string) => void (values.quiet || console.log(text));

const data = mkdtempSync(join(tmpdir(), "cleancast-demo-"));
const ending: (() => unknown)[] = [() => rmSync(data, { recursive: true, force: true })];
async function stop(): Promise<void> {
  for (let end = ending.pop(); end; end = ending.pop()) await end();
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop().then(() => process.exit(0)));

async function run(): Promise<void> {
  await checkPort(Number(values.port));
  const standins = await startStandins();
  ending.push(() => standins.close());
  const receiver = await startReceiver();
  ending.push(() => receiver.close());
  const env = {
    ...process.env,
    CLEANCAST_DATA: data,
    HOST: "127.0.0.1",
    PORT: values.port,
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
    CLEANCAST_ALLOW_PRIVATE: allowedPrivate,
    CLEANCAST_RETRY_SECONDS: "5",
    LOG_LEVEL: "silent",
  };

  const progress = createProgress(values.quiet ? null : process.stdout);
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
      const port = /is running on http:\/\/localhost:(\d+)/.exec(output)?.[1];
      if (port) resolve(`http://localhost:${port}`);
    });
  });

  progress.end();

  const live = liveTraffic(origin.replace("localhost", "127.0.0.1"), history, createRandom(7), (error) =>
    console.error(`The demo's live traffic failed: ${String(error)}`),
  );
  ending.push(() => live.stop());
  const converted: { email: string; answer: string }[] = [];
  for (let i = 0; i < (values.quiet ? 0 : 6); i++) {
    // The second person has a visit, so that "Find a person" shows something.
    converted.push(await live.convert(i % 4 ? history.shop : history.product, i === 1 ? true : undefined));
    await live.bot(history.shop);
  }
  // Also without live traffic: the pages of sources show what became of requests.
  for (const source of history.sources)
    for (let i = 0; i < (values.once ? 1 : 9); i++) {
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
  if (values.quiet)
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

  if (values.once) await stop();
  else if (!values.quiet) live.start();
}

/** Writing the history takes a while: a port that is taken must show before. */
async function checkPort(port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") throw error;
    throw new Refusal(
      "port",
      `Port ${port} is already in use. Choose another: npm run demo -- --port 9080, or PORT=9080 npm run demo`,
    );
  } finally {
    probe.close();
  }
}

await run().catch(async (error: unknown) => {
  await stop();
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
});
