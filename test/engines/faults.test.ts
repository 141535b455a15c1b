// The same faults on every engine that is installed, under the load of a sender from outside. Every order has to be stored once and
// received. One whose call was in flight when its relay was killed may be received twice, under the id that platforms recognise.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { isLongRun, isMissing, isRun, publishRows } from "../support/engines/figures.ts";
import { createOutsideSender, type Counted } from "../support/engines/outsideSender.ts";
import { setUpSite } from "../support/installation.ts";
import { findInstalled } from "../support/postgres/binaries.ts";
import { findCitus, hostOf, startCitus } from "../support/postgres/citus.ts";
import { createGateway } from "../support/postgres/gateway.ts";
import { findPatroni, startPatroni } from "../support/postgres/patroni.ts";
import { startPostgres, type Postgres } from "../support/postgres/postgres.ts";
import { startReceiver } from "../support/receiver.ts";
import { emptyInstallation, type Relay } from "../support/relay.ts";
import { startPgBouncer } from "../support/servers/pgbouncer.ts";
import { findProgram } from "../support/servers/programs.ts";

const senders = 4;
const calmMs = isLongRun ? 2000 : 300;
const downMs = isLongRun ? 3000 : 500;
/** Longer than a request waits for its answer. */
const silentMs = isLongRun ? 15_000 : 2000;

type Engine = {
  /** What the relays have as DATABASE_URL, and that of the database itself. */
  url: string;
  directUrl: () => Promise<string>;
  /** Each ends with what was broken back, though perhaps not ready yet. */
  faults: Record<string, () => Promise<unknown>>;
  stop: () => Promise<unknown>;
};

const killed = (server: Postgres) => async () => {
  await server.kill();
  await sleep(downMs);
  await server.restart();
};

const silent = (server: Pick<Postgres, "freeze" | "thaw">) => async () => {
  server.freeze();
  await sleep(silentMs);
  server.thaw();
};

/** A server that has what it has committed, also when it is killed. */
async function startPlain(installed?: string | null, behind = async (url: string) => url): Promise<Engine> {
  const server = await startPostgres({ settings: { synchronous_commit: "on" }, ...(installed && { installed }) });
  const directUrl = await server.createDatabase();
  const seen = await behind(directUrl);
  const gateway = await createGateway(seen);
  const away = (mode: "silent" | "closed", ms: number) => async () => {
    gateway.mode = mode;
    if (mode === "closed") gateway.cut();
    await sleep(ms);
    gateway.mode = "open";
    // What was lost in between cannot be sent again here.
    gateway.cut();
  };
  return {
    url: seen.replace(new URL(seen).host, gateway.host),
    directUrl: async () => directUrl,
    faults: {
      "the database killed": killed(server),
      "the database silent": silent(server),
      "the network silent": away("silent", silentMs),
      "connections refused": away("closed", downMs),
    },
    stop: () => server.stop(),
  };
}

async function startCluster(): Promise<Engine> {
  const citus = await startCitus(findCitus() ?? "");
  const url = await citus.createDatabase(2);
  const [worker] = citus.workers as [Postgres];
  const listed = [citus.coordinator, ...citus.workers].map(hostOf).join(",");
  return {
    url: url.replace(hostOf(citus.coordinator), listed),
    directUrl: async () => url,
    faults: {
      "the database killed": killed(worker),
      "the database silent": silent(worker),
      "the coordinator killed": killed(citus.coordinator),
      "the coordinator silent": silent(citus.coordinator),
    },
    stop: () => citus.stop(),
  };
}

async function startReplicated(): Promise<Engine> {
  const patroni = await startPatroni(findPatroni() ?? expect.unreachable("Patroni was found"));
  const database = await patroni.createDatabase();
  const leader = async () => (await patroni.settle()).leader;
  return {
    url: patroni.url(database),
    directUrl: () => patroni.leaderUrl(database),
    faults: {
      "the database killed": async () => patroni.killPostgres(await leader()),
      "the machine of the primary killed": async () => {
        const lost = await leader();
        await patroni.killMember(lost);
        await patroni.settle();
        await patroni.startMember(lost);
      },
      switchover: () => patroni.switchOver(),
    },
    stop: () => patroni.stop(),
  };
}

const pgbouncer = findProgram("pgbouncer");
const behindPooler = async (url: string) => {
  const settings = { server_login_retry: "1" };
  return `${await startPgBouncer(pgbouncer ?? "", url, "transaction", settings)}?cleancast=transaction-pooler`;
};

const engines: [name: string, isFound: unknown, remedy: string, start: () => Promise<Engine>][] = [
  ["PostgreSQL 18", true, "", () => startPlain()],
  ["PostgreSQL 15", findInstalled(15), "install postgresql-15", () => startPlain(findInstalled(15))],
  ["PgBouncer", pgbouncer, "install the package pgbouncer", () => startPlain(null, behindPooler)],
  ["Patroni", findPatroni(), "install patroni, etcd-server and postgresql-15", startReplicated],
  ["Citus", findCitus(), "install it into a PostgreSQL of this machine", startCluster],
];

const head = [
  "engine",
  "fault",
  "orders",
  "no 200 for",
  "not stored",
  "stored twice",
  "not received",
  "twice, same id",
  "twice, other id",
];

// The short run is for what can be had everywhere.
for (const [name, isFound, remedy, start] of isLongRun ? engines : engines.slice(0, 1))
  describe.skipIf(!isRun || isMissing(name, isFound, remedy))(`faults on ${name}`, { timeout: 900_000 }, () => {
    const rows: string[][] = [];
    let engine: Engine | null = null;
    afterAll(async () => {
      publishRows("faults", head, name, rows);
      await engine?.stop();
    }, 600_000);

    test("every order is stored once and received, and none is sent under two ids", async () => {
      const { url, directUrl, faults } = (engine = await start());
      const receiver = await startReceiver();
      // The limits of a relay as operators start it, and not those of the other tests.
      const home = await emptyInstallation("postgres", { LOG_LEVEL: "silent", CLEANCAST_ANSWER_SECONDS: "10" });
      home.env.DATABASE_URL = url;
      const keys: string[] = [];
      for (const host of ["one.example.com", "two.example.com"])
        keys.push((await setUpSite(home, [["webhook", { url: receiver.url }]], host)).key);
      const relays: [Relay, Relay] = [await home.start(), await home.start()];
      const sender = createOutsideSender(async () => home.with({ DATABASE_URL: await directUrl() }), relays, keys, receiver);
      async function killRelay(): Promise<void> {
        await relays[0].kill();
        await sleep(downMs);
        relays[0] = await home.start();
      }
      async function stopRelays(): Promise<void> {
        for (const at of [0, 1] as const) {
          expect(await relays[at].stop()).toBe(0);
          relays[at] = await home.start();
        }
      }
      const all = { ...faults, "a relay killed": killRelay, "relays stopped in turn": stopRelays };
      for (const [fault, run] of Object.entries(all)) {
        const counted = await sender.sendDuring(
          senders,
          sleep(calmMs)
            .then(run)
            .then(() => sleep(calmMs)),
        );
        rows.push(rowOf(fault, counted));
        expect({ fault, ...counted }).toMatchObject({ notStored: 0, storedTwice: 0, notReceived: 0, twiceOtherId: 0 });
        if (run !== killRelay) expect({ fault, ...counted }).toMatchObject({ twiceSameId: 0 });
      }
      for (const relay of relays) expect(await relay.stop()).toBe(0);
    });
  });

const rowOf = (fault: string, { orders, gapMs, ...counts }: Counted) => [
  fault,
  String(orders),
  `${(gapMs / 1000).toFixed(1)} s`,
  ...[counts.notStored, counts.storedTwice, counts.notReceived, counts.twiceSameId, counts.twiceOtherId].map(String),
];
