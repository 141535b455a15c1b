// Relays on a real Patroni cluster in strict synchronous mode: four ways in which its primary or a standby is lost under load, and the
// loss of all standbys. It is slow, so `npm test` leaves it out.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkedText, isLongRun, isMissing, isRun, createFigures, statusText } from "../support/engines/figures.ts";
import { isReady, createTwoNodes, type Load, type Sent } from "../support/engines/load.ts";
import { findPatroni, startPatroni, ttlSeconds, type Patroni } from "../support/postgres/patroni.ts";
import { emptyInstallation, eventually, type Installation } from "../support/relay.ts";

const programs = isRun ? findPatroni() : null;
const figures = createFigures("patroni");
const senders = isLongRun ? 8 : 4;
/** Load before and after each fault. */
const calmMs = isLongRun ? 5000 : 1000;
/** Longer than a request waits for its answer. */
const aloneMs = 15_000;

describe.skipIf(!isRun || isMissing("Patroni", programs, "install the packages patroni, etcd-server and postgresql-15"))(
  "Patroni",
  { timeout: 600_000 },
  () => {
    let patroni: Patroni;
    let direct: Installation;
    let load: Load;
    let keys: readonly string[];
    let database: string;

    beforeAll(async () => {
      if (!programs) return;
      patroni = await startPatroni(programs);
      database = await patroni.createDatabase();
      direct = await emptyInstallation("postgres", { LOG_LEVEL: "silent" });
      const home = direct.with({ DATABASE_URL: patroni.url(database) });
      ({ load, keys } = await createTwoNodes(home, direct));
    }, 600_000);
    afterAll(async () => {
      figures.publish();
      await patroni?.stop();
    }, 600_000);

    /** Sends before, during and after a fault, until events are accepted again. */
    async function sendDuring(fault: () => Promise<unknown>): Promise<Sent> {
      return load.sendDuring(
        keys,
        senders,
        (async () => {
          await sleep(calmMs);
          await fault();
          await eventually("events are accepted again", async () => (await load.send(keys)) === 200);
          await sleep(calmMs);
        })(),
      );
    }

    /** DueWork for every order that was answered so far, on the server that is the primary now. */
    async function check(name: string, sent: Sent): Promise<void> {
      direct.env["DATABASE_URL"] = await patroni.leaderUrl(database);
      const checked = await load.check();
      figures.note(
        name,
        `${(sent.gapMs / 1000).toFixed(1)} s without a 200; ${statusText(sent.statuses)}; of ${checked.answered} orders so far ${checkedText(checked)}`,
      );
      expect(Object.keys(sent.statuses).every((status) => status === "200" || status === "503")).toBe(true);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
      for (const relay of load.relays) await eventually("the node is ready", () => isReady(relay));
    }

    test.runIf(isLongRun)("PostgreSQL of the primary is killed, and Patroni starts it again", async () => {
      const { leader } = await patroni.settle();
      await check("PostgreSQL of the primary killed", await sendDuring(() => patroni.killPostgres(leader)));
    });

    test.runIf(isLongRun)("a switchover makes the synchronous standby the primary", async () => {
      const { leader, sync } = await patroni.settle();
      const sent = await sendDuring(() => patroni.switchOver());
      const after = await patroni.settle();
      expect(after).toMatchObject({ leader: sync });
      expect(after.leader).not.toBe(leader);
      await check("switchover", sent);
    });

    test.runIf(isLongRun)("the synchronous standby is lost, and the other one takes its place", async () => {
      const { sync, others } = await patroni.settle();
      const sent = await sendDuring(() => patroni.killMember(sync));
      expect(await patroni.settle()).toMatchObject({ sync: others[0] });
      await check("synchronous standby lost", sent);
      await patroni.startMember(sync);
    });

    test("the machine of the primary is lost, and the synchronous standby is promoted", async () => {
      const { leader, sync } = await patroni.settle();
      const sent = await sendDuring(() => patroni.killMember(leader));
      expect(await patroni.settle()).toMatchObject({ leader: sync });
      await check(`machine of the primary lost, ttl ${ttlSeconds} s`, sent);
      await patroni.startMember(leader);
    });

    test.runIf(isLongRun)("without any standby nothing is accepted in strict mode, until one is back", async () => {
      const { sync, others } = await patroni.settle();
      for (const name of [sync, ...others]) await patroni.killMember(name);
      const alone = await load.sendFor(keys, senders, aloneMs);
      expect(Object.keys(alone.statuses)).toEqual(["503"]);
      const sent = await sendDuring(() => patroni.startMember(sync));
      await check("all standbys lost, one started again", { ...sent, gapMs: aloneMs + sent.gapMs });
      for (const relay of load.relays) expect(await relay.stop()).toBe(0);
    });
  },
);
