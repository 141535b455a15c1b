// Two relays on one database, and the clock of one is off: its process runs under faketime, so that everything in it, also what the
// runtime reads, has the wrong time. What one node has in hand, the other must not send.

import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";
import { checkedText, isLongRun, isMissing, isRun, createFigures } from "../support/engines/figures.ts";
import { isReady, createLoad } from "../support/engines/load.ts";
import { setUpSite } from "../support/installation.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually, newInstallation } from "../support/relay.ts";
import { findProgram } from "../support/servers/programs.ts";

const program = isRun ? findProgram("faketime") : undefined;
const figures = createFigures("clocks");
const orders = isLongRun ? 600 : 100;
/** A node that reads the wrong time would take what the other one has claimed: with this delay, that is a few hundred. */
const receiverMs = 1000;
const loadMs = isLongRun ? 5000 : 1000;
const permittedSeconds = 30;

/** The environment of a process whose wall clock is off. Its monotonic clock is right, as on a machine whose clock was set. */
function shifted(seconds: number): Record<string, string> {
  const text = `${seconds > 0 ? "+" : "-"}${Math.abs(seconds)}s`;
  const { stdout } = spawnSync(program ?? "", ["-f", text, "env"], { encoding: "utf8" });
  const library = /^LD_PRELOAD=(.+)$/m.exec(stdout)?.[1] ?? expect.unreachable("faketime preloads its library");
  return { LD_PRELOAD: library, FAKETIME: text, DONT_FAKE_MONOTONIC: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}

describe.skipIf(!isRun || isMissing("A wrong clock", program, "install the package faketime"))(
  "a node whose clock is off",
  { timeout: 600_000 },
  () => {
    afterAll(() => figures.publish());

    test("faketime shifts the wall clock of Node and leaves its monotonic clock", () => {
      const script = "console.log(Date.now()); setTimeout(() => console.log(performance.now() < 60_000), 10)";
      const { stdout } = spawnSync(process.execPath, ["-e", script], {
        env: shifted(3600),
        encoding: "utf8",
      });
      const [time, isRight] = stdout.trim().split("\n");
      expect(Number(time) - Date.now()).toBeGreaterThan(3_000_000);
      expect(isRight).toBe("true");
    });

    test.each(isLongRun ? [14, -14, 30, -30, 60, -60] : [60])("of %i s sends nothing twice", async (seconds) => {
      const home = await newInstallation("postgres", { LOG_LEVEL: "silent" });
      const receiver = await startReceiver();
      const answer = receiver.behave;
      receiver.behave = (request, response) => void setTimeout(() => answer(request, response), receiverMs);
      const setup = await setUpSite(home, [["webhook", { url: receiver.url }]]);
      const [connectionId = ""] = setup.connections;
      await home.run("connection", "pause", connectionId);
      const [right, off] = [await home.start(), await home.start(shifted(seconds))];
      const load = createLoad(home, [right, off], receiver);
      // At exactly what is permitted, a millisecond decides.
      const skew = Math.abs(seconds);
      if (skew !== permittedSeconds)
        await eventually("the node knows its clock", async () => (await isReady(off)) === skew < permittedSeconds);
      const state = (await isReady(off)) ? "ready" : "not ready";

      // Both nodes claim what is queued.
      let left = orders;
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          while (left-- > 0) expect(await load.send([setup.key])).toBe(200);
        }),
      );
      expect(receiver.got).toEqual([]);
      await home.run("connection", "resume", connectionId);
      await eventually("all are sent", () => receiver.got.length >= orders);
      // And both nodes attempt at once what they accept.
      const live = await load.sendFor([setup.key], 8, loadMs);
      const checked = await load.check();
      figures.note(
        `clock ${seconds > 0 ? "ahead" : "behind"} by ${Math.abs(seconds)} s`,
        `${orders} queued and ${live.statuses["200"] ?? 0} live deliveries; ${checkedText(checked)}; /readyz of the node: ${state}`,
      );
      expect(Object.keys(live.statuses)).toEqual(["200"]);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
      for (const relay of load.relays) expect(await relay.stop()).toBe(0);
    });
  },
);
