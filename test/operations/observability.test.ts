// Health, readiness, metrics and logs of a running relay; and its Grafana dashboard and alert rules, which may only use
// existing metrics.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { change, rows } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  call,
  engines,
  eventually,
  newInstallation,
  type Answer,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";
import { freshEvent, plainText, summarize } from "../contract/answers.ts";

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8")) as {
  version: string;
};
const token = "a-token-for-prometheus";
const bearer = { Authorization: `Bearer ${token}` };
const get = (relay: Relay, path: string, headers: Record<string, string> = {}) =>
  call(relay.url, { method: "GET", path, headers });

/** Series by name and labels, as Prometheus reads them. */
function seriesIn(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]));
}

type Line = Record<string, unknown>;
const logged = (relay: Relay): Line[] =>
  relay
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

const checks = {
  store: "ok",
  writes: "ok",
  configuration: "ok",
  worker: "ok",
  clock: "ok",
  schema: "ok",
};
const readiness = ({ status, text }: Answer) => ({ status, ...(JSON.parse(text) as object) });

describe.each(engines)("health, metrics and logs on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  const email = "Grace.Quagmire@echo.example";

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, {
      CLEANCAST_METRICS_TOKEN: token,
      CLEANCAST_METRICS_SITES: "on",
      CLEANCAST_DRAIN_SECONDS: "4",
      CLEANCAST_RETRY_SECONDS: "3600",
      LOG_LEVEL: "debug",
    });
    site = await home.addSite("shop.example", "block_domains=blocked.example");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}`);
    await home.run("connection", "add", site.host, "sandbox");
    relay = await home.start();
  });

  const metrics = async () => seriesIn((await get(relay, "/metrics", bearer)).text);

  test("/healthz and /readyz report that a relay is alive and ready, and nothing more", async () => {
    expect(summarize(await get(relay, "/healthz"))).toEqual(plainText(200, "ok"));
    const ready = await get(relay, "/readyz", { Host: site.host });
    expect(ready.headers["cache-control"]).toBe("no-store");
    expect(readiness(ready)).toEqual({ status: 200, ok: true, checks });
  });

  test("the metrics count events, answers and outcomes", async () => {
    const send = (more: Record<string, unknown> = {}) => relay.post(site.key, freshEvent(more));
    const twice = freshEvent();
    for (const one of [twice, twice]) expect((await relay.post(site.key, one)).status).toBe(200);
    expect((await send({ email: "eve@blocked.example" })).text).toContain("filtered");
    receiver.behave = (_got, response) => response.writeHead(503).end("no");
    expect((await send()).text).toContain("queued");
    // The platform echoes the request, which must not reach the log.
    receiver.behave = (got, response) => response.writeHead(400).end(got.text);
    expect((await send({ email })).text).toContain("rejected");
    receiver.behave = (_got, response) => response.writeHead(200).end("{}");
    expect((await send({ currency: "no" })).status).toBe(400);
    expect((await relay.post(site.key, "{")).status).toBe(400);
    expect((await relay.post(`${site.key}x`, freshEvent())).status).toBe(401);
    expect((await call(relay.url, { headers: { "X-CC-Api-Key": site.key }, body: "{}" })).status).toBe(415);
    expect((await get(relay, "/__cc/inbound")).status).toBe(405);
    await report(relay, site.host, "visit", { u: `https://${site.host}/`, b: [] });

    const found = await metrics();
    const answers = (status: number, reason: string) =>
      found.get(`cleancast_inbound_answers_total{status="${status}",reason="${reason}"}`);
    expect(answers(200, "dispatched")).toBe(3);
    expect(answers(200, "duplicate")).toBe(1);
    expect(answers(200, "filtered")).toBe(1);
    expect(answers(400, "field")).toBe(1);
    expect(answers(400, "body")).toBe(1);
    expect(answers(401, "invalid key")).toBe(1);
    expect(answers(415, "content type")).toBe(1);
    expect(answers(405, "method")).toBe(1);
    expect(found.get("cleancast_inbound_answer_seconds_count")).toBe(9);
    expect(found.get('cleancast_events_filtered_total{reason="blocked domain"}')).toBe(1);
    expect(found.get(`cleancast_site_events_total{site="${site.id}",exit="dispatched"}`)).toBe(3);

    const deliveries = (platform: string, outcome: string) =>
      found.get(`cleancast_deliveries_total{platform="${platform}",outcome="${outcome}"}`);
    expect(deliveries("webhook", "sent")).toBe(1);
    expect(deliveries("webhook", "queued")).toBe(1);
    expect(deliveries("webhook", "rejected")).toBe(1);
    expect(deliveries("sandbox", "sent")).toBe(3);
    const attempts = (status: string) => found.get(`cleancast_attempts_total{platform="webhook",status="${status}"}`);
    expect([attempts("2xx"), attempts("4xx"), attempts("5xx")]).toEqual([1, 1, 1]);
    expect(found.get('cleancast_attempt_seconds_count{platform="webhook"}')).toBe(3);
    expect(found.get('cleancast_attempt_seconds_bucket{platform="webhook",le="+Inf"}')).toBe(3);
    expect(found.get('cleancast_connections{platform="webhook",state="active"}')).toBe(1);
    expect(found.get(`cleancast_build_info{version="${version}",engine="${engine}"}`)).toBe(1);
    expect(found.get('cleancast_ready{check="store"}')).toBe(1);
    expect(found.get('cleancast_queue_waiting{platform="webhook"}')).toBe(1);
    expect(found.get('cleancast_queue_waiting{platform="sandbox"}')).toBe(0);
    expect(found.get('cleancast_queue_overdue_seconds{platform="webhook"}')).toBe(0);
    // Four events, and the outcomes of three.
    expect(found.get("cleancast_store_writes_total")).toBeGreaterThanOrEqual(7);
    expect(found.get("cleancast_store_commit_seconds_count")).toBeGreaterThan(0);
    expect(found.get("cleancast_defects_total")).toBe(0);
    expect([...found.keys()].filter((name) => name.startsWith("cleancast_visits_total"))).toHaveLength(1);
    expect(found.has("cleancast_clock_skew_seconds")).toBe(engine === "postgres");
    // A metric without a value is absent.
    expect(found.has("cleancast_certificate_expiry_timestamp_seconds")).toBe(false);
  });

  test("the metrics count deletions, also those of the command line", async () => {
    const {
      webhook: { id },
    } = await home.run("webhook", "add", site.host, "https://hooks.example.com/totals");
    await home.run("webhook", "remove", id, "--yes");
    const found = await metrics();
    const deletions = (kind: string) => found.get(`cleancast_deletions_total{kind="${kind}"}`);
    expect(["site", "connection", "webhook", "person", "retention"].map(deletions)).toEqual([0, 0, 1, 0, 0]);
    expect(found.has("cleancast_purged_records_total")).toBe(true);
  });

  test("only the operator can read the metrics", async () => {
    const forwarded = {
      "X-Forwarded-For": "203.0.113.9",
      "X-Forwarded-Proto": "https",
      Host: "cc.example.com",
    };
    const status = async (headers: Record<string, string>) => (await get(relay, "/metrics", headers)).status;
    expect(await status(bearer)).toBe(200);
    expect(await status({ ...forwarded, ...bearer })).toBe(200);
    // A request from this machine needs the token too: it may come from a proxy that forwards no address.
    expect(await status({})).toBe(401);
    expect(await status(forwarded)).toBe(401);
    expect(await status({ ...forwarded, Authorization: `Bearer ${token}x` })).toBe(401);
    expect(await status({ ...forwarded, Authorization: token })).toBe(401);
    expect(await status({ Forwarded: "for=203.0.113.9" })).toBe(401);
    expect(await status({ Host: site.host })).toBe(404);
    // With the token the metrics are available on every host.
    expect(await status({ ...bearer, Host: site.host })).toBe(200);
  });

  test("at the level info, an event has one line, and a warning where a delivery needs a person", async () => {
    await eventually("the log is written", () => logged(relay).some(({ state }) => state === "rejected"));
    const events = Map.groupBy(
      // A duplicate has a line of its own, which names the event that counts.
      logged(relay).filter(({ event, level, exit }) => event !== undefined && Number(level) >= 30 && exit !== "duplicate"),
      ({ event }) => event,
    );
    const shown = [...events.values()].map((lines) => lines.map(({ msg, level }) => `${String(msg)} ${String(level)}`));
    expect(shown.filter((lines) => lines.length === 1).every(([line]) => line === "inbound 30")).toBe(true);
    expect(shown.filter((lines) => lines.length > 1).map((lines) => lines.toSorted())).toEqual([["attempt 40", "inbound 30"]]);
  });

  test("the log has one wide line per request and attempt, without personal data", async () => {
    await eventually("the log is written", () => {
      const written = logged(relay);
      const attempts = written.filter(({ msg }) => msg === "attempt");
      return attempts.length >= 6 && written.some(({ status }) => status === 415);
    });
    const lines = logged(relay);
    const events = lines.filter(({ msg }) => msg === "inbound");
    const dispatched = events.filter(({ exit }) => exit === "dispatched");
    expect(dispatched.map(({ results }) => results)).toEqual(
      ["sent", "queued", "rejected"].map((webhook) => ({ webhook, sandbox: "sent" })),
    );
    expect(dispatched[0]).toEqual({
      level: 30,
      time: expect.any(Number),
      msg: "inbound",
      site: site.id,
      key: expect.stringMatching(/^\w{10}$/),
      event: expect.stringMatching(/^[0-9a-z]{26}$/),
      name: "purchase",
      mode: "live",
      exit: "dispatched",
      results: { webhook: "sent", sandbox: "sent" },
      status: 200,
      ms: expect.any(Number),
    });
    expect(events.find(({ exit }) => exit === "filtered")).toMatchObject({ reasons: ["blocked domain"] });
    expect(events.filter(({ reason }) => reason).map(({ status, reason }) => [status, reason])).toEqual([
      [400, "field"],
      [400, "body"],
      [401, "invalid key"],
      [415, "content type"],
    ]);

    const attempts = lines.filter(({ msg, platform }) => msg === "attempt" && platform === "webhook");
    expect(attempts.map(({ state, status }) => [state, status])).toEqual([
      ["sent", 200],
      ["queued", 503],
      ["rejected", 400],
    ]);
    expect(attempts[1]).toEqual({
      level: 20,
      time: expect.any(Number),
      msg: "attempt",
      site: site.id,
      event: dispatched[1]?.event,
      connection: expect.stringMatching(/^\w{10}$/),
      platform: "webhook",
      number: 1,
      state: "queued",
      status: 503,
      batch: 1,
      ms: expect.any(Number),
      next: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });

    // The sync log has the answer without the person's hash, and the log of the process has no answer.
    const hash = sha256Of(email.toLowerCase());
    const [kept] = await rows(home, `SELECT response FROM attempts WHERE http_status = 400`);
    expect(String(kept?.response)).toContain('"emailSha256":"…"');
    for (const secret of [hash, "quagmire", "blocked.example", site.key, token])
      expect(relay.output().toLowerCase()).not.toContain(secret.toLowerCase());
  });

  test("a relay is not ready while its store does not answer, and ready again when it does", async () => {
    await change(home, `ALTER TABLE migrations RENAME TO elsewhere`);
    await eventually("/readyz answers 503", async () => (await get(relay, "/readyz")).status === 503);
    expect(readiness(await get(relay, "/readyz"))).toEqual({
      status: 503,
      ok: false,
      checks: { ...checks, store: "failing" },
    });
    // The process is alive, and its metrics are still served.
    expect((await get(relay, "/healthz")).status).toBe(200);
    expect((await metrics()).get('cleancast_ready{check="store"}')).toBe(0);
    await change(home, `ALTER TABLE elsewhere RENAME TO migrations`);
    await eventually("the relay is ready", async () => (await get(relay, "/readyz")).status === 200);
  });

  test("a relay is not ready when the schema is older than its own", async () => {
    const [newest] = await rows(home, `SELECT * FROM migrations ORDER BY version DESC LIMIT 1`);
    await change(home, `UPDATE migrations SET version = 0 WHERE version = ${Number(newest?.version)}`);
    const failing = async () => readiness(await get(relay, "/readyz"));
    await eventually("/readyz answers 503", async () => (await failing()).status === 503);
    expect(await failing()).toMatchObject({ checks: { ...checks, schema: "failing" } });
    await change(home, `UPDATE migrations SET version = ${Number(newest?.version)} WHERE version = 0`);
  });

  test("a stopping relay is not ready, and accepts requests until the drain is over", async () => {
    await eventually("the relay is ready", async () => (await get(relay, "/readyz")).status === 200);
    const stopped = relay.stop();
    await eventually("/readyz answers 503", async () => (await get(relay, "/readyz")).status === 503);
    expect(readiness(await get(relay, "/readyz"))).toEqual({
      status: 503,
      ok: false,
      checks: { stopping: "failing" },
    });
    expect((await relay.post(site.key, freshEvent())).status).toBe(200);
    expect(await stopped).toBe(0);
    await expect(get(relay, "/readyz")).rejects.toThrow("ECONNREFUSED");
  });
});

describe("the files for Grafana and Prometheus", () => {
  const file = (name: string) => fileURLToPath(new URL(`../../ops/${name}`, import.meta.url));
  const namesIn = (text: string) =>
    new Set(
      [...text.matchAll(/\b(?:cleancast|nodejs|process)_[a-z0-9_]+/g)]
        .map(([name]) => name)
        .map((name) => name.replace(/_(?:bucket|count|sum)$/, "")),
    );
  let exported: Set<string>;

  beforeAll(async () => {
    // Traces have metrics of their own, and need no receiver for them.
    const relay = await (await newInstallation("sqlite")).start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    const { text } = await get(relay, "/metrics");
    for (const header of ["X-Forwarded-For", "Via", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP"])
      expect((await get(relay, "/metrics", { [header]: "203.0.113.9" })).status).toBe(401);
    exported = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string));
    await relay.kill();
  });

  test("the Grafana dashboard and the alert rules use only existing metrics", () => {
    const dashboard = readFileSync(file("grafana/cleancast.json"), "utf8");
    const rules = readFileSync(file("prometheus/alerts.yml"), "utf8");
    const { panels } = JSON.parse(dashboard) as { panels: { type: string; targets?: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets ?? []).map(({ expr }) => expr);
    expect(expressions.length).toBeGreaterThan(25);
    for (const expression of expressions) expect(namesIn(expression).size, expression).toBeGreaterThan(0);
    const named = [...namesIn(expressions.join(" ")), ...namesIn(rules)];
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  });

  test("every metric of the relay is on the Grafana dashboard and in the guide", () => {
    const ours = [...exported].filter((name) => name.startsWith("cleancast_"));
    expect(ours.length).toBeGreaterThan(20);
    const shown = namesIn(readFileSync(file("grafana/cleancast.json"), "utf8"));
    expect(ours.filter((name) => !shown.has(name))).toEqual([]);
    const guide = readFileSync(fileURLToPath(new URL("../../docs/how-to/monitoring.md", import.meta.url)), "utf8");
    expect(ours.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
    expect([...namesIn(guide)].filter((name) => !exported.has(name))).toEqual([]);
  });

  test("every alert rule has a severity, a summary, and what to do about it", () => {
    const { groups } = parse(readFileSync(file("prometheus/alerts.yml"), "utf8")) as {
      groups: { rules: { alert: string; expr: string; labels: Line; annotations: Line }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        "CleancastDeliveriesDoNotLeave",
        "CleancastDiskFillsUp",
        "CleancastDatabaseGrows",
        "CleancastBackupFailed",
        "CleancastBackupOld",
        "CleancastPurgeStopped",
      ]),
    );
    for (const { alert, expr, labels, annotations } of rules) {
      expect(alert).toMatch(/^Cleancast[A-Z]/);
      expect(expr.startsWith("up{") ? ["up"] : [...namesIn(expr)], alert).not.toEqual([]);
      expect(["page", "ticket"], alert).toContain(labels.severity);
      expect(Object.keys(annotations).toSorted(), alert).toEqual(["action", "summary"]);
      // A sentence, and not a word.
      expect(String(annotations.action).length, alert).toBeGreaterThan(20);
    }
  });

  test("the example for an OpenTelemetry Collector reads the path, the token and the log fields that the relay has", () => {
    const text = readFileSync(fileURLToPath(new URL("../../docs/examples/otel-collector.yaml", import.meta.url)), "utf8");
    const { receivers, service } = parse(text) as {
      receivers: { prometheus: { config: { scrape_configs: Line[] } }; journald: { operators: Line[] } };
      service: { pipelines: Record<string, { receivers: string[] }> };
    };
    const [scrape] = receivers.prometheus.config.scrape_configs;
    expect(scrape).toMatchObject({
      metrics_path: "/metrics",
      authorization: { type: "Bearer", credentials: "${env:CLEANCAST_METRICS_TOKEN}" },
    });
    const [lines] = receivers.journald.operators;
    expect(lines).toMatchObject({
      timestamp: { parse_from: "attributes.time", layout: "ms" },
      severity: { parse_from: "attributes.level", mapping: { info: 30, warn: 40, error: 50 } },
    });
    for (const { receivers: used } of Object.values(service.pipelines))
      for (const name of used) expect(Object.keys(receivers)).toContain(name);
  });

  test.skipIf(!existsSync("/usr/bin/promtool"))("Prometheus accepts the alert rules", () => {
    const checked = execFileSync("/usr/bin/promtool", ["check", "rules", file("prometheus/alerts.yml")]);
    expect(checked.toString()).toMatch(/SUCCESS: \d+ rules found/);
  });
});
