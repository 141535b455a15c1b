// A site moves to a Citus cluster and from one, while nodes work on both sides, and tables are changed while nodes use them. It is
// slow, so `npm test` leaves it out.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { lockTables, unlockTables } from "../../src/store/maintenance/siteLock.ts";
import { connectDatabase } from "../../src/store/connect.ts";
import { latestVersion, migrate } from "../../src/store/schema/migrate.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { migrations } from "../../src/store/schema/schema.ts";
import { isLongRun, isMissing, isRun, createFigures } from "../support/engines/figures.ts";
import { findCitus, hostOf, startCitus, type Citus } from "../support/postgres/citus.ts";
import { withClient } from "../support/postgres/postgres.ts";
import { emptyInstallation, newInstallation, type Installation } from "../support/relay.ts";
import { moveThereAndBack, moveUnderLoad, createTarget, patient, type Moved } from "../support/siteMove.ts";

const found = isRun ? findCitus() : null;
const figures = createFigures("site-move");
const shardCount = isLongRun ? 32 : 2;
/** A change gives up waiting for a table after 1 or 1.5 seconds, and a busy machine takes longer. Without that it waits for 15, or for ever. */
const maxWaitMs = 3500;

describe.skipIf(!isRun || isMissing("A move on Citus", found, "install it into a PostgreSQL of this machine"))(
  "a site on Citus",
  { timeout: 600_000 },
  () => {
    let citus: Citus;
    beforeAll(async () => {
      citus = await startCitus(found ?? "");
    }, 600_000);
    afterAll(async () => {
      figures.publish();
      await citus?.stop();
    }, 600_000);

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
      await moveThereAndBack(await newInstallation("sqlite", patient), await createTarget(home, serve));
    });

    const claimFor = (siteId: string) =>
      `INSERT INTO dedup_claims (site_id, claim, event_id, person_ref, expires_at) VALUES ('${siteId}', '${ulid()}', 'e', 0, 0)`;

    /**
     * Changes the table of claims while a transaction holds it. Fails where another one waits for long. Both write to a worker directly, as
     * nodes do: the coordinator sees no lock of theirs.
     */
    async function changeWhileHeld(worker: string, change: () => Promise<unknown>): Promise<void> {
      await withClient(worker, async (holder) => {
        await holder.query("BEGIN");
        await holder.query(claimFor("staying"));
        const changing = change();
        const endAt = performance.now() + 5000;
        await withClient(worker, async (other) => {
          await other.query(`SET statement_timeout = ${maxWaitMs}`);
          while (performance.now() < endAt) {
            await other.query(claimFor("staying"));
            await sleep(20);
          }
        });
        await holder.query("COMMIT");
        await changing;
      });
    }

    async function createCluster() {
      const { home } = await newCluster();
      await home.run("site", "add", "shop.example.com");
      const { pathname } = new URL(home.env["DATABASE_URL"] ?? "");
      const db = connectDatabase(readConfig(home.env).store);
      onTestFinished(() => db.close());
      return { db, worker: new URL(pathname, citus.workers[0]?.url).href };
    }

    test.runIf(isLongRun)("other sites wait a moment for a table that becomes read-only for one", async () => {
      const { db, worker } = await createCluster();
      await changeWhileHeld(worker, () => lockTables(db, "leaving", ["dedup_claims"]));
      await withClient(worker, async (client) => {
        await expect(client.query(claimFor("leaving"))).rejects.toThrow("site_locked_leaving");
        await client.query(claimFor("staying"));
        await unlockTables(db, "leaving", ["dedup_claims"]);
        await client.query(claimFor("leaving"));
      });
    });

    test.runIf(isLongRun)("sites wait a moment for a table that a migration changes", async () => {
      const { db, worker } = await createCluster();
      const migration = {
        version: latestVersion + 1,
        name: "test-column",
        kind: "expand",
        statements: ["ALTER TABLE dedup_claims ADD COLUMN test_column text"],
        configuration: [],
        bySite: [],
      } satisfies Migration;
      await changeWhileHeld(worker, () => migrate(db, { steps: [...migrations, migration] }));
      const { rows } = await withClient(worker, (client) => client.query("SELECT test_column FROM dedup_claims"));
      expect(rows.length).toBeGreaterThan(0);
    });

    test.runIf(isLongRun)("from the embedded database it moves to Citus under load", async () => {
      const { home, serve } = await newCluster();
      const target = await createTarget(home, serve);
      note("from the embedded database to Citus", await moveUnderLoad(await newInstallation("sqlite", patient), target));
    });

    test.runIf(isLongRun)("from Citus it moves to PostgreSQL under load", async () => {
      const { home, serve } = await newCluster();
      const target = await createTarget(await newInstallation("postgres", patient));
      note("from Citus to PostgreSQL", await moveUnderLoad(home, target, serve));
    });
  },
);
