// Every CSV file of the management API, with texts of senders, visitors, shops, people and receivers that a spreadsheet would
// calculate: each file has them, and none begins a cell.

import { expect, test } from "vitest";
import { contract } from "../../src/contract/contract.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation } from "../support/relay.ts";
import { cellsOf, isFormula } from "../support/spreadsheet.ts";
import { report } from "../support/visits.ts";

const host = "shop.example";
const dayMs = 86_400_000;
/** A formula where cells end at commas, and another one where they end at semicolons or tabs. */
const formula = "=1+1;=2+2";

/** Files into which nobody outside of the relay writes a text. */
const ownTexts = ["GET /sites/:site/webhooks/:webhook/pushes.csv"];

test("no text that somebody else chose begins a cell as a formula, in any CSV file", async () => {
  const receiver = await startReceiver();
  receiver.behave = (_request, response) => response.writeHead(422, { "content-type": "text/plain" }).end(formula);
  const home = await newInstallation("sqlite", { CLEANCAST_PUSH_SECONDS: "1" });
  const { id: site } = await home.addSite(host);
  await home.run("connection", "add", host, "webhook", `url=${receiver.url}/refuses`);
  const { webhook } = await home.run("webhook", "add", host, `${receiver.url}/totals`);
  const relay = await home.start();
  const owner = await becomeOwner(relay);
  const ask = async (route: string, body?: unknown) => {
    const { status, json, answer } = await owner.ask(route.replace(":site", site), body);
    expect([route, status, answer.text]).toEqual([route, 200, answer.text]);
    return json;
  };

  // The sender of conversions, and somebody with a wrong body.
  const { key } = await ask("POST /sites/:site/keys", { name: formula, mode: "live" });
  await ask("POST /api-keys", { name: formula, site: null, scopes: ["read"] });
  const event = { email: `ada@${host}`, event: formula, orderId: formula, value: 5, currency: "EUR" };
  await eventually("the relay knows the key and the connection", async () => {
    const { status, text } = await relay.post(key, { ...event, orderId: `${formula} ${Math.random()}` });
    return status === 200 && text.includes("422");
  });
  expect((await relay.post(key, event)).status).toBe(200);
  expect((await relay.post(key, "{")).status).toBe(400);

  // A visitor who comes from an ad, and calls itself a bot.
  const headers = { "User-Agent": `${formula} AhrefsBot/7.0` };
  const params = { gclid: formula, utm_campaign: formula };
  expect((await report(relay, host, "visit", { params, page: `https://${host}/${formula}` }, headers)).status).toBe(204);

  // A suspicious one, which is in a file of its own.
  const suspicious = { "Content-Type": "text/plain" };
  expect((await report(relay, host, "visit", { page: `https://${host}/=1+1` }, suspicious)).status).toBe(204);

  // The shop's list of orders.
  const orders = [formula, `${formula} missing`].map((orderId) => ({
    orderId,
    time: Date.now(),
    value: 7,
    currency: "EUR",
    status: "paid",
    email: `ada@${host}`,
  }));
  expect(await ask("POST /sites/:site/orders", { orders })).toEqual({ written: 2, refused: [] });
  const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
  const { reconciliation } = await ask("POST /sites/:site/reconciliations", { from: day(-1), to: day(1) });
  await eventually("the orders are compared", async () => {
    const { json } = await owner.ask(`GET /sites/${site}/reconciliations/${reconciliation.id}`);
    return json.reconciliation.state === "done";
  });

  const ids: Record<string, string> = { site, webhook: webhook.id, run: reconciliation.id };
  const files = Object.entries(contract).filter(([, route]) => "answer" in route && route.answer === "csv");
  expect(files.length).toBeGreaterThan(8);
  for (const [name] of files) {
    const path = name.replace(/:(\w+)/g, (all, param: string) => ids[param] ?? all);
    let text = "";
    await eventually(`${name} has a row with a formula`, async () => {
      text = (await owner.ask(path)).answer.text;
      return ownTexts.includes(name) ? text.trim().includes("\n") : text.includes("=1+1");
    });
    for (const separator of [",", ";", "\t"])
      expect([name, separator, cellsOf(text, separator).filter(isFormula)]).toEqual([name, separator, []]);
  }
  const visits = async (query: string) => (await owner.ask(`GET /sites/${site}/bots.csv${query}`)).answer.text;
  await eventually("the suspicious visit is kept", async () => /not sent by the tag,40/.test(await visits("?suspicious=true")));
  expect(await visits("?suspicious=true")).not.toContain("AhrefsBot");
  expect(await visits("")).not.toContain("not sent by the tag,40");
  expect((await call(relay.url, { method: "GET", path: "/healthz" })).status).toBe(200);
});
