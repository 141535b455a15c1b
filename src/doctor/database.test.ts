import { expect, inject, test } from "vitest";
import { freshDatabase } from "../../test/support/databases.ts";
import { createGateway } from "../../test/support/postgres/gateway.ts";
import { connectClient } from "../store/engine/postgres/client.ts";
import { explainDatabaseError } from "../installation/databaseErrors.ts";
import { findPrimary, serverStates, type ServerState } from "../store/engine/postgres/probe.ts";
import { judgeClusterNodes, judgePooler, judgePurge, judgeServers } from "./database.ts";

const server = (name: string, state: ServerState["state"], timeline = 0): ServerState => ({
  name,
  state,
  timeline,
  reason: state === "out" ? "connect ECONNREFUSED" : "",
  isWorker: false,
});

const findingsOf = (servers: readonly ServerState[], synchronous = "ANY 1 (db2)") =>
  Array.from(judgeServers(servers, synchronous), ({ level, what }) => `${level}: ${what}`);

test("a single database server makes no finding", () => {
  expect(findingsOf([server("db1", "written", 1)], "")).toEqual([]);
});

test("a primary with its standby is reported as ok", () => {
  expect(findingsOf([server("db1", "written", 1), server("db2", "read")])).toEqual(["ok: writable: db1; can take over: db2"]);
});

test("two writable servers, one that is down, and a standby that commits do not wait for are reported", () => {
  const servers = [server("db1", "written", 1), server("db2", "written", 2), server("db3", "out")];
  expect(findingsOf(servers, "")).toEqual([
    "ok: writable: db1, db2; can take over: none",
    "error: 2 servers are writable; relays use db2, which was promoted last",
    "warning: db3 cannot be used: connect ECONNREFUSED",
    "warning: synchronous_standby_names is empty: if the primary dies, events answered with 200 can be missing on the standby",
  ]);
});

test("the workers of a cluster are no primaries", () => {
  const worker = { ...server("worker1", "written", 1), isWorker: true };
  expect(findingsOf([server("db1", "written", 1), worker])).toEqual([]);
});

test("a Citus node that does not answer is named, and no other", () => {
  const nodes = [
    { name: "worker1:5432", isReached: true },
    { name: "worker2:5432", isReached: false },
  ];
  expect(Array.from(judgeClusterNodes(nodes), ({ level, what }) => `${level}: ${what}`)).toEqual([
    "error: the Citus node worker2:5432 does not answer: sites whose data is on it get 503, and configuration cannot be changed",
  ]);
  expect([...judgeClusterNodes([])]).toEqual([]);
});

test("where only the coordinator of a cluster is down, its workers are not blamed", async () => {
  const hosts = ["coordinator:5432", "worker1:5432", "worker2:5432"];
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const [servers, url] = [hosts.map((host) => `postgres://${host}/cleancast`), `postgres://${hosts.join(",")}/cleancast`];
  const probe = async (at: string) => {
    if (at === servers[0]) throw refused;
    return { server: at, system: "1", timeline: 1, machine: "1" };
  };
  const error = await findPrimary(servers, null, 0, probe).catch((thrown: unknown) => thrown);
  expect(explainDatabaseError(url, error, "DATABASE_URL").what).toBe("nothing listens at coordinator:5432");
  const all = await findPrimary(servers, null, 0, () => Promise.reject(refused)).catch((thrown: unknown) => thrown);
  expect(explainDatabaseError(url, all, "DATABASE_URL").what).toBe(`${hosts.join(",").replaceAll(",", ", ")} does not answer`);
});

test("a purge that is more than a day behind is warned about", () => {
  const day = 86_400_000;
  const found = [null, { at: 0, lagMs: day }, { at: 0, lagMs: 3.5 * day }].map((run) =>
    Array.from(judgePurge(run), ({ what }) => what),
  );
  expect(found).toEqual([[], [], ["the purge is behind: events are kept 3 days longer than 'keep_events' says"]]);
});

test("a pooler that waits long after a failed connection is warned about, where it says so", () => {
  const found = [null, { loginRetrySeconds: null }, { loginRetrySeconds: 1 }, { loginRetrySeconds: 15 }].map((pooler) =>
    Array.from(judgePooler(pooler), ({ level }) => level),
  );
  expect(found).toEqual([[], ["ok"], ["ok"], ["warning"]]);
});

test("each server reports whether it is writable, read-only or unusable", async () => {
  const url = await freshDatabase();
  const { host, pathname } = new URL(url);
  const gateway = await createGateway(url, { code: "28000" });
  const both = url.replace(host, `${host},${gateway.host}`);
  expect(await serverStates(both)).toEqual([
    { name: host, state: "written", timeline: 1, reason: "", isWorker: false },
    {
      name: gateway.host,
      state: "out",
      timeline: 0,
      reason: "this gateway refuses connections",
      isWorker: false,
    },
  ]);
  const client = await connectClient(inject("postgresUrl"), "test");
  await client.query(`ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`);
  await client.end();
  expect((await serverStates(both))[0]).toMatchObject({ state: "read" });
});
