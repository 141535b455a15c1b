// Files of data from a real installation, read back by DuckDB, in a folder and in a bucket whose requests AWS's own signer judges.
// Both are packages of test/export: npm ci --ignore-scripts --prefix test/export installs them.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { createUploader } from "../../src/export/upload.ts";
import { readAllowList, type AllowList } from "../../src/delivery/addresses.ts";
import { bucketTarget } from "../../src/export/target.ts";
import { sha256Of } from "../support/sha256.ts";
import { freshFolder } from "../support/databases.ts";
import { setUpSite, withStore, type SiteSetup } from "../support/installation.ts";
import { startReceiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation } from "../support/relay.ts";
import { startS3 } from "./s3Double.ts";

const packages = new URL("node_modules/", import.meta.url);
const isInstalled = existsSync(packages);
if (!isInstalled)
  console.log("The export of data is not tested: npm ci --ignore-scripts --prefix test/export installs what reads it.");

const shiftClock = fileURLToPath(new URL("../support/shiftClock.ts", import.meta.url));
const hourMs = 3_600_000;
const credentials = { keyId: "AKTEST", secret: "s3cret/with+signs", region: "eu-central-1" };
const allowLocal = readAllowList("127.0.0.0/8") as AllowList;

type Reader = (sql: string) => Promise<Record<string, unknown>[]>;

async function openReader(): Promise<Reader> {
  const { DuckDBInstance } = (await import(new URL("@duckdb/node-api/lib/index.js", packages).href)) as {
    DuckDBInstance: {
      create(): Promise<{
        connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }> }>;
      }>;
    };
  };
  const connection = await (await DuckDBInstance.create()).connect();
  return async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

describe.skipIf(!isInstalled).each(engines)("exported data on %s", (engine) => {
  let home: Installation;
  let site: SiteSetup;
  let read: Reader;
  const email = "jane.buyer@example.com";
  const orders = Array.from({ length: 30 }, (_, i) => ({ orderId: `E-${i} ü`, value: i === 3 ? 1234567890.1234 : i / 10 }));

  beforeAll(async () => {
    const platform = await startReceiver();
    platform.behave = (_request, response) =>
      response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { code: 400, message: `${email} ${sha256Of(email)} is unknown` } }));
    home = await newInstallation(engine, { CLEANCAST_PLATFORM_ORIGINS: JSON.stringify({ google_ads: platform.url }) });
    const google = {
      customer_id: "123-456-7890",
      access_token: "google-token",
      conversion_action: "77",
      enhanced_conversions_for_leads: "on",
    };
    site = await setUpSite(home, [
      ["sandbox", {}],
      ["google_ads", google],
    ]);
    // The relay received these events three hours ago.
    const clock = join(freshFolder(), "clock");
    mkdirSync(dirname(clock), { recursive: true });
    writeFileSync(clock, String(-3 * hourMs));
    const relay = await home.start({ CLEANCAST_TEST_CLOCK: clock, NODE_OPTIONS: `--import ${shiftClock}` });
    for (const order of orders) {
      const event = { email, event: "purchase", currency: "EUR", ...order };
      expect((await relay.post(site.key, event)).status).toBe(200);
    }
    await eventually("every delivery is settled", async () => {
      const { items } = await home.run("delivery", "list", "--limit", "200");
      return items.length === 60 && items.every(({ state }: { state: string }) => state === "sent" || state === "rejected");
    });
    await relay.stop();
    read = await openReader();
  });

  const exportTo = (to: string, ...options: string[]) => home.run("export", "data", "--to", to, "--from", "6h", ...options);

  test("an independent reader finds each event, delivery and attempt once, with exact amounts and times", async () => {
    const folder = freshFolder();
    const { items } = await exportTo(folder);
    expect(items).toEqual([{ site: site.siteId, hours: expect.any(Number), files: expect.any(Number), rows: 150, skipped: 0 }]);
    const table = (name: string) => `read_parquet('${folder}/v1/site=*/table=${name}/date=*/hour=*/*.parquet')`;
    const [events] = await read(
      `SELECT count(*)::INT AS n, count(DISTINCT event_id)::INT AS ids, sum(value)::VARCHAR AS total, max(value)::VARCHAR AS largest,
              typeof(any_value(value)) AS amount, typeof(any_value(received_at)) AS time,
              max(abs(epoch_ms(received_at) - ${Date.now() - 3 * hourMs})) < 1800000 AS near FROM ${table("events")}`,
    );
    expect(events).toEqual({
      n: 30,
      ids: 30,
      total: "1234567933.3234",
      largest: "1234567890.1234",
      amount: "DECIMAL(18,4)",
      time: "TIMESTAMP WITH TIME ZONE",
      near: true,
    });
    const [joined] = await read(
      `SELECT count(*)::INT AS n, count(*) FILTER (d.state = 'sent')::INT AS sent, count(*) FILTER (a.http_status = 400)::INT AS failed
       FROM ${table("deliveries")} d JOIN ${table("attempts")} a USING (event_id, connection_id) JOIN ${table("events")} e USING (event_id)`,
    );
    expect(joined).toEqual({ n: 60, sent: 30, failed: 30 });
    const query = /```sql[^\n]*\n([^`]+);\n```/.exec(
      readFileSync(new URL("../../docs/how-to/export-data.md", import.meta.url), "utf8"),
    )?.[1];
    expect(await read(String(query).replaceAll("exported/", `${folder}/`))).toEqual([
      { platform: "google_ads", state: "rejected", conversions: "30", value: "1234567933.3234" },
      { platform: "sandbox", state: "sent", conversions: "30", value: "1234567933.3234" },
    ]);
    const names = await read(`SELECT order_id FROM ${table("events")} ORDER BY received_at, event_id LIMIT 1`);
    expect(names).toEqual([{ order_id: "E-0 ü" }]);
  });

  test("manifests name every file with its size and hash, and no file has contact data or a hash of a person", async () => {
    const folder = freshFolder();
    await exportTo(folder);
    const files = filesIn(folder);
    const manifests = files.filter((name) => name.endsWith("/manifest.json"));
    const listed = manifests.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).files);
    expect(listed.map(({ key }: { key: string }) => key).toSorted()).toEqual(files.filter((name) => name.endsWith(".parquet")));
    for (const { key, bytes, sha256 } of listed) {
      const content = readFileSync(join(folder, key));
      expect([content.length, createHash("sha256").update(content).digest("hex")]).toEqual([bytes, sha256]);
    }
    // The text of the compressed files is what the same rows are as NDJSON.
    const plain = freshFolder();
    await exportTo(plain, "--format", "ndjson");
    const text = filesIn(plain)
      .map((name) => readFileSync(join(plain, name), "utf8"))
      .join("\n");
    expect(text).toContain('"E-7 ü"');
    expect(text).toContain("is unknown");
    for (const secret of [email, sha256Of(email), site.key, "jane", "google-token"]) expect(text).not.toContain(secret);
    const [rows] = await read(
      `SELECT count(*)::INT AS n FROM read_json('${plain}/v1/site=*/table=*/date=*/hour=*/*.ndjson', union_by_name=true)`,
    );
    expect(rows).toEqual({ n: 150 });
  });

  test("an hour is exported once, and its files never change", async () => {
    const folder = freshFolder();
    const first = await exportTo(folder);
    const before = new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")]));
    const again = await exportTo(folder);
    expect(again.items).toEqual([{ site: site.siteId, hours: 0, files: 0, rows: 0, skipped: first.items[0].hours }]);
    expect(new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")]))).toEqual(before);
  });

  test("hashes of emails are there only if the operator says so, and the audit log knows", async () => {
    const folder = freshFolder();
    await exportTo(folder, "--people");
    const [people] = await read(
      `SELECT count(*)::INT AS n FROM read_parquet('${folder}/v1/site=*/table=events/**/*.parquet') WHERE email_sha256 = '${sha256Of(email)}'`,
    );
    expect(people).toEqual({ n: 30 });
    const { items } = await home.run("audit", "shop.example.com");
    expect(items[0]).toMatchObject({ action: "data exported", detail: { people: true } });
  });

  test("the same files go to a bucket, and a wrong secret or a private address is refused", async () => {
    const s3 = await startS3(credentials.keyId, credentials.secret, credentials.region);
    const settings = {
      CLEANCAST_EXPORT_S3_ENDPOINT: s3.url,
      CLEANCAST_EXPORT_S3_REGION: credentials.region,
      CLEANCAST_EXPORT_S3_KEY_ID: credentials.keyId,
      CLEANCAST_EXPORT_S3_SECRET: credentials.secret,
    };
    const run = (env: Record<string, string>) =>
      home.with({ ...settings, ...env }).run("export", "data", "--to", "s3://my-bucket/clean", "--from", "6h");
    const fails = (env: Record<string, string>) =>
      home.with({ ...settings, ...env }).fails("export", "data", "--to", "s3://my-bucket/clean", "--from", "6h");
    const wrong = await fails({ CLEANCAST_EXPORT_S3_SECRET: "another" });
    expect(wrong.error).toBe("The bucket refused to read a file: HTTP 403, SignatureDoesNotMatch.");
    expect((await fails({ CLEANCAST_ALLOW_PRIVATE: "" })).error).toMatch(/^The bucket cannot be reached: /);
    expect(s3.objects.size).toBe(0);

    const done = await run({});
    expect(done.items[0].rows).toBe(150);
    const folder = freshFolder();
    await exportTo(folder);
    expect([...s3.objects.keys()].toSorted()).toEqual(filesIn(folder).map((name) => `/my-bucket/clean/${name}`));
    expect((await run({})).items[0]).toMatchObject({ hours: 0, skipped: done.items[0].hours });
    // An export that was interrupted: the manifest is missing, and a part is another one than it will be now.
    const isManifest = (key: string) => key.endsWith("manifest.json");
    const part = [...s3.objects.keys()].find((key) => key.includes("table=deliveries")) ?? "";
    const whole = s3.objects.get(part);
    s3.objects.set(part, Buffer.from("half"));
    for (const key of s3.objects.keys()) if (isManifest(key)) s3.objects.delete(key);
    expect((await run({})).items[0]).toMatchObject({ hours: done.items[0].hours, rows: 150 });
    expect(s3.objects.get(part)?.equals(whole ?? Buffer.alloc(0))).toBe(true);
  });

  test("a scheduled export writes the past and what is due, by the relay itself, and its query reads it", async () => {
    const s3 = await startS3(credentials.keyId, credentials.secret, credentials.region);
    const exports = freshFolder();
    const at = home.with({ CLEANCAST_EXPORT_FOLDER: exports });
    const secret = join(freshFolder(), "secret");
    mkdirSync(dirname(secret), { recursive: true });
    writeFileSync(secret, `${credentials.secret}\n`);
    const place = ["--endpoint", s3.url, "--region", credentials.region, "--key-id", credentials.keyId, "--since", "6h"];
    const set = (...more: string[]) =>
      at.run("export", "schedule", "set", site.siteId, "s3://my-bucket/hourly", ...place, ...more);
    const shown = await set("--secret", "wrong");
    expect(shown.export).toMatchObject({ to: "s3://my-bucket/hourly/", keyId: credentials.keyId, people: false });
    expect((await at.run("export", "due")).items).toMatchObject([
      { hours: 0, error: "The bucket refused to read a file: HTTP 403, SignatureDoesNotMatch." },
    ]);
    expect(s3.objects.size).toBe(0);
    await set("--secret", `@${secret}`);
    const relay = await at.start();
    const show = async () => (await at.run("export", "schedule", "show")).export;
    await eventually("the relay has written the complete hours", async () => {
      const { nextAt, error } = await show();
      expect(error === null || error.includes("403")).toBe(true);
      return nextAt !== null && error === null;
    });
    await relay.stop();
    const { runs, query } = await show();
    expect(runs.reduce((sum: number, { rows }: { rows: number }) => sum + rows, 0)).toBe(150);
    expect(query).not.toContain(credentials.secret);
    // What the store holds, as DuckDB reads it.
    const copy = freshFolder();
    for (const [key, content] of s3.objects) {
      mkdirSync(dirname(join(copy, key)), { recursive: true });
      writeFileSync(join(copy, key), content);
    }
    const [, select = ""] = String(query)
      .replaceAll("s3://", `${copy}/`)
      .split(/(?<=URL_STYLE 'path'[^;]*);\n/);
    expect(await read(select)).toEqual([
      { platform: "google_ads", state: "rejected", currency: "EUR", conversions: "30", value: "1234567933.3234" },
      { platform: "sandbox", state: "sent", currency: "EUR", conversions: "30", value: "1234567933.3234" },
    ]);

    // To the folder of the operator, and NDJSON: the same rows.
    await at.run("export", "schedule", "set", site.siteId, "folder", "--format", "ndjson", "--since", "6h");
    expect((await at.run("export", "due")).items).toMatchObject([{ rows: 150, error: null }]);
    expect(await read((await show()).query)).toMatchObject([{ conversions: "30" }, { conversions: "30" }]);
    const files = filesIn(exports).map((name) => readFileSync(join(exports, name), "utf8"));
    for (const text of [email, sha256Of(email), site.key, "google-token"]) expect(files.join("\n")).not.toContain(text);
    await at.run("export", "schedule", "remove");
    expect((await at.run("export", "due")).items).toEqual([]);
    expect((await home.fails("export", "schedule", "set", site.siteId, "folder")).error).toContain("CLEANCAST_EXPORT_FOLDER");
  });

  test("one export at a time runs, so that none replaces the files of another", async () => {
    const folder = freshFolder();
    await withStore(home, async (store) => {
      expect(await store.leases.acquire("export", "another node", Date.now(), Date.now() + 60_000)).toBe(true);
      expect((await home.fails("export", "data", "--to", folder, "--from", "6h")).error).toBe(
        "Another export runs. Wait until it has ended.",
      );
      expect(existsSync(join(folder, "v1"))).toBe(false);
      await store.leases.release("export", "another node");
    });
    expect((await exportTo(folder)).items[0].rows).toBe(150);
  });

  test("a period without a complete hour, a wrong time and a bucket without settings are refused", async () => {
    expect((await home.fails("export", "data", "--to", "x", "--from", "1m")).error).toContain("no complete hour");
    expect((await home.fails("export", "data", "--to", "x", "--from", "soon")).error).toContain("must be a time like");
    expect((await home.fails("export", "data", "--to", "s3://bucket")).error).toContain("CLEANCAST_EXPORT_S3_*");
  });
});

test.skipIf(!isInstalled)("AWS's signer agrees with ours, for any key", async () => {
  const s3 = await startS3(credentials.keyId, credentials.secret, credentials.region);
  const uploader = createUploader({ allow: allowLocal, connectMs: 5000, maxMs: 30_000 });
  const file = join(freshFolder(), "file");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "content");
  const target = bucketTarget({ endpoint: new URL(s3.url), bucket: "b-1", prefix: "p/", credentials }, uploader, Date.now);
  for (const key of ["plain", "a b", "ü/ö", "x+y&z=$@!'()*~", "date=2026-11-18/hour=05/part-0000.parquet", "%41", "日本"]) {
    await target.put(key, file);
    expect([key, await target.has(key), await target.has(`${key}-`)]).toEqual([key, true, false]);
  }
  expect(s3.objects.size).toBe(7);
  await uploader.close();
});
