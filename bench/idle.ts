// `npx node bench/idle.ts` measures how much CPU a relay uses that has thousands of sites and nothing to do. Each site has a key and a
// connection. The first minutes are reported apart: after a start the relay dueWork once at every site. The rest covers every job
// that runs periodically.

import { standinConnections } from "../scripts/standinConnections.ts";
import { connect } from "../src/sites/connect.ts";
import { createDirectory } from "../src/sites/directory.ts";
import { addKey, addSite, findSite } from "../src/sites/manage.ts";
import { cpuOf, cpuOfFamily, sleep } from "./support/processes.ts";
import { install, connectStoreOf, postmaster, startRelay, stopPostgres, type Engine } from "./support/relay.ts";

// The default is longer than the longest interval of a job.
const [engine = "sqlite", siteCount = "10000", minutes = "10"] = process.argv.slice(2);
const measuredMs = Number(minutes) * 60_000;
const startMs = measuredMs / 2;

// Nothing else keeps this process running while it waits for its commands.
const running = setInterval(() => {}, 60_000);
const installation = await install(engine as Engine, [], null);
const store = await connectStoreOf(installation);
const directory = createDirectory(store);
await directory.refresh();
const context = { store, directory };
const by = { actor: "bench", now: Date.now(), checkAddress: () => null };
for (let n = 1; n < Number(siteCount); n++) {
  const { id } = await addSite(context, `quiet-${n}.example.com`, by);
  await addKey(context, findSite(context, id), { name: "bench", mode: "live", expiresAt: null }, by);
  await connect(context, findSite(context, id), "meta", standinConnections.meta, by);
}
await store.close();

const relay = await startRelay(installation);

const databasePid = engine === "postgres" ? await postmaster() : null;
const readCpu = () => [cpuOf(relay.pid), databasePid === null ? 0 : cpuOfFamily(databasePid)] as const;

/** Returns the share of one core that the relay uses, and the database server where there is one. */
async function measureFor(ms: number): Promise<string> {
  const [[relayBefore, databaseBefore], began] = [readCpu(), performance.now()];
  await sleep(ms);
  const [relayAfter, databaseAfter] = readCpu();
  const share = (us: number) => `${(us / (performance.now() - began) / 10).toFixed(2)} %`;
  const database = databasePid === null ? "" : ` (the database ${share(databaseAfter - databaseBefore)})`;
  return `${share(relayAfter - relayBefore)}${database}`;
}
const first = await measureFor(startMs);
const idle = await measureFor(measuredMs);
console.log(
  `${engine}, ${siteCount} sites: ${first} of a core in the first ${Number(minutes) / 2} minutes, ${idle} in the next ${minutes}`,
);
await relay.stop();
await stopPostgres();
clearInterval(running);
process.exit(0);
