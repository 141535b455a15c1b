// A site moves to a Citus cluster and from one, while nodes work on both sides. It is slow, so `npm test` leaves it out.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { lockTables, unlockTables } from "../../src/store/maintenance/siteLock.ts";
import { openDatabase } from "../../src/store/open.ts";
import { isLongRun, isMissing, isRun, openFigures } from "../support/engines/figures.ts";
import { findCitus, hostOf, startCitus, type Citus } from "../support/postgres/citus.ts";
import { withClient } from "../support/postgres/postgres.ts";
import { emptyInstallation, newInstallation, type Installation } from "../support/relay.ts";
import { moveThereAndBack, moveUnderLoad, openTarget, patient, type Moved } from "../support/siteMove.ts";

const found = isRun ? findCitus() : null;
const figures = openFigures("site-move");
const shardCount = isLongRun ? 32 : 2;

describe.skipIf(
  !isRun || isMissing("A move on Citus", found, "install it into a PostgreSQL of this machine"),
)("a site on Citus", { timeout: 600_000 }, () => {
  let citus: Citus;
  beforeAll(async () => {
    citus = await startCitus(found ?? "");
  }, 300_000);
  afterAll(async () => {
    figures.publish();
    await citus?.stop();
  }, 120_000);

  /** Commands of the test go to the coordinator, and nodes to every machine. */
  async function newCluster(): Promise<{ home: Installation; serve: Record<string, string> }> {
    const home = await emptyInstallation("postgres", patient);
    const url = await citus.createDatabase(shardCount);
    home.env.DATABASE_URL = url;
    const hosts = [citus.coordinator, ...citus.workers].map(hostOf).join(",");
    return { home, serve: { DATABASE_URL: url.replace(hostOf(citus.coordinator), hosts) } };
  }

  const note = (what: string, { rows, readOnlyMs, otherMaxMs }: Moved) =>
    figures.note(
      what,
      `${rows} rows, read-only for ${(readOnlyMs / 1000).toFixed(1)} s; the slowest answer to an event of another site here ${Math.round(otherMaxMs)} ms`,
    );

  test("from the embedded database it moves to Citus and back, and every row stays as it is", async () => {
    const { home, serve } = await newCluster();
    await moveThereAndBack(await newInstallation("sqlite", patient), await openTarget(home, serve));
  });

  test("other sites wait a moment for a table that becomes read-only, also while a transaction holds it", async () => {
    const { home } = await newCluster();
    await home.run("site", "add", "shop.example.com");
    const database = new URL(home.env["DATABASE_URL"] ?? "").pathname;
    // Nodes write to workers directly: the coordinator sees no lock of theirs.
    const worker = new URL(database, citus.workers[0]?.url).href;
    const db = openDatabase(readConfig(home.env).store);
    onTestFinished(() => db.close());
    const claimFor = (siteId: string) =>
      `INSERT INTO dedup_claims (site_id, claim, event_id, person_ref, expires_at) VALUES ('${siteId}', '${ulid()}', 'e', 0, 0)`;
    let maxMs = 0;
    await withClient(worker, async (holder) => {
      await holder.query("BEGIN");
      await holder.query(claimFor("staying"));
      const locking = lockTables(db, "leaving", ["dedup_claims"]);
      const endAt = performance.now() + 5000;
      await withClient(worker, async (other) => {
        while (performance.now() < endAt) {
          const startedAt = performance.now();
          await other.query(claimFor("staying"));
          maxMs = Math.max(maxMs, performance.now() - startedAt);
          await sleep(20);
        }
      });
      await holder.query("COMMIT");
      await locking;
    });
    expect(maxMs).toBeLessThan(3000);
    await withClient(worker, async (client) => {
      await expect(client.query(claimFor("leaving"))).rejects.toThrow("site_locked_leaving");
      await client.query(claimFor("staying"));
      await unlockTables(db, "leaving", ["dedup_claims"]);
      await client.query(claimFor("leaving"));
    });
  });

  test.runIf(isLongRun)("from the embedded database it moves to Citus under load", async () => {
    const { home, serve } = await newCluster();
    const target = await openTarget(home, serve);
    note("from the embedded database to Citus", await moveUnderLoad(await newInstallation("sqlite", patient), target)); // prettier-ignore
  });

  test.runIf(isLongRun)("from Citus it moves to PostgreSQL under load", async () => {
    const { home, serve } = await newCluster();
    const target = await openTarget(await newInstallation("postgres", patient));
    note("from Citus to PostgreSQL", await moveUnderLoad(home, target, serve));
  });
});
