// One site moves to another installation while both work, events arrive, and the command is killed again and again. Every event
// that was answered 200 is in exactly one of them, and every delivery is made once.

import { describe, expect, test } from "vitest";
import { ulid } from "../../src/kernel/ids.ts";
import { abortSiteMove } from "../../src/maintenance/moves/siteMove.ts";
import { deliveryStore } from "../../src/store/deliveries/deliveries.ts";
import type { Delivery } from "../../src/store/deliveries/delivery.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { historyTables, liveTables } from "../../src/store/copy/siteTables.ts";
import { latestVersion } from "../../src/store/schema/migrate.ts";
import { migrations } from "../../src/store/schema/schema.ts";
import { tablesAt } from "../../src/store/schema/tables.ts";
import { newAttempt, newEvent, queuedDelivery } from "../support/events.ts";
import { change, rows, setUpSite, withStore } from "../support/installation.ts";
import { newInstallation, type Engine } from "../support/relay.ts";
import { moveInProcess, moveThereAndBack, moveUnderLoad, connectSide, createTarget, patient } from "../support/siteMove.ts";

const newTarget = async () => createTarget(await newInstallation("postgres", patient));

/** Grants and invitations belong to members, who have accounts of their own there. The others end within minutes, or are of the move. */
const unmovedTables = [
  "grants",
  "invitations",
  "wrong_keys",
  "lockouts",
  "platform_sign_ins",
  "leases",
  "nodes",
  "shared_traffic",
  "deleted_sites",
  "site_moves",
];

test("every table of a site is either moved or known to stay", () => {
  const created = migrations.flatMap(({ statements }) => statements);
  const withSite = tablesAt(latestVersion).filter((table) =>
    created.some((text) => text.startsWith(`CREATE TABLE ${table} (`) && /\bsite_id /.test(text)),
  );
  expect([...historyTables, ...liveTables, ...unmovedTables].toSorted()).toEqual(withSite.toSorted());
});

// Most of their time is waiting.
describe.concurrent.each<Engine>(["sqlite", "postgres"])("a site on %s", (engine) => {
  test(
    "moves under load, killed at several moments: no event is lost, and none is delivered twice",
    { timeout: 900_000 },
    async () => {
      const home = await newInstallation(engine, patient);
      const { rows: moved, readOnlyMs } = await moveUnderLoad(home, await newTarget());
      console.log(`from ${engine} to PostgreSQL: ${moved} rows, read-only for ${(readOnlyMs / 1000).toFixed(1)} s`);
    },
  );
});

test.each<Engine>(["sqlite", "postgres"])(
  "a delivery that a node on %s claims in the last moment is settled, and not made again there",
  { timeout: 600_000 },
  async (engine) => {
    const home = await newInstallation(engine);
    const { siteId } = await setUpSite(home, []);
    const item = newEvent(siteId, { orderId: null }, { deliveries: [queuedDelivery("c1")] });
    await withStore(home, ({ events }) => events.accept(item));
    await change(home, "UPDATE deliveries SET due_at = 0, owner = ''");
    const { target } = await newTarget();
    const [from, to] = [connectSide(home), connectSide(target)];
    const late = withLateDelivery(from.db, siteId);
    await moveInProcess({ siteId, from: { ...from, db: late.db, name: "here" }, to: { ...to, name: "there" } });
    expect(await late.outcome()).toBe("settled");
    await Promise.all([from.db.close(), to.db.close()]);
    expect(await rows(target, "SELECT state, owner FROM deliveries")).toEqual([{ state: "sent", owner: "" }]);
    expect(await rows(target, "SELECT state FROM attempts")).toEqual([{ state: "sent" }]);
  },
);

test("a move copies every row as it is, and an aborted one leaves no trace", { timeout: 900_000 }, async () => {
  await moveThereAndBack(await newInstallation("sqlite", patient), await newTarget());
});

/**
 * A node claims a delivery after the leases were ended, and settles it while a table that this writes to is being locked. Were it not
 * settled, its lease would end soon.
 */
function withLateDelivery(db: Database, siteId: string): { db: Database; outcome(): Promise<unknown> } {
  const deliveries = deliveryStore(db);
  const owner = "late";
  let claimed: Delivery | undefined;
  let settling: Promise<unknown> | undefined;
  const settle = ({ eventId, connectionId }: Delivery) =>
    deliveries
      .settle({
        siteId,
        eventId,
        connectionId,
        owner,
        state: "sent",
        reason: null,
        dueAt: 0,
        attempts: 1,
        at: Date.now(),
        attempt: newAttempt("sent"),
      })
      .then(
        () => "settled",
        (error: unknown) => error,
      );
  return {
    db: {
      ...db,
      async run(sql, params) {
        const changed = await db.run(sql, params);
        if (!sql.startsWith("UPDATE webhooks") || claimed) return changed;
        const now = Date.now();
        const lease = { by: "row", owner, at: now, dueAt: now + 3000 } as const;
        [claimed] = await deliveries.claimDue({ siteId, connectionId: "c1" }, lease, 1);
        return changed;
      },
      async write(work, options) {
        const written = db.write(
          (tx) =>
            work({
              ...tx,
              async all(sql, params) {
                const found = await tx.all(sql, params);
                if (claimed && /(?:TABLE|ON) (?:deliveries|attempts)\b.*site_locked/s.test(sql)) settling ??= settle(claimed);
                return found;
              },
            }),
          options,
        );
        await Promise.allSettled([written]);
        await settling;
        return written;
      },
    },
    outcome: async () => settling,
  };
}

test(
  "nobody else takes over a move that is not finished, forges its site, or repeats it when it is",
  { timeout: 600_000 },
  async () => {
    const [home, target, other, forger] = [
      await newInstallation("sqlite"),
      await newInstallation("sqlite"),
      await newInstallation("sqlite"),
      await newInstallation("sqlite"),
    ] as const;
    const { siteId } = await setUpSite(home, []);
    const forged = await setUpSite(forger, [], "forged.example.com");
    for (const place of [target, other]) await setUpSite(place, [], "resident.example.com");
    const sides = [home, target, other, forger].map(connectSide);
    const [from, to, elsewhere, liar] = sides.map((side, i) => ({ ...side, name: `installation ${i}` })) as [
      Side,
      Side,
      Side,
      Side,
    ];
    const move = (plan: { from: Side; to: Side; siteId?: string; report?: (text: string) => void }) =>
      moveInProcess({ siteId, hasNoNode: () => true, ...plan });
    const dieAt = (moment: string) => (text: string) => {
      if (text.includes(moment)) throw new Error(`died at ${moment}`);
    };
    try {
      await expect(move({ from, to, report: dieAt("Pass 1") })).rejects.toThrow("died at");
      await expect(move({ from, to: elsewhere })).rejects.toThrow(/is being moved to installation 1/);
      await expect(abortSiteMove({ ...abortPlan, siteId, from, to: elsewhere })).rejects.toThrow(/names another installation/);

      // Another installation gives a site of its own the same id: what has arrived of the true one is not touched.
      for (const table of ["sites", "hosts", "inbound_keys"])
        await change(forger, `UPDATE ${table} SET site_id = '${siteId}' WHERE site_id = '${forged.siteId}'`);
      const arrived = await rows(target, "SELECT move_id, run_id, state, peer FROM site_moves");
      await expect(move({ from: liar, to })).rejects.toThrow(/is receiving or moving a site of this id already/);
      expect(await rows(target, "SELECT move_id, run_id, state, peer FROM site_moves")).toEqual(arrived);

      // Two processes continue the move: at most one hands the site over, and if neither does, the same command ends it.
      let second: Promise<unknown> | undefined;
      const first = move({
        from,
        to,
        report(text) {
          if (text.includes("are compared")) second ??= settled(move({ from, to }));
        },
      });
      const ended = [await settled(first), await second];
      expect(second).toBeDefined();
      expect(ended.filter((one) => one === "done").length).toBeLessThan(2);
      if (!ended.includes("done")) await move({ from, to });
      expect(await rows(target, `SELECT state FROM site_moves WHERE site_id = '${siteId}'`)).toEqual([{ state: "live" }]);
      expect(await rows(home, `SELECT state FROM site_moves WHERE site_id = '${siteId}'`)).toEqual([{ state: "moved" }]);

      for (const again of [to, elsewhere])
        await expect(move({ from, to: again })).rejects.toThrow(/was moved already, to installation 1/);
      await expect(move({ from: liar, to })).rejects.toThrow(/has a site of this id already/);
      expect(await rows(target, `SELECT host FROM hosts WHERE site_id = '${siteId}'`)).toEqual([{ host: "shop.example.com" }]);
    } finally {
      for (const { db } of sides) await db.close();
    }
  },
);

const settled = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => error,
  );

type Side = ReturnType<typeof connectSide> & { name: string };

const abortPlan = {
  by: { actor: "test", now: Date.now() },
  newId: ulid,
  now: Date.now,
  hasNoNode: () => true,
  drainMs: 60_000,
  report() {},
};
