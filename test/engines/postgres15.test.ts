// Relays on PostgreSQL 15, the oldest version that is supported: under load, and while the server is killed and started again. The
// tests run wherever it is installed.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkedText, isLongRun, isMissing, createFigures, statusText } from "../support/engines/figures.ts";
import { measureCost, createTwoNodes, type Load } from "../support/engines/load.ts";
import { findInstalled } from "../support/postgres/binaries.ts";
import { startPostgres, withClient, type Postgres } from "../support/postgres/postgres.ts";
import { emptyInstallation, eventually, type Installation } from "../support/relay.ts";

const version = 15;
const installed = findInstalled(version);
const figures = createFigures(`postgresql-${version}`);
const senders = 8;
const loadMs = isLongRun ? 10_000 : 500;

describe.skipIf(isMissing(`PostgreSQL ${version}`, installed, `install the package postgresql-${version}`))(
  `PostgreSQL ${version}`,
  { timeout: 600_000 },
  () => {
    let postgres: Postgres;
    let home: Installation;
    let load: Load;
    let keys: readonly string[];
    /** As the server says it, with the number of the minor version. */
    let name: string;

    beforeAll(async () => {
      // A server that is killed must have what it has committed.
      postgres = await startPostgres({ installed: installed ?? "", settings: { synchronous_commit: "on" } });
      home = await emptyInstallation("postgres", { LOG_LEVEL: "silent" });
      home.env.DATABASE_URL = await postgres.createDatabase();
      const shown = await withClient(postgres.url, (client) => client.query<{ server_version: string }>("SHOW server_version"));
      name = `PostgreSQL ${shown.rows[0]?.server_version.split(" ")[0]}`;
      ({ load, keys } = await createTwoNodes(home));
    });
    afterAll(async () => {
      figures.publish();
      await postgres?.stop();
    });

    test("two nodes store and deliver every order that they answer", async () => {
      expect(name).toMatch(new RegExp(`^PostgreSQL ${version}\\.`));
      const { sent, databaseUs, nodesUs } = await measureCost(load, keys, senders, loadMs, () => [postgres.cpuMs()]);
      const checked = await load.check();
      figures.note(
        `${name}, two nodes`,
        `${statusText(sent.statuses)}, p50 ${sent.p50} ms; CPU of an event: database ${databaseUs[0]} µs, nodes ${nodesUs} µs; ${checkedText(checked)}`,
      );
      expect(Object.keys(sent.statuses)).toEqual(["200"]);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
    });

    test("a server that is killed under load and started again has every order that was answered", async () => {
      async function killAndRestart(): Promise<void> {
        await sleep(loadMs);
        await postgres.kill();
        await postgres.restart();
        await eventually("events are accepted again", async () => (await load.send(keys)) === 200);
        await sleep(loadMs);
      }
      const sent = await load.sendDuring(keys, senders, killAndRestart());
      const checked = await load.check();
      figures.note(
        `${name}, killed and started again`,
        `${(sent.gapMs / 1000).toFixed(1)} s without a 200; ${statusText(sent.statuses)}; of ${checked.answered} orders so far ${checkedText(checked)}`,
      );
      expect(Object.keys(sent.statuses).filter((status) => status !== "503")).toEqual(["200"]);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
      expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
      for (const relay of load.relays) expect(await relay.stop()).toBe(0);
    });
  },
);
