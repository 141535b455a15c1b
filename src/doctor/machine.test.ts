import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { readConfig } from "../installation/config.ts";
import { judgeGrowth, judgeServer } from "./database.ts";
import { checkFiles } from "./files.ts";
import { checkMachine, readMachine, type Machine } from "./machine.ts";
import { judgeProbe } from "./web.ts";
import { dayMs as day } from "../kernel/time.ts";

const folder = freshFolder();
const config = readConfig({ CLEANCAST_DATA: folder });
const context = { config, now: Date.now() };

const good: Machine = {
  node: "24.21.0",
  memoryBytes: 2e9,
  openFiles: 65_536,
  disk: { freeBytes: 50e9, wholeBytes: 100e9, kind: 0xef53 },
};
const problems = (change: Partial<Machine>, on = context) =>
  [...checkMachine(on, { ...good, ...change })]
    .filter(({ level }) => level !== "ok")
    .map(({ level, what }) => `${level}: ${what}`);

describe("the machine", () => {
  test("the properties of this machine can be read", () => {
    const machine = readMachine(folder);
    expect(machine.node).toBe(process.versions.node);
    expect(machine.memoryBytes).toBeGreaterThan(1e8);
    expect(machine.disk?.wholeBytes).toBeGreaterThan(0);
    expect(readMachine(join(folder, "nowhere")).disk).toBeNull();
  });

  test("a machine with enough of everything makes no finding", () => expect(problems({})).toEqual([]));

  test("an old Node, little memory and a low limit of open files are reported", () => {
    expect(problems({ node: "22.12.0" })).toEqual(["error: Node 22.12.0 is too old"]);
    expect(problems({ memoryBytes: 128e6 })).toEqual(["warning: only 128.0 MB of memory are available"]);
    expect(problems({ openFiles: 1024 })).toEqual([expect.stringContaining("may open only 1024 files")]);
    expect(problems({ openFiles: null })).toEqual([]);
  });

  test("a disk that is full or nearly full is reported", () => {
    const disk = (freeBytes: number) => problems({ disk: { freeBytes, wholeBytes: 100e9, kind: 0xef53 } });
    expect(disk(2.1e9)).toEqual([]);
    expect(disk(1.5e9)).toEqual([`warning: 1.5 GB are free on the disk of ${folder}`]);
    expect(disk(100e6)).toEqual([`error: 100.0 MB are free on the disk of ${folder}`]);
    // A small disk need not have gigabytes to spare.
    expect(problems({ disk: { freeBytes: 1e9, wholeBytes: 4e9, kind: 0xef53 } })).toEqual([]);
  });

  test("an embedded database on a network file system is reported, PostgreSQL is not", () => {
    const disk = { freeBytes: 50e9, wholeBytes: 100e9, kind: 0x6969 };
    expect(problems({ disk })).toEqual([expect.stringMatching(/^error: .*network file system \(NFS\)/)]);
    const postgres = readConfig({ CLEANCAST_DATA: folder, DATABASE_URL: "postgres://a/b" });
    expect(problems({ disk }, { ...context, config: postgres })).toEqual([]);
  });
});

test("a very large write-ahead log is reported", () => {
  const place = join(folder, "grown");
  mkdirSync(place, { mode: 0o700 });
  const file = join(place, "cleancast.db-wal");
  writeFileSync(file, "", { mode: 0o600 });
  const found = () =>
    [...checkFiles({ ...context, config: readConfig({ CLEANCAST_DATA: place }) })].filter(({ what }) => /wal/.test(what));
  truncateSync(file, 500e6);
  expect(found()).toEqual([]);
  truncateSync(file, 600e6);
  expect(found()).toMatchObject([{ level: "warning", what: "cleancast.db-wal has grown to 600.0 MB" }]);
});

test("a database that will outgrow the disk before its oldest rows are deleted is reported", () => {
  const growing = { bytes: 10e9, ageMs: 10 * day, keepMs: 90 * day, freeBytes: 100e9 };
  expect([...judgeGrowth(growing)]).toEqual([]);
  expect([...judgeGrowth({ ...growing, freeBytes: 60e9 })]).toMatchObject([{ level: "warning" }]);
  // The database has reached its final size.
  expect([...judgeGrowth({ ...growing, ageMs: 90 * day, freeBytes: 1e9 })]).toEqual([]);
  // The growth is not known yet.
  expect([...judgeGrowth({ ...growing, ageMs: day / 2, freeBytes: 1e9 })]).toEqual([]);
  expect([...judgeGrowth({ ...growing, ageMs: Number.NEGATIVE_INFINITY, freeBytes: 1e9 })]).toEqual([]);
});

test("unsafe settings of PostgreSQL are reported", () => {
  const safe = { fsync: "on", full_page_writes: "on", synchronous_commit: "on", max_connections: "100" };
  const levels = (change: Record<string, string>) => Array.from(judgeServer({ ...safe, ...change }, 10), ({ level }) => level);
  expect(levels({})).toEqual([]);
  expect(levels({ fsync: "off" })).toEqual(["error"]);
  expect(levels({ full_page_writes: "off" })).toEqual(["warning"]);
  expect(levels({ open_connections: "95" })).toEqual(["warning"]);
  expect(levels({ open_connections: "85", superuser_reserved_connections: "3" })).toEqual([]);
});

test("a host whose certificate expires soon or has expired is reported", () => {
  const now = Date.now();
  const result = { ok: true, status: 401, error: "Invalid API key", at: now } as const;
  const whats = (certificateExpiresAt: number) =>
    judgeProbe("https://shop.example", { ...result, certificateExpiresAt }, now).map(({ what }) => what);
  expect(whats(now + 15 * day)).toEqual(["shop.example: the relay answers"]);
  expect(whats(now + 13.5 * day)).toContain("shop.example: the certificate expires in 13 days");
  expect(judgeProbe("https://shop.example", { ok: false, code: "CERT_HAS_EXPIRED" }, now)).toMatchObject([
    { level: "error", what: "shop.example: the certificate has expired" },
  ]);
});
