import { expect, test } from "vitest";
import { sealWith } from "../engine/seal.ts";
import { connectionPlace } from "../sites/configuration.ts";
import { settingPlace } from "../sites/siteSettings.ts";
import { sealRow, unsealRow } from "./secrets.ts";

const [here, there] = [7, 9].map((byte) => sealWith(() => [Buffer.alloc(32, byte)])) as [
  ReturnType<typeof sealWith>,
  ReturnType<typeof sealWith>,
];
const place = connectionPlace("s1", "c1");

test("secrets of a row are sealed with the key of the other database, and compare equal", () => {
  const row = { site_id: "s1", id: "c1", credentials: here.seal('{"token":"t"}', place) };
  const copied = sealRow(there, "connections", unsealRow(here, "connections", row));
  expect(there.unseal(String(copied["credentials"]), place)).toBe('{"token":"t"}');
  expect(unsealRow(there, "connections", copied)).toEqual(unsealRow(here, "connections", row));
});

test("a secret that cannot be unsealed is copied as it is", () => {
  const row = { site_id: "s1", id: "c1", credentials: "damaged" };
  expect(sealRow(there, "connections", unsealRow(here, "connections", row))).toEqual(row);
});

test("secrets inside the settings of a site are sealed with the other key, and settings that cannot be read stay as they are", () => {
  const at = settingPlace("s1", "alertWebhook");
  const settings = JSON.stringify({ keep: "10d", alertWebhook: here.seal("https://hooks.example.com", at) });
  const copied = sealRow(there, "sites", unsealRow(here, "sites", { site_id: "s1", settings }));
  const stored = JSON.parse(String(copied["settings"]));
  expect([stored.keep, there.unseal(stored.alertWebhook, at)]).toEqual(["10d", "https://hooks.example.com"]);
  const damaged = { site_id: "s1", settings: "nonsense" };
  expect(sealRow(there, "sites", unsealRow(here, "sites", damaged))).toEqual(damaged);
});

test("without a seal, secrets stay sealed as they are", () => {
  const row = { site_id: "s1", id: "c1", credentials: here.seal("{}", place) };
  expect(sealRow(null, "connections", unsealRow(null, "connections", row))).toBe(row);
});
