// `npm run standins`: all stand-ins on loopback, until stopped.

import { parseArgs } from "node:util";
import { standinConnections } from "../scripts/standinConnections.ts";
import { standins, type StandinId } from "./index.ts";
import { startStandins } from "./shared/start.ts";

const usage = `Usage: npm run standins -- [--port 4700] [--only google_ads,meta] [--no-rate-limits]

  --port            the first of consecutive ports; 0 takes free ones (default 4700)
  --only            some stand-ins instead of all
  --no-rate-limits  answer as fast as they can instead of throttling as the platforms do`;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "4700" },
    only: { type: "string" },
    "no-rate-limits": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const port = Number(values.port);
const ids = standins.map(({ id }) => id);
const only = values.only?.split(",") as StandinId[] | undefined;
const unknown = only?.find((id) => !ids.includes(id));

if (values.help) {
  console.log(usage);
} else if (!Number.isInteger(port) || port < 0 || port + ids.length > 65_536 || unknown !== undefined) {
  console.error(unknown === undefined ? "--port must be a port number." : `There is no stand-in "${unknown}".`);
  console.error(usage);
  process.exitCode = 1;
} else {
  const running = await startStandins({
    port,
    rateLimits: !values["no-rate-limits"],
    ...(only ? { only } : {}),
  });
  for (const [id, origin] of Object.entries(running.origins)) console.log(`${id.padEnd(16)}${origin}`);
  // All of them would be too much to read.
  for (const id of only ?? []) {
    console.log(`\n${id} accepts a connection with these settings:`);
    for (const [name, value] of Object.entries(standinConnections[id])) console.log(`${name.padEnd(18)}${value}`);
  }
  console.log("\nFor the relay:");
  console.log(`CLEANCAST_PLATFORM_ORIGINS='${JSON.stringify(running.origins)}'`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void running.close());
}
