// Reconciliation from the list to the last number: by the command line, by the API, and with a relay that is killed meanwhile.

import { loadOf } from "../support/load.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/kernel/time.ts";
import { ask, becomeOwner, type Person } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { rows, setUpSite, type SiteSetup } from "../support/installation.ts";
import { call, engines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";

const day = (ahead: number) => new Date(Date.now() + ahead * dayMs).toISOString().slice(0, 10);
/** Yesterday to tomorrow, so that midnight changes nothing. */
const window = ["--from", day(-1), "--to", day(1)];
const total = loadOf(6000);

describe.each(engines)("reconciliation on %s", (engine) => {
  let home: Installation;
  let site: SiteSetup;
  let relay: Relay;
  let owner: Person;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await setUpSite(home, [["sandbox", {}]]);
    relay = await home.start();
    owner = await becomeOwner(relay);
  });

  const write = (name: string, ...lines: string[]) => {
    const path = join(freshFolder(), name);
    writeFileSync(path, `${lines.join("\n")}\n`);
    return path;
  };
  const now = () => new Date().toISOString();
  const post = (orderId: string, value: number) =>
    relay.post(site.key, {
      email: `${orderId}@example.com`,
      event: "purchase",
      orderId,
      value,
      currency: "EUR",
    });
  const finished = async (id: string) => {
    await eventually("the reconciliation ends", async () => {
      const { reconciliation } = await home.run("reconcile", "show", site.siteId, id);
      return reconciliation.state === "done";
    });
    return (await home.run("reconcile", "show", site.siteId, id)).reconciliation;
  };

  test("orders that never arrived are found, exported, imported, and then accepted", async () => {
    for (const [orderId, value] of [
      ["1001", 5],
      ["1002", 6],
      ["1003", 7],
      ["9999", 1],
    ] as const)
      expect((await post(orderId, value)).status).toBe(200);
    const path = write(
      "orders.csv",
      "Name,Created at,Total,Currency,Financial Status,Email",
      `#1001,${now()},5.00,EUR,paid,1001@example.com`,
      `#1002,${now()},8.00,EUR,paid,1002@example.com`,
      `#1003,${now()},7.00,EUR,refunded,1003@example.com`,
      `#1004,${now()},9.00,EUR,paid,1004@example.com`,
      `#1005,${now()},9.00,EUR,pending,1005@example.com`,
      `#1006,${now()},9.00,EUR,paid,`,
    );
    expect(await home.run("reconcile", "upload", site.siteId, path)).toMatchObject({
      state: "done",
      tally: { rows: 6, imported: 6 },
    });
    const started = await home.run("reconcile", "start", ...window);
    expect(await finished(started.reconciliation.id)).toMatchObject({
      orders: 5,
      received: 3,
      classes: {
        matched: 1,
        value_differs: 1,
        status_changed: 1,
        missing_here: 2,
        not_due: 1,
        extra_here: 1,
      },
      foundBy: { "other spelling": 3 },
      values: [{ currency: "EUR", listed: 38, received: 18 }],
      connections: [{ platform: "sandbox", accepted: 3, notReceived: 2, deliverable: 5 }],
    });
    const { items: missing } = await home.run("reconcile", "rows", site.siteId, "--class", "missing_here");
    expect(missing.map((row: { orderId: string }) => row.orderId)).toEqual(["#1004", "#1006"]);
    expect(await home.print("reconcile", "show")).toContain("2 never received");
    expect(await home.print("reconcile", "list")).toContain(started.reconciliation.id);

    const out = join(freshFolder(), "missing.csv");
    expect(await home.run("reconcile", "export", site.siteId, "--out", out)).toEqual({
      file: out,
      written: 1,
      withoutEmail: 1,
      similar: 0,
    });
    expect(readFileSync(out, "utf8")).not.toContain("@example.com");
    const imported = await home.run("import", "conversions", site.siteId, out, "--deliver", "all", "--yes");
    expect(imported).toMatchObject({ state: "done", tally: { imported: 1, refused: 0 } });
    await eventually("it is accepted", async () => {
      const { reconciliation } = await home.run("reconcile", "start", ...window, "--wait");
      return reconciliation.connections[0].accepted === 4 && reconciliation.classes.missing_here === 1;
    });
  });

  test("the list is uploaded again after a correction, and the last one counts", async () => {
    const path = write("orders.ndjson", JSON.stringify({ orderId: "#1002", time: now(), value: 6, currency: "EUR" }));
    for (let times = 0; times < 2; times++)
      expect(await home.run("reconcile", "upload", site.siteId, path)).toMatchObject({
        state: "done",
        tally: { imported: 1 },
      });
    const { reconciliation } = await home.run("reconcile", "start", ...window, "--wait");
    expect(reconciliation.classes).toMatchObject({ matched: 3 });
    expect(reconciliation.classes.value_differs).toBeUndefined();
  });

  test("programs send orders, start a run and read every number's rows with an API key", async () => {
    const created = await owner.ask("POST /api-keys", {
      name: "shop",
      site: site.siteId,
      scopes: ["write", "read"],
    });
    const bearer = { Authorization: `Bearer ${created.json.key}` };
    const api = (route: string, body?: unknown) => ask(relay, route.replace("SITE", `sites/${site.siteId}`), body, bearer);
    const sent = await api("POST /SITE/orders", {
      orders: [
        { orderId: "2001", time: Date.now(), value: 12.5, currency: "EUR" },
        { orderId: "2002", time: now(), value: 1, currency: "EURO" },
      ],
    });
    expect(sent.json).toEqual({
      written: 1,
      refused: [{ index: 1, reason: "currency is not an ISO 4217 code like EUR" }],
    });
    const upload = (type: string, body: string, query = "") =>
      call(relay.url, {
        method: "POST",
        path: `/api/v1/sites/${site.siteId}/orders/upload${query}`,
        headers: { ...bearer, "Content-Type": type },
        body,
      });
    const csv = `order;date;total;currency\n2003;${now()};7,50;EUR\n2004;soon;1;EUR\n`;
    expect(JSON.parse((await upload("text/csv", csv)).text)).toMatchObject({
      rows: 2,
      written: 1,
      refused: 1,
    });
    const wrong = await upload("application/x-www-form-urlencoded", csv);
    expect([wrong.status, JSON.parse(wrong.text).error.message]).toEqual([
      400,
      "Send CSV or NDJSON, with Content-Type: text/csv or application/x-ndjson.",
    ]);
    expect((await upload("text/csv", csv, "?timeZone=Mars")).status).toBe(400);
    expect((await upload("text/csv", "a,b\n1,2\n")).text).toContain("No column was found for");
    expect((await api("GET /SITE/orders")).json).toMatchObject({ orders: 8, isAtLeast: false, feed: null });

    const begun = await api("POST /SITE/reconciliations", { from: day(-1), to: day(1) });
    expect(begun.status).toBe(200);
    const { id } = begun.json.reconciliation;
    await finished(id);
    const { reconciliation } = (await api(`GET /SITE/reconciliations/${id}`)).json;
    for (const { losses } of reconciliation.connections[0].funnel)
      for (const { count, rows: filter } of losses) {
        const listed = await api(`GET /SITE/reconciliations/${id}/rows?${new URLSearchParams(filter).toString()}`);
        expect([filter, listed.json.items.length]).toEqual([filter, count]);
      }
    const first = await api(`GET /SITE/reconciliations/${id}/rows?limit=2`);
    const second = await api(`GET /SITE/reconciliations/${id}/rows?limit=200&cursor=${encodeURIComponent(first.json.next)}`);
    expect(first.json.items).toHaveLength(2);
    const ids = [...first.json.items, ...second.json.items].map((row: { id: string }) => row.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await api(`GET /SITE/reconciliations/${id}/rows?state=sent`)).json.error.field).toBe("connection");
    expect((await api(`GET /SITE/reconciliations/${id}/rows.csv?class=extra_here`)).answer.text).toContain("extra_here");
    expect((await api(`GET /SITE/reconciliations/${id}/missing.csv`)).answer.text).toMatch(/^hashed_email,event,value/);
    expect((await api(`POST /SITE/reconciliations/${id}/cancel`)).json.error.message).toContain("is not running");
    expect((await api("POST /SITE/reconciliations", { from: "soon" })).json.error.field).toBe("from");

    const feed = {
      url: "https://shop.example/orders.csv?token=s3cret",
      header: { name: "X-Key", value: "k3y" },
    };
    const set = await api("PUT /SITE/order-feed", feed);
    expect(set.json.feed).toMatchObject({ url: "https://shop.example/…", header: "X-Key", fetchedAt: null });
    expect((await api("GET /SITE/orders")).answer.text).not.toMatch(/s3cret|k3y/);
    expect((await home.run("reconcile", "feed", "show")).feed).toMatchObject({
      url: "https://shop.example/…",
    });
    expect((await api("DELETE /SITE/order-feed")).status).toBe(200);
    expect((await api("DELETE /SITE/order-feed")).status).toBe(404);
    const token = write("key.txt", "k3y");
    const again = await home.run("reconcile", "feed", "set", site.siteId, feed.url, "--header", `X-Key=@${token}`);
    expect(again.feed).toMatchObject({ url: "https://shop.example/…", header: "X-Key" });
    await home.run("reconcile", "feed", "fetch");
    await home.run("reconcile", "feed", "remove");
    expect((await api("GET /SITE/orders")).json.feed).toBeNull();
    const metrics = await call(relay.url, { method: "GET", path: "/metrics", headers: {} });
    expect(metrics.text).toMatch(/cleancast_reconciled_rows_total\{class="matched"\} \d/);
  });

  test("missing orders are sent with one command or request, and no order twice", async () => {
    const other = await setUpSite(home, [["sandbox", {}]], "repair.example.com");
    const of = "repair.example.com";
    const path = write(
      "orders.csv",
      "order,date,total,currency,email,status",
      `#R-1,${now()},5,EUR,r1@example.com,paid`,
      `#R-2,${now()},6,EUR,r2@example.com,paid`,
      `#R-3,${now()},7,EUR,,paid`,
      `#R-4,${now()},8,EUR,r4@example.com,refunded`,
    );
    const send = (orderId: string, email: string) =>
      relay.post(other.key, { email, event: "purchase", orderId, value: 8, currency: "EUR" });
    await eventually("the relay knows the key", async () => (await send("R-4", "r4@example.com")).status === 200);
    await home.run("reconcile", "upload", of, path);
    const { reconciliation } = await home.run("reconcile", "start", of, ...window, "--wait");
    expect(reconciliation.classes).toEqual({ missing_here: 3, status_changed: 1 });

    // It arrives after the comparison, from a sender that writes another id and knows another address.
    expect((await send("r-2", "other@example.com")).status).toBe(200);
    await expect(home.run("reconcile", "send", of)).rejects.toThrow("Add --yes to do it.");
    const result = { withoutEmail: 1, similar: 0, filtered: 0, refused: 0, reasons: {} };
    expect(await home.run("reconcile", "send", of, "--yes")).toEqual({
      ...result,
      sent: 1,
      receivedSince: 1,
      next: null,
      waitingFor: null,
    });
    const route = `/sites/${other.siteId}/reconciliations/${reconciliation.id}`;
    const again = await owner.ask(`POST ${route}/missing/send`, {});
    expect(again.json).toEqual({ ...result, sent: 0, receivedSince: 2, next: null, waitingFor: null });
    await eventually("it is accepted", async () => {
      const { reconciliation: next } = await home.run("reconcile", "start", of, ...window, "--wait");
      return next.connections[0].accepted === 3 && next.classes.missing_here === 1;
    });

    const correct = () => home.run("reconcile", "correct", of, reconciliation.id, "--yes");
    await expect(correct()).rejects.toThrow("Corrections are off.");
    const refused = await owner.ask(`POST ${route}/corrections`, { class: "status_changed" });
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      "Corrections are off. Turn on the site's setting corrections first.",
    ]);
    await home.run("site", "set", other.siteId, "corrections=on");
    expect(await correct()).toEqual({ orders: 1, left: 0, corrections: { "cannot be taken back": 1 }, next: null });
    expect(await home.run("reconcile", "correct", of, reconciliation.id, "--class", "value_differs", "--yes")).toMatchObject({
      orders: 0,
    });
    const listed = await owner.ask(`GET ${route}/rows?class=status_changed`);
    expect(listed.json.items[0].outcomes).toMatchObject([{ correction: { state: "cannot be taken back" } }]);
  });

  test(`a reconciliation of ${total} orders whose relay is killed goes on where it was, and its numbers equal its rows`, async () => {
    const other = await setUpSite(home, [["sandbox", {}]], "large.example.com");
    const at = now();
    const lines = Array.from({ length: total }, (_, i) =>
      JSON.stringify({ orderId: `L-${i}`, time: at, value: i, currency: "EUR" }),
    );
    await home.run("reconcile", "upload", "large.example.com", write("large.ndjson", ...lines));
    let id = "";
    const counted = async () => {
      const found = await rows(
        home,
        `SELECT class, COUNT(*) AS n FROM reconciliation_rows WHERE site_id = '${other.siteId}' AND run_id = '${id}' GROUP BY class`,
      );
      return found.map((row) => [row.class, Number(row.n)]);
    };
    // On a busy machine the relay may be done before this process gets to kill it: then it compares once more.
    await eventually("the relay is killed while it compares", async () => {
      id = (await home.run("reconcile", "start", "large.example.com", ...window)).reconciliation.id;
      await eventually("the first orders are compared", async () => (await counted()).length > 0);
      await relay.kill();
      const [[, before = 0] = []] = await counted();
      if (Number(before) < total) return true;
      relay = await home.start();
      return false;
    });

    // Without a relay nothing is compared, so there is time to cancel.
    const idle = await home.run("reconcile", "start", site.siteId, ...window);
    const cancelled = await home.run("reconcile", "cancel", site.siteId, idle.reconciliation.id);
    expect(cancelled.reconciliation.state).toBe("cancelled");

    relay = await home.start();
    const read = async () => (await home.run("reconcile", "show", "large.example.com", id)).reconciliation;
    await eventually("the reconciliation ends", async () => (await read()).state === "done");
    expect(await counted()).toEqual([["missing_here", total]]);
    const run = await read();
    expect(run).toMatchObject({ state: "done", orders: total, received: 0, classes: { missing_here: total } });
    expect(run.values[0].listed).toBe((total * (total - 1)) / 2);
  });
});
