// `npm run demo` starts a relay with two months of history, three sites, every platform connected to its stand-in, and live
// traffic. Its data folder is removed when it ends.
//
// `npm run demo -- --help` lists the options. They are read before the sources of the relay are loaded, which takes seconds.

import { once } from "node:events";
import { createServer } from "node:net";
import { parseArgs } from "node:util";
import { errorCode } from "../../src/kernel/errorCode.ts";

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

await checkPort(Number(values.port));
if (!values.quiet && process.stdout.isTTY) process.stdout.write("Loading …");
const { runDemo } = await import("./run.ts");
await runDemo({ port: values.port, days, isShort: values.once, isQuiet: values.quiet });

/** Writing the history takes a while: a port that is taken must show before. */
async function checkPort(port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") throw error;
    console.error(`Port ${port} is already in use. Choose another: npm run demo -- --port 9080, or PORT=9080 npm run demo`);
    process.exit(1);
  } finally {
    probe.close();
  }
}
