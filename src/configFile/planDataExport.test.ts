// The scheduled export of data in a configuration file.

import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { configurationOf } from "../../test/support/configurationFile.ts";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { Fault } from "../kernel/refusal.ts";
import { dayMs } from "../kernel/time.ts";
import { createDirectory } from "../sites/directory.ts";
import { applyFile } from "./apply.ts";
import { diffText } from "./diff.ts";
import { exportConfiguration, toYaml } from "./export.ts";
import { planFile } from "./plan.ts";

const store = await createAt(await newLocation("sqlite"));
const directory = createDirectory(store);
await directory.refresh();
const at = Date.UTC(2026, 10, 15);
const context = configurationOf(store, directory, at);
afterAll(async () => {
  await context.access.close();
  await store.close();
});
const guide = readFileSync(new URL("../../docs/how-to/export-data.md", import.meta.url), "utf8");
const text = /```yaml[^\n]*\n([^`]+)```/.exec(guide)?.[1] ?? "";
const file = (content: string, secret = "s3cret") => ({
  name: "cleancast.yaml",
  text: content,
  lookup: { variable: () => secret, file: () => new Fault("no such file.") },
});
const options = { prune: false, owner: "test", now: () => at, elapsed: () => performance.now(), confirm: async () => {} };
const apply = (content: string, secret?: string) => applyFile(context, file(content, secret), options);
const planned = async (content: string, secret?: string) => diffText(await planFile(context, file(content, secret), options));

test("an export of a file is added, changed, exported and ended, and shows no secret", async () => {
  const added = await planned(text);
  expect(added).toContain("+ data export of shop.example.com");
  expect(added).toContain("s3://my-bucket/cleancast/");
  await apply(text);
  const site = [...directory.sites()][0]?.id ?? "";
  expect(await store.dataExports.find(site)).toMatchObject({
    target: {
      kind: "bucket",
      bucket: "my-bucket",
      prefix: "cleancast/",
      region: "eu-central-1",
      keyId: "AKEXAMPLE",
      secret: "s3cret",
    },
    options: { format: "parquet", people: false },
  });
  expect(await planned(text)).toBe("");

  const rotated = await planned(text, "another");
  expect(rotated).toContain("~ data export of shop.example.com");
  expect(rotated).not.toContain("another");
  await apply(`${text}      people: true\n`, "another");
  expect(await store.dataExports.find(site)).toMatchObject({ target: { secret: "another" }, options: { people: true } });

  const exported = toYaml(await exportConfiguration(context));
  expect(exported).toContain("secret: ${SHOP_EXAMPLE_COM_EXPORT_SECRET}");
  for (const secret of ["another", "s3cret"]) expect(exported).not.toContain(secret);
  expect(await planned(exported, "another")).toBe("");
  const audited = JSON.stringify(await store.audit.list(site, 100));
  for (const secret of ["another", "s3cret"]) expect(audited).not.toContain(secret);

  const off = "version: 1\nsites:\n  - hosts: [shop.example.com]\n    data_export: off\n";
  expect(await planned(off)).toContain("- data export of shop.example.com");
  await apply(off);
  expect(await store.dataExports.find(site)).toBeNull();
  expect(await planned(off)).toBe("");
});

test("a file whose since has become too old is applied as before, and refused only where since counts", async () => {
  await apply(text);
  const site = [...directory.sites()][0]?.id ?? "";
  const before = await store.dataExports.find(site);
  const later = { ...context, by: { ...context.by, now: at + 500 * dayMs } };
  const withPeople = file(`${text}      people: true\n`);
  expect(diffText(await planFile(later, withPeople, options))).not.toContain("since");
  await applyFile(later, withPeople, options);
  const { fromHour, nextHour } = before ?? expect.unreachable("it was added");
  expect(await store.dataExports.find(site)).toMatchObject({ options: { people: true }, fromHour, nextHour });
  const moved = text.replace("s3://my-bucket", "s3://other-bucket").replace("key_id: AKEXAMPLE", "key_id: AKOTHER");
  await expect(planFile(later, file(moved), options)).rejects.toThrow("since: must be a time in the past");
  // A new place gets the past again.
  expect(await planned(moved)).toContain("since");
  await apply(moved);
  expect(await store.dataExports.find(site)).toMatchObject({ target: { bucket: "other-bucket" }, liveHour: at });
  await apply("version: 1\nsites:\n  - hosts: [shop.example.com]\n    data_export: off\n");
});

test.each([
  [text.replace("${EXPORT_SECRET}", "plain"), "is a secret: write it as a reference"],
  [text.replace("s3://my-bucket/cleancast", "/etc"), "must be folder or s3://BUCKET/PREFIX"],
  [text.replace("s3://my-bucket/cleancast", "folder"), "CLEANCAST_EXPORT_FOLDER"],
  [text.replace("https://s3.eu-central-1.amazonaws.com", "https://127.0.0.1"), "private address"],
  [text.replace("2026-11-01", "soon"), "since: must be a date like 2026-11-01"],
])("a wrong field is a fault of the file", async (content, message) => {
  expect(content).not.toBe(text);
  await expect(planned(content)).rejects.toThrow(message);
});
