// Samples of the pages that are neither commands nor programs: answers of the relay, and lines for a theme of WordPress.

import { spawnSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { standinConnections } from "../scripts/standinConnections.ts";
import { startStandins } from "../standins/shared/start.ts";
import { becomeOwner } from "./support/apiClient.ts";
import { startReceiver } from "./support/receiver.ts";
import { call, newInstallation, type Installation, type Relay } from "./support/relay.ts";
import { blocksOf } from "./support/documents/documents.ts";

const sampleOf = (page: string) => blocksOf(page).find(({ mark }) => mark === "by test/samples.test.ts")?.text ?? "";

let home: Installation;
let relay: Relay;
let key: string;
beforeAll(async () => {
  const standins = await startStandins({ only: ["google_ads"] });
  home = await newInstallation("sqlite", { CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins) });
  ({ key } = await home.addSite("shop.example.com"));
  const { url } = await startReceiver();
  await home.run("connection", "add", "shop.example.com", "webhook", `url=${url}/`);
  const settings = Object.entries(standinConnections.google_ads).map(([name, value]) => `${name}=${value}`);
  await home.run("connection", "add", "shop.example.com", "google_ads", ...settings);
  relay = await home.start();
  return () => standins.close();
});

test("the endpoint's page shows the answer of two platforms, one of which needs a click id", async () => {
  const answer = await relay.post(key, { email: "ada@example.com", event: "purchase", orderId: "S-1" });
  expect(JSON.parse(answer.text)).toEqual(JSON.parse(sampleOf("docs/reference/inbound.md")));
});

test("the page on monitoring shows the answer of /readyz", async () => {
  const answer = await call(relay.url, { method: "GET", path: "/readyz" });
  expect(JSON.parse(answer.text)).toEqual(JSON.parse(sampleOf("docs/how-to/monitoring.md")));
});

test("the page on the management API shows the answer to a wrong setting", async () => {
  const owner = await becomeOwner(relay);
  const site = (await owner.ask("GET /sites")).json.items[0].id;
  const { json } = await owner.ask(`PATCH /sites/${site}/settings`, { settings: { keep: "two weeks" } });
  expect({ error: json.error }).toEqual(JSON.parse(sampleOf("docs/reference/management-api.md")));
});

const hasPhp = spawnSync("php", ["--version"]).status === 0;
if (!hasPhp) console.log("PHP is not installed here: the lines for WordPress are not run.");

test.runIf(hasPhp)("the lines for WordPress print the tag into the head of each page", () => {
  const wordpress = `function add_action($hook, $print) { if ($hook === 'wp_head') $print(); }`;
  const { stdout } = spawnSync("php", ["-r", `${wordpress}\n${sampleOf("docs/how-to/tag.md")}`]);
  expect(String(stdout)).toBe('<script async src="/__cc/tag.js"></script>');
});
