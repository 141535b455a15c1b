import { expect, inject, test } from "vitest";
import { freshDatabase } from "../../test/support/databases.ts";
import { openGateway } from "../../test/support/gateway.ts";
import { openClient } from "../store/engine/postgres/client.ts";
import { serverStates, type ServerState } from "../store/engine/postgres/probe.ts";
import { judgeServers } from "./database.ts";

const server = (name: string, state: ServerState["state"], timeline = 0): ServerState => ({
  name,
  state,
  timeline,
  reason: state === "out" ? "connect ECONNREFUSED" : "",
});

const saidOf = (servers: readonly ServerState[], synchronous = "ANY 1 (db2)") =>
  judgeServers(servers, synchronous).map(({ level, what }) => `${level}: ${what}`);

test("one server is not spoken of", () => {
  expect(saidOf([server("db1", "written", 1)], "")).toEqual([]);
});

test("a primary with its standby is well", () => {
  expect(saidOf([server("db1", "written", 1), server("db2", "read")])).toEqual([
    "ok: db1 can be written to, db2 can take its place",
  ]);
});

test("two that can be written to, one that is out, and a standby that nobody waits for are told", () => {
  const servers = [server("db1", "written", 1), server("db2", "written", 2), server("db3", "out")];
  expect(saidOf(servers, "")).toEqual([
    "ok: db1 and db2 can be written to, none can take its place",
    "error: 2 servers can be written to; relays use db2, which was promoted last",
    "warning: db3 cannot be used: connect ECONNREFUSED",
    "warning: synchronous_standby_names is empty: if the primary dies, events that were answered with 200 can be missing on the standby",
  ]);
});

test("what each server is, is found by asking it", async () => {
  const url = await freshDatabase();
  const { host, pathname } = new URL(url);
  const gateway = await openGateway(url, { code: "28000" });
  const both = url.replace(host, `${host},${gateway.host}`);
  expect(await serverStates(both)).toEqual([
    { name: host, state: "written", timeline: 1, reason: "" },
    { name: gateway.host, state: "out", timeline: 0, reason: "not through this door" },
  ]);
  const client = await openClient(inject("postgresUrl"), "test");
  await client.query(`ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`);
  await client.end();
  expect((await serverStates(both))[0]).toMatchObject({ state: "read" });
});
