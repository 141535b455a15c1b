// Scheduled exports of several sites in one run: what is wrong with one, or slow, keeps no other from being written.

import { readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { newEvent, newSite } from "../../test/support/events.ts";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { startReceiver } from "../../test/support/receiver.ts";
import { eventually } from "../../test/support/relay.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { say } from "../kernel/messages/message.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { createDirectory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import { exportDue } from "./due.ts";
import { removeDataExport, setDataExport, type ExportRequest } from "./manage.ts";
import { readBucketPlace } from "./target.ts";
import { createUploader, type Uploader } from "./upload.ts";

const start = Date.UTC(2026, 10, 15, 12);
const complete = start + hourMs + 16 * minuteMs;
const store = await createAt(await newLocation("sqlite"));
afterAll(() => store.close());
const unused: Uploader = {
  send: async () => ({ ok: false, error: "nothing was to be sent" }),
  close: async () => {},
};

/** Makes sites with one event each and an export. The first one is worked on first. */
async function sitesWith(count: number, wantedOf: (i: number) => ExportRequest = () => ({ to: "folder", format: "ndjson" })) {
  const folder = freshFolder();
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await newSite(store));
  ids.sort();
  const directory = createDirectory(store);
  await directory.refresh();
  const by = { actor: "test", now: start, allowPrivate: readAllowList("") as AllowList, exportFolder: folder };
  for (const [i, id] of ids.entries()) {
    const site = directory.site(id) ?? expect.unreachable("it was made here");
    await setDataExport(store, site, wantedOf(i), by);
    await store.events.accept(newEvent(id, { receivedAt: start + 1 }));
  }
  const run = (changes: Partial<Parameters<typeof exportDue>[0]> = {}) =>
    exportDue({
      store,
      directory,
      exportFolder: folder,
      uploader: unused,
      mayContinue: async () => true,
      now: () => complete,
      ...changes,
    });
  const isWritten = (id: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).includes(`v1/site=${id}/table=events`);
  const end = async () => {
    for (const id of ids) await removeDataExport(store, id, by);
  };
  return { ids, run, isWritten, end };
}

/** A store in which the rows of one site cannot be exported. */
function failingFor(siteId: string, error: Error): Store {
  const { exportRows } = store;
  const listHour: typeof exportRows.listHour = async (id, ...rest) => {
    if (id === siteId) throw error;
    return exportRows.listHour(id, ...rest);
  };
  return { ...store, exportRows: { ...exportRows, listHour } };
}

test("a defect of one site is stored with its export and reported, and the others are written", async () => {
  const { ids, run, isWritten, end } = await sitesWith(3);
  const [bad = "", ...others] = ids;
  const failing = failingFor(bad, new TypeError("a row is odd"));
  await expect(run({ store: failing })).rejects.toThrow(
    `1 export failed because of a defect. Site ${bad}: TypeError: a row is odd`,
  );
  expect(others.map(isWritten)).toEqual([true, true]);
  expect(await store.dataExports.find(bad)).toMatchObject({
    error: say("export_defect"),
    failingSince: complete,
    dueAt: complete + 10 * minuteMs,
    nextHour: start,
  });
  // It waits, as after any other failure, and then goes on.
  expect(await run({ store: failing })).toEqual([]);
  expect(await run({ now: () => complete + 10 * minuteMs })).toMatchObject([{ site: bad, hours: 1, error: null }]);
  expect(await store.dataExports.find(bad)).toMatchObject({ error: null, failingSince: null });
  await end();
});

test("a defect is reported although the run ends early", async () => {
  const { ids, run, end } = await sitesWith(2);
  const [bad = ""] = ids;
  const failing = failingFor(bad, new TypeError("a row is odd"));
  let rounds = 0;
  const listDue: typeof store.dataExports.listDue = async (at) => {
    if ((rounds += 1) > 1) throw new Error("the store is away");
    return store.dataExports.listDue(at);
  };
  const error: unknown = await run({ store: { ...failing, dataExports: { ...store.dataExports, listDue } } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(String(error)).toContain(
    `1 export failed because of a defect. The run ended early: Error: the store is away. Site ${bad}: TypeError: a row is odd`,
  );
  await end();
});

test("a long run ends when a defect is to be tried again, so that it is logged once and soon", async () => {
  const { ids, run, end } = await sitesWith(2);
  const [bad = "", other = ""] = ids;
  const failing = failingFor(bad, new TypeError("a row is odd"));
  // Of two days, each hour of the other one takes minutes.
  let at = complete + 48 * hourMs;
  const now = () => (at += minuteMs);
  await expect(run({ store: failing, now })).rejects.toThrow(`1 export failed because of a defect. Site ${bad}`);
  const { nextHour = 0 } = (await store.dataExports.find(other)) ?? {};
  expect(nextHour).toBeGreaterThan(start);
  expect(nextHour).toBeLessThan(start + 24 * hourMs);
  const done = await run({ now: () => at + 10 * minuteMs });
  expect(done.map(({ site, error }) => [site, error])).toEqual(expect.arrayContaining(ids.map((id) => [id, null])));
  await end();
});

test("without the lease nothing more is written, of no site, and no failure is stored", async () => {
  const { ids, run, isWritten, end } = await sitesWith(6);
  let asked = 0;
  const mayContinue = async () => (asked += 1) <= 3;
  await expect(run({ mayContinue })).rejects.toThrow("Another export runs");
  expect(ids.filter(isWritten)).toEqual([]);
  for (const id of ids) expect(await store.dataExports.find(id)).toMatchObject({ error: null, nextHour: start });
  // A lease that cannot be renewed is no failure of the sites that are under way.
  asked = 0;
  const lost = async () => {
    asked += 1;
    if (asked > 4) throw new Error("the store is away");
    return true;
  };
  await expect(run({ mayContinue: lost, store: failingFor(ids[0] ?? "", new Error("odd")) })).rejects.toThrow("store is away");
  for (const id of ids) expect(await store.dataExports.find(id)).toMatchObject({ error: null, nextHour: start });
  await end();
});

test("a bucket that answers slowly does not delay the others", async () => {
  const bucket = { to: "s3://some-bucket", endpoint: "https://s3.example.com", keyId: "K", secret: "s" };
  const { ids, run, isWritten, end } = await sitesWith(2, (i) => (i === 0 ? bucket : { to: "folder", format: "ndjson" }));
  let answer: () => void = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const slow: Uploader = {
    async send({ method }) {
      await answered;
      return { ok: true, status: method === "GET" ? 404 : 200, body: "" };
    },
    close: async () => {},
  };
  const running = run({ uploader: slow });
  await eventually("the other is written", () => isWritten(ids[1] ?? ""));
  answer();
  expect((await running).map(({ site, hours }) => [site, hours])).toEqual(ids.map((id) => [id, 1]));
  await end();
});

test("a request may last as long as its size needs beside three others", async () => {
  const receiver = await startReceiver();
  receiver.behave = () => {};
  const uploader = createUploader({
    allow: readAllowList("127.0.0.0/8") as AllowList,
    connectMs: 1000,
    maxMs: 1500,
    answerMs: 200,
  });
  const url = new URL(receiver.url);
  const givenUp = new Map<string, number>();
  const began = performance.now();
  const send = async (name: string, body: Uint8Array | null) => {
    const answer = await uploader.send({ method: body ? "PUT" : "GET", url: new URL(`/${name}`, url), headers: {}, body });
    expect(answer).toMatchObject({ ok: false });
    givenUp.set(name, performance.now() - began);
  };
  // By its size alone, the first one would have minutes.
  await Promise.all([send("large", new Uint8Array(1_000_000)), send("small", new Uint8Array(3000)), send("look", null)]);
  await uploader.close();
  expect([...givenUp.keys()]).toEqual(["look", "small", "large"]);
  // 5 kB a second, of the 20 that four share.
  expect(givenUp.get("small")).toBeGreaterThan(750);
});

test("the place of a bucket is text that an address can have", () => {
  expect(readBucketPlace("s3://bucket/ü")).toEqual({ bucket: "bucket", prefix: "ü/" });
  expect(readBucketPlace("s3://bucket/\ud800")).toBeNull();
});
