import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { untilAskedToStop } from "./stopSignals.ts";

test("the first signal asks; only a Ctrl-C that comes a moment later means that somebody will not wait", async () => {
  const signals = new EventEmitter() as EventEmitter & Pick<NodeJS.Process, "on">;
  let now = 5000;
  let impatient = 0;
  const asked = untilAskedToStop(
    signals,
    () => now,
    () => (impatient += 1),
  );
  signals.emit("SIGINT", "SIGINT");
  expect(await asked).toBe("SIGINT");
  // From npm, which passes on what the terminal has sent to both.
  now += 5;
  signals.emit("SIGINT", "SIGINT");
  // Supervisors that ask again have set a time limit of their own.
  now += 20_000;
  signals.emit("SIGTERM", "SIGTERM");
  expect(impatient).toBe(0);
  signals.emit("SIGINT", "SIGINT");
  expect(impatient).toBe(1);
});
