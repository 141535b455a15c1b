// Calls of the management API read in turn with other sites, on both engines.

import { expect, onTestFinished, test } from "vitest";
import { migratedDatabase } from "../../../test/support/databases.ts";
import { createAt, createNodes } from "../../../test/support/nodes.ts";
import { withClient } from "../../../test/support/postgres/postgres.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { lastId } from "../../kernel/ids.ts";

test("on the embedded database a call reads when its site has a slice, and an event at once", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const isInTurn = async (read: () => Promise<unknown>) => {
    let isTurnOver = false;
    setImmediate(() => (isTurnOver = true));
    await read();
    return !isTurnOver;
  };
  for (const end = performance.now() + 2; performance.now() < end;) await threadShare.rest("s");
  for (const end = performance.now() + 2; performance.now() < end;);
  expect(await isInTurn(() => store.people.lookUp("s", sha256("e".repeat(64))))).toBe(true);
  expect(await isInTurn(() => store.forCalls.events.listIds("s", {}, lastId, 1))).toBe(false);
});

test("on a server the calls of a site leave a connection to events, however long they read", async () => {
  const url = await migratedDatabase();
  const store = await createAt({ engine: "postgres", url, connections: 10 });
  onTestFinished(() => store.close());
  await withClient(url, async (client) => {
    await client.query("BEGIN");
    await client.query("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE");
    const calls = Promise.allSettled(Array.from({ length: 10 }, () => store.forCalls.audit.list("s", 10)));
    for (let n = 0; n < 5; n += 1) expect(await store.events.listIds("s", {}, lastId, 1)).toEqual([]);
    await client.query("ROLLBACK");
    await calls;
  });
});
