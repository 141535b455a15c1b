// Messages of every part of the relay, read in every way: by all routes, as JSON and as CSV, by commands as text and as JSON, in
// answers to senders, on pages, and in the log. The readers refuse a text with a packed message.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contract } from "../../src/contract/contract.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation } from "../support/relay.ts";
import { checkSentences } from "../support/sentences.ts";

const dayMs = 86_400_000;
const host = "shop.example";

test("a message is a sentence wherever it is read", async () => {
  const receiver = await startReceiver();
  receiver.behave = (_request, response) => response.writeHead(401).end();
  const home = await newInstallation("sqlite", {
    CLEANCAST_DNS: "127.0.0.1:9",
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify({ meta: "http://127.0.0.1:9" }),
  });
  const { id: site, key } = await home.addSite(host);
  const relay = await home.start();
  const owner = await becomeOwner(relay);

  const { connection } = await home.run("connection", "add", host, "webhook", `url=${receiver.url}/refused`);
  const { connection: meta } = await home.run(
    "connection",
    "add",
    host,
    "meta",
    "pixel_id=123456789012345",
    "access_token=EAAB0123456789",
  );
  const { webhook } = await home.run("webhook", "add", host, `${receiver.url}/totals`);
  await home.run("webhook", "disable", webhook.id);

  const eventTime = new Date(Date.now() - 8 * dayMs).toISOString();
  const event = { email: `ada@${host}`, event: "purchase", orderId: "A-1", value: 5, currency: "EUR", eventTime };
  await eventually("the relay knows the connections", async () => {
    const { text } = await relay.post(key, { ...event, orderId: `A-${Math.random()}` });
    return text.includes("older than the 7 days that Meta takes") && text.includes("needs reconnection: HTTP 401");
  });
  expect((await relay.post(key, { ...event, items: [{}] })).text).toContain("items[0].id required");
  expect((await call(relay.url, { method: "GET", path: "/oauth/start/none" })).text).toContain("link");

  // Its backfill waits, so that it can be cancelled.
  const { connection: late } = await home.run("connection", "add", host, "sandbox");
  await home.run("connection", "pause", late.id);
  await home.run("backfill", "start", late.id, "--days", "30", "--yes");
  await home.run("backfill", "cancel", late.id);
  await home.print("connection", "verify", meta.id);

  const folder = freshFolder();
  const [file, refused] = [join(folder, "orders.csv"), join(folder, "refused.csv")];
  const now = new Date().toISOString();
  writeFileSync(file, `order,date,total,currency,email\nA-1,${now},5,EUR,ada@${host}\nA-9,never,7,EUR,bo@${host}\n`);
  await home.exitCode("reconcile", "upload", host, file);
  const period = ["--from", eventTime.slice(0, 10), "--to", now.slice(0, 10)];
  const { reconciliation } = await home.run("reconcile", "start", host, ...period, "--wait");
  writeFileSync(file, `event,eventTime,email,orderId\npurchase,never,ada@${host},B-1\n`);
  await home.exitCode("import", "conversions", host, file, "--deliver", "none", "--refused", refused);
  expect(checkSentences(readFileSync(refused, "utf8"))).toContain("eventTime is not a time that can be read");

  const [found] = (await home.run("event", "list", host)).items;
  const ids: Record<string, string> = {
    site,
    connection: connection.id,
    webhook: webhook.id,
    event: found.id,
    run: reconciliation.id,
  };
  const read: Record<string, string> = {};
  for (const [name, route] of Object.entries(contract)) {
    const path = name.replace(/:(\w+)/g, (all, param: string) => ids[param] ?? all);
    if (!name.startsWith("GET ") || path.includes(":") || ("answer" in route && route.answer === "stream")) continue;
    const { answer } = await owner.ask(path);
    read[name] = answer.text;
  }
  expect(read["GET /sites/:site/deliveries"]).toContain("older than the 7 days that Meta takes");
  expect(read["GET /sites/:site/deliveries.csv"]).toContain("needs reconnection: HTTP 401");
  expect(read["GET /sites/:site/audit.csv"]).toContain("disabled by command line");
  expect(read["GET /sites/:site/rejected-requests.csv"]).toContain("items[0].id required");
  expect(read["GET /sites/:site/checklist"]).toContain('"code":"step_');

  const commands = [
    ["audit", host],
    ["site", "show", host],
    ["connection", "list", host],
    ["connection", "show", meta.id],
    ["webhook", "list", host],
    ["event", "list", host],
    ["event", "show", found.id],
    ["delivery", "list", host],
    ["import", "list", host],
    ["backfill", "list", host],
    ["reconcile", "show", host, reconciliation.id],
    ["alert", "list", host],
    ["quality", host],
    ["person", "export", host, "--email", `ada@${host}`],
    ["doctor"],
  ];
  let printed = "";
  for (const words of commands) {
    printed += await home.print(...words);
    await home.exitCode(...words);
  }
  expect(printed).toContain("older than the 7 days that Meta takes");
  expect(printed).toContain("disabled by command line");
  expect(checkSentences(relay.output())).not.toBe("");
});
