import { hash } from "node:crypto";
import type { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { isWellFormed, makeKey } from "../../src/sites/keys.ts";
import { startReceiver } from "../support/receiver.ts";
import { engines, newInstallation, type Answer, type Relay } from "../support/relay.ts";
import { change, setUpSite, keepAliveAgent, postOver, rows, withStore } from "../support/installation.ts";

function replaced(key: string, at: number): string {
  return key.slice(0, at) + (key[at] === "x" ? "y" : "x") + key.slice(at + 1);
}

describe.each(engines)("the key check on %s", (engine) => {
  test("a key is found by its SHA-256 and by nothing else, and the key itself is held nowhere", async () => {
    const home = await newInstallation(engine);
    const { key, siteId } = await setUpSite(home, []);
    await withStore(home, async (_store, directory) => {
      const found = directory.key(key);
      expect(found).toMatchObject({ siteId, hash: hash("sha256", key), prefix: key.slice(0, 8) });
      expect(JSON.stringify([...directory.sites()])).not.toContain(key.slice(8));
      for (const wrong of [hash("sha256", key), key.slice(0, 8), key.toLowerCase(), ` ${key}`, `${key} `, ""]) {
        expect(directory.key(wrong), wrong).toBeUndefined();
      }
      for (let at = 0; at < key.length; at += 1) expect(directory.key(replaced(key, at))).toBeUndefined();
      // A well-formed key with a valid checksum is not known either.
      const guess = makeKey("live").key;
      expect(isWellFormed(guess)).toBe(true);
      expect(directory.key(guess)).toBeUndefined();
    });
  });
});

describe("the timing of the key check", () => {
  const samples = 400;
  const checksPerSample = 20;

  /** Returns the median nanoseconds of each guess; the samples alternate, so that noise affects all of them. */
  function medians(check: (key: string) => unknown, guesses: readonly string[]): number[] {
    const times = guesses.map((): number[] => []);
    for (let n = 0; n < samples; n += 1) {
      guesses.forEach((guess, i) => {
        const before = process.hrtime.bigint();
        for (let c = 0; c < checksPerSample; c += 1) check(guess);
        times[i]?.push(Number(process.hrtime.bigint() - before));
      });
    }
    return times.map((some) => some.toSorted((a, b) => a - b)[Math.floor(samples / 2)] as number);
  }

  /** Returns the largest ratio between the medians of two guesses; the best of three runs, because a machine can be busy. */
  function spread(check: (key: string) => unknown, guesses: readonly string[]): number {
    medians(check, guesses); // warms up
    const tries = Array.from({ length: 3 }, () => {
      const found = medians(check, guesses);
      return Math.max(...found) / Math.min(...found);
    });
    return Math.min(...tries);
  }

  test("checking a key takes the same time whatever part of the key is right", async () => {
    const home = await newInstallation("sqlite");
    const { key } = await setUpSite(home, []);
    await withStore(home, async (_store, directory) => {
      const guesses = [replaced(key, 0), replaced(key, 20), replaced(key, key.length - 1), key];
      // Checks the measurement: a comparison that stops at the first wrong character exceeds the bound by far.
      const stops = (guess: string) => {
        let at = 0;
        while (at < key.length && hash("sha256", guess[at] ?? "") === hash("sha256", key[at] ?? "")) at += 1;
        return at;
      };
      expect(spread(stops, guesses.slice(0, 1).concat(guesses.slice(1, 2)))).toBeGreaterThan(3);
      expect(spread((guess) => directory.key(guess), guesses)).toBeLessThan(1.43);
    });
  });
});

/** Triggers that count the writes about wrong keys inside the database. */
const countingWrites = {
  sqlite: [
    `CREATE TABLE counted (what text)`,
    `CREATE TRIGGER count_inserts AFTER INSERT ON wrong_keys BEGIN INSERT INTO counted VALUES ('wrong key'); END`,
    `CREATE TRIGGER count_locks AFTER INSERT ON lockouts BEGIN INSERT INTO counted VALUES ('lockout'); END`,
    `CREATE TRIGGER count_relocks AFTER UPDATE ON lockouts BEGIN INSERT INTO counted VALUES ('lockout'); END`,
  ],
  postgres: [
    `CREATE TABLE counted (what text)`,
    `CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO counted VALUES (CASE TG_TABLE_NAME WHEN 'lockouts' THEN 'lockout' ELSE 'wrong key' END); RETURN NULL; END $$`,
    `CREATE TRIGGER count_inserts AFTER INSERT ON wrong_keys FOR EACH ROW EXECUTE FUNCTION count_write()`,
    `CREATE TRIGGER count_locks AFTER INSERT OR UPDATE ON lockouts FOR EACH ROW EXECUTE FUNCTION count_write()`,
  ],
};

describe.each(engines)("a flood of 2,000 wrong keys on %s", (engine) => {
  test("a flood of wrong keys ends in 429 and about ten writes, and the valid key passes throughout", async () => {
    const home = await newInstallation(engine);
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    await change(home, ...countingWrites[engine]);
    const relays: Relay[] = [await home.start()];
    if (engine === "postgres") relays.push(await home.start());
    const host = { Host: "shop.example.com" };
    const relayOf = (n: number) => relays[n % relays.length] as Relay;

    const agents = relays.map(() => keepAliveAgent(50));
    const send = async (n: number, given: string, event: unknown): Promise<Answer> => {
      const answer = await postOver(agents[n % relays.length] as Agent, relayOf(n), given, event, host);
      // A busy machine may be too slow to look the key up.
      return answer.status === 503 ? send(n, given, event) : answer;
    };

    // Every fiftieth request of the flood has the valid key.
    const valid: Promise<Answer>[] = [];
    const flood = Array.from({ length: 2000 }, (_, n) => {
      const event = { email: "ada@example.com", event: "lead", orderId: `order-${n}` };
      if (n % 50 === 0) valid.push(send(n / 50, key, event));
      return send(n, n % 2 ? makeKey("live").key : replaced(key, n % key.length), event);
    });
    const wrong = await Promise.all(flood);

    const refusedAs = (status: number, error: string) =>
      wrong.filter((answer) => answer.status === status && answer.text === JSON.stringify({ ok: false, error }));
    const invalid = refusedAs(401, "Invalid API key");
    const locked = refusedAs(429, "Too many failed authentication attempts");
    expect(invalid.length + locked.length).toBe(2000);
    // Nine, and where the database is slow those whose count is not known in time.
    expect(invalid.length).toBeGreaterThanOrEqual(9);
    expect(invalid.length).toBeLessThan(500);
    for (const { headers } of locked) expect(Number(headers["retry-after"])).toBeGreaterThan(0);

    expect(valid).toHaveLength(40);
    for (const { text } of await Promise.all(valid)) {
      expect(text).toBe('{"ok":true,"event":"lead","results":{"webhook":{"ok":true}}}');
    }
    const writes = await rows(home, `SELECT what, COUNT(*) AS n FROM counted GROUP BY what`);
    const counted = Object.fromEntries(writes.map((row) => [row.what, Number(row.n)]));
    expect(counted["wrong key"]).toBe(10);
    // The lock itself is one more write, and each further node writes once before it knows the lock.
    expect(counted.lockout).toBeGreaterThanOrEqual(10);
    expect(counted.lockout).toBeLessThanOrEqual(11 + relays.length);

    // The lock is still on, and the valid key still passes.
    const again = await postOver(keepAliveAgent(1), relayOf(0), replaced(key, 5), {}, host);
    expect(again.status).toBe(429);
    const passes = await postOver(keepAliveAgent(1), relayOf(0), key, { email: "ada@example.com", event: "after" }, host);
    expect(passes.status).toBe(200);
    await Promise.all(relays.map((relay) => relay.stop()));
  });
});
