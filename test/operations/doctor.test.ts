// Common mistakes, made on real installations: the doctor finds each one and names the remedy.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { probeInbound } from "../../src/doctor/probe.ts";
import { runDoctor } from "../../src/doctor/doctor.ts";
import type { Finding, Level } from "../../src/doctor/finding.ts";
import { checkWeb } from "../../src/doctor/web.ts";
import { loadInstallation } from "../../src/installation/installation.ts";
import { newAuthority } from "../support/servers/certificates.ts";
import { startDns } from "../support/servers/dnsServer.ts";
import { change, databaseFile, setUpSite, onPostgres, rows, withStore, type Wanted } from "../support/installation.ts";
import { command, engines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { createGateway } from "../support/postgres/gateway.ts";
import { startMailServer } from "../support/servers/mailServer.ts";
import { startTlsProxy } from "../support/servers/tlsProxy.ts";
import { freshFolder } from "../support/databases.ts";
import { freshEvent } from "../contract/answers.ts";
import { dayMs as day } from "../../src/kernel/time.ts";

/** Sets the file mode that the command line sets; the test's own process does not. */
function closeFile(home: Installation): void {
  if (home.engine === "sqlite") chmodSync(databaseFile(home), 0o600);
}

async function setUp(home: Installation, wanted: readonly Wanted[]) {
  const setup = await setUpSite(home, wanted);
  closeFile(home);
  return setup;
}

async function diagnose(home: Installation, env: Record<string, string> = {}, network = false): Promise<Finding[]> {
  const config = readConfig({ ...home.env, ...env });
  return runDoctor({ config, now: Date.now(), open: () => loadInstallation(config), network });
}

/** Expects a finding of this level that matches, and returns its remedy. */
function expectFound(findings: readonly Finding[], level: Level, what: RegExp): string {
  const found = findings.find((one) => what.test(one.what));
  expect(found, `${what} in ${JSON.stringify(findings, null, 1)}`).toMatchObject({ level });
  return found?.remedy ?? "";
}

const expectNone = (findings: readonly Finding[], what: RegExp) =>
  expect(findings.filter((one) => what.test(one.what))).toEqual([]);

describe("a fresh installation", () => {
  test("a fresh installation has no problems, with and without a running relay", async () => {
    const home = await newInstallation("sqlite");
    const relay = await home.start();
    await relay.post(relay.key, freshEvent());
    const { ok, findings } = await home.run("doctor");
    expect(ok).toBe(true);
    expect(findings.filter(({ level }: Finding) => level !== "ok")).toEqual([]);
    await relay.stop();
    expect((await home.run("doctor")).ok).toBe(true);
  });

  test("errors end with exit code 1, and the worst findings come last", async () => {
    const home = await newInstallation("sqlite");
    await withStore(home, async () => {});
    closeFile(home);
    const place = freshFolder();
    writeFileSync(join(place, ".env"), `CLEANCAST_METRICS_TOKEN=${"x".repeat(20)}\n`, { mode: 0o644 });
    const script = `ulimit -n 512; exec "${process.execPath}" "${command}" doctor --offline`;
    const { status, stdout } = spawnSync("sh", ["-c", script], {
      env: home.env,
      cwd: place,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stdout).toContain("\nwarn  a process started here may open only 512 files");
    expect(stdout.trimEnd().split("\n").slice(-6)).toEqual([
      "FAIL  .env holds CLEANCAST_METRICS_TOKEN and is readable by other users",
      "      chmod 600 .env",
      "FAIL  there is no site",
      "      cleancast site add shop.example.com",
      "",
      "2 errors, 1 warning, 0 notes.",
    ]);
    expect(await home.run("doctor", "--offline")).toMatchObject({ ok: false });
  });
});

describe("files", () => {
  let home: Installation;
  let folder: string;

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    folder = String(home.env.CLEANCAST_DATA);
    await setUp(home, [["sandbox", {}]]);
  });

  test("files that other users can read are reported with the command that fixes them", async () => {
    for (const name of ["encryption.key", "cleancast.db"]) {
      chmodSync(join(folder, name), 0o644);
      const remedy = expectFound(await diagnose(home), "error", new RegExp(`^${name} is readable by other users`));
      expect(remedy).toBe(`chmod 600 ${join(folder, name)}`);
      execFileSync("sh", ["-c", remedy]);
      expectNone(await diagnose(home), /readable by other users/);
    }
    chmodSync(folder, 0o755);
    execFileSync("sh", ["-c", expectFound(await diagnose(home), "warning", /other users can read the data folder/)]);
    expectNone(await diagnose(home), /data folder$/);
  });

  test.skipIf(process.getuid?.() !== 0)("files that a command created as another user are reported", async () => {
    chownSync(join(folder, "encryption.key"), 12_345, 12_345);
    const remedy = expectFound(await diagnose(home), "error", /^encryption\.key in the data folder belongs to another user/);
    execFileSync("sh", ["-c", /chown -R \S+ \S+(?=,)/.exec(remedy)?.[0] ?? "false"]);
    expectNone(await diagnose(home), /another user/);
  });
});

describe("settings of the installation", () => {
  let home: Installation;

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    await setUp(home, [["sandbox", {}]]);
  });

  test("a CLEANCAST_URL that is missing or without TLS is reported", async () => {
    expectFound(await diagnose(home), "warning", /CLEANCAST_URL is not set/);
    const plain = await diagnose(home, { CLEANCAST_URL: "http://cc.example.com" });
    expectFound(plain, "error", /passwords and sessions travel unencrypted/);
    expectNone(await diagnose(home, { CLEANCAST_URL: "https://cc.example.com" }), /CLEANCAST_URL/);
    expectNone(await diagnose(home, { CLEANCAST_URL: "http://localhost:8080" }), /CLEANCAST_URL/);
  });

  test("an allow list that includes cloud metadata is reported, a narrow one is not", async () => {
    for (const wide of ["0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254"])
      expectFound(await diagnose(home, { CLEANCAST_ALLOW_PRIVATE: wide }), "error", /CLEANCAST_ALLOW_PRIVATE allows/);
    expectNone(await diagnose(home, { CLEANCAST_ALLOW_PRIVATE: "10.0.0.0/8,crm.internal" }), /ALLOW_PRIVATE/);
  });

  test("a variable that is not a setting is reported with the nearest one", async () => {
    const found = await diagnose(home, { CLEANCAST_TRUST_PROXIES: "10.0.0.0/8", CLEANCAST_COLOUR: "red" });
    const what = /^CLEANCAST_TRUST_PROXIES is not a setting and has no effect$/;
    expect(expectFound(found, "warning", what)).toBe("Did you mean CLEANCAST_TRUST_PROXY?");
    expect(expectFound(found, "warning", /^CLEANCAST_COLOUR is not a setting/)).toBe(
      "Remove it, or look for the right name in .env.example.",
    );
    expectNone(await diagnose(home), /is not a setting/);
  });

  test("replaced platform origins, a very low request limit and a silent log are reported", async () => {
    const found = await diagnose(home, {
      CLEANCAST_PLATFORM_ORIGINS: '{"meta":"http://127.0.0.1:9"}',
      CLEANCAST_MAX_IN_FLIGHT: "8",
      LOG_LEVEL: "silent",
    });
    expectFound(found, "warning", /sends meta to http:\/\/127\.0\.0\.1:9/);
    expectFound(found, "warning", /CLEANCAST_MAX_IN_FLIGHT is 8/);
    expectFound(found, "note", /events are not logged/);
  });

  test("a certificate that expires soon, has expired or is unreadable is reported", async () => {
    const place = freshFolder();
    const makeCertificate = (days: number) => {
      const [cert, key] = [join(place, `${days}.pem`), join(place, `${days}.key`)];
      const subject = ["-subj", "/CN=localhost", "-days", String(days), "-nodes"];
      execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key, "-out", cert, ...subject],
        {
          stdio: "ignore",
        },
      );
      return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
    };
    const soon = makeCertificate(10);
    expectFound(await diagnose(home, soon), "warning", /expires in (?:9|10) days/);
    chmodSync(soon.TLS_KEY_FILE, 0o644);
    expectFound(await diagnose(home, soon), "error", /TLS_KEY_FILE is readable by all users/);
    expectFound(await diagnose(home, makeCertificate(300)), "ok", /is valid for (?:299|300) days/);
    const config = readConfig({ ...home.env, ...soon });
    const later = await runDoctor({
      config,
      now: Date.now() + 11 * day,
      open: () => loadInstallation(config),
      network: false,
    });
    expectFound(later, "error", /has expired/);
    writeFileSync(soon.TLS_CERT_FILE, "no certificate");
    expectFound(await diagnose(home, soon), "error", /is not a certificate/);
  });

  test("an unreachable mail server, missing alert recipients and alerts without a mail server are reported", async () => {
    const mail = { CLEANCAST_MAIL_FROM: "cc@example.com" };
    const gone = await diagnose(home, { ...mail, CLEANCAST_SMTP_URL: "smtp://127.0.0.1:9" }, true);
    expectFound(gone, "error", /^CLEANCAST_SMTP_URL: the mail server/);
    const server = await startMailServer();
    expectFound(await diagnose(home, { ...mail, CLEANCAST_SMTP_URL: server.url }, true), "ok", /mail server answers/);
    await home.run("connection", "add", "shop.example.com", "webhook", "url=http://127.0.0.1:9/");
    expectFound(await diagnose(home), "warning", /shop\.example\.com: no alert recipient/);
    await home.run("site", "set", "shop.example.com", "alert_emails=ops@example.com");
    expectFound(await diagnose(home), "error", /shop\.example\.com: alerts are not mailed/);
    expectNone(await diagnose(home, { ...mail, CLEANCAST_SMTP_URL: server.url }), /mailed|recipient/);
  });
});

describe.each(engines)("a database on %s", (engine) => {
  test("a schema that is behind or ahead is reported and not changed", async () => {
    const home = await newInstallation(engine);
    await setUp(home, [["sandbox", {}]]);
    const versions = () => rows(home, `SELECT version FROM migrations ORDER BY version`);
    const before = await versions();
    const newest = Number(before.at(-1)?.version);
    await change(home, `UPDATE migrations SET version = ${newest + 1} WHERE version = ${newest}`);
    const ahead = await diagnose(home);
    expectFound(
      ahead,
      "warning",
      new RegExp(`schema ${newest + 1} of a newer version; this one knows ${newest}, and is compatible`),
    );
    expectFound(ahead, "ok", /store answers/);
    await change(home, `UPDATE settings SET value = '${newest + 1}' WHERE name = 'oldest_schema'`);
    expectFound(await diagnose(home), "error", new RegExp(`schema ${newest + 1}, this version only knows ${newest}`));
    // No schema is older than the first yet, and 0 is an empty database: -1 stands for an older schema.
    await change(home, `UPDATE migrations SET version = -1 WHERE version = ${newest + 1}`);
    const behind = await diagnose(home);
    expectFound(behind, "error", new RegExp(`schema -1, this version needs ${newest}`));
    expectNone(behind, /store answers/);
    expect(await versions()).toEqual([{ version: expect.anything() }]);
  });

  test("a database that cannot be opened is one finding among others", async () => {
    const home = await newInstallation(engine);
    await setUp(home, [["sandbox", {}]]);
    const wrongKey = await diagnose(home, { CLEANCAST_ENCRYPTION_KEY: "ab".repeat(32) });
    expectFound(wrongKey, "error", /not the key that this database was sealed with/);
    expectFound(wrongKey, "ok", /^Node/);
    if (engine === "sqlite") {
      writeFileSync(databaseFile(home), "no database at all".repeat(100));
      expectFound(await diagnose(home), "error", /the schema could not be checked/);
    } else {
      const at = (url: string) => diagnose(home, { DATABASE_URL: url });
      const gone = await at("postgres://cleancast:hunter2@127.0.0.1:9/x");
      expect(expectFound(gone, "error", /^nothing listens at 127\.0\.0\.1:9$/)).toContain("Start PostgreSQL");
      expectFound(gone, "ok", /^Node/);
      const unknown = await at("postgres://cleancast:hunter2@nowhere.invalid:5432/x");
      expectFound(unknown, "error", /^the host name in nowhere\.invalid:5432 does not resolve$/);
      const url = new URL(String(home.env.DATABASE_URL));
      const { host } = url;
      url.pathname = "/nodb";
      const missing = await at(url.href);
      expect(expectFound(missing, "error", new RegExp(`^PostgreSQL at ${host} has no database nodb$`))).toBe(
        "Create it (CREATE DATABASE nodb), or correct the name in DATABASE_URL.",
      );
      for (const found of [gone, unknown, missing]) expect(JSON.stringify(found)).not.toContain("hunter2");
    }
  });
});

test("a wrong password and a server that does not answer are reported, and never with the password", async () => {
  const home = await newInstallation("postgres");
  const url = new URL(String(home.env.DATABASE_URL));
  const gateway = await createGateway(url.href, { code: "28P01" });
  url.host = gateway.host;
  [url.username, url.password] = ["ada", "hunter2"];
  const wrong = await diagnose(home, { DATABASE_URL: url.href });
  const what = new RegExp(`^PostgreSQL at ${gateway.host} refuses the password of the user ada$`);
  expect(expectFound(wrong, "error", what)).toContain("Correct the user or the password in DATABASE_URL");
  gateway.mode = "silent";
  const silent = await diagnose(home, { DATABASE_URL: url.href });
  expectFound(silent, "error", new RegExp(`^${gateway.host} does not answer$`));
  expect(JSON.stringify([wrong, silent])).not.toContain("hunter2");
});

test("a PostgreSQL that can lose commits, or runs short of connections, is reported", async () => {
  const home = await newInstallation("postgres");
  await setUp(home, [["sandbox", {}]]);
  const name = new URL(String(home.env.DATABASE_URL)).pathname.slice(1);
  const set = (value: string) =>
    onPostgres(home, (client) => client.query(`ALTER DATABASE "${name}" SET synchronous_commit = ${value}`));
  await set("on");
  expectNone(await diagnose(home), /synchronous_commit/);
  await set("off");
  const found = await diagnose(home);
  expectFound(found, "error", /synchronous_commit=off: events answered with 200 can be lost/);
  // More than any server allows.
  const many = await diagnose(home, { CLEANCAST_DATABASE_CONNECTIONS: "500" });
  expectFound(many, "warning", /connections are in use, and another node may open 500/);
});

describe("a site", () => {
  let home: Installation;
  let relay: Relay;
  let site: { siteId: string; key: string; connections: string[] };
  const host = "shop.example.com";

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    site = await setUp(home, [["sandbox", {}]]);
    relay = await home.start();
  });
  afterAll(() => relay.kill());

  test("a site with inbound off, without keys or without connections is reported", async () => {
    await home.run("site", "set", host, "inbound=off");
    const remedy = expectFound(await diagnose(home), "error", /inbound is off although there are keys/);
    expect(remedy).toBe(`cleancast site set ${host} inbound=on`);
    await home.run("site", "set", host, "inbound=on");
    await home.run("site", "add", "bare.example.com");
    const found = await diagnose(home);
    expectFound(found, "error", /^bare\.example\.com: no usable key/);
    expectFound(found, "error", /^bare\.example\.com: inbound is off$/);
    expectFound(found, "error", /^bare\.example\.com: nothing is connected/);
    expectFound(found, "note", /bare\.example\.com.* charts use UTC days/);
    expectNone(found, /^shop\.example\.com: (?:no usable|inbound|nothing)/);
    await home.run("source", "add", "bare.example.com", "jotform");
    expectNone(await diagnose(home), /^bare\.example\.com: (?:no usable|inbound)/);
  });

  test("a host that is paused, unverified or no longer points here is reported", async () => {
    const other = "www.example.com";
    const set = (columns: string) => change(home, `UPDATE hosts SET ${columns} WHERE host = '${other}'`);
    await home.run("host", "add", host, other);
    expectNone(await diagnose(home), /www\.example\.com (?:is|answers)/);
    await home.run("host", "pause", other);
    expect(expectFound(await diagnose(home), "note", /^www\.example\.com is paused/)).toBe(`cleancast host resume ${other}`);
    await home.run("host", "resume", other);
    await set(`trusted = 0, verified_at = NULL, finding = 'not found'`);
    expectFound(await diagnose(home), "warning", /www\.example\.com is not served until it is verified\. .* not in the DNS/);
    await set(`trusted = 1, verified_at = 1, finding = 'not us', seen = 'nginx'`);
    expectFound(await diagnose(home), "warning", /^www\.example\.com answers, but not from here: nginx/);
    await home.run("host", "remove", other);
  });

  test("a site whose tag never reported a visit is reported", async () => {
    expectFound(await diagnose(home), "warning", /^shop\.example\.com: no visit was ever reported by the tag/);
    const hour = Math.floor(Date.now() / 3_600_000);
    await change(home, `INSERT INTO visit_counts VALUES ('${site.siteId}', ${hour}, 'people', '', 'w', 1)`);
    expectNone(await diagnose(home), /^shop\.example\.com: no visit/);
  });

  test("only test events, a placeholder as order id, and opt-in mode without consent are reported", async () => {
    const { key: testKey } = await home.run("key", "add", host, "trial", "--test");
    const sent = (key: string, event: Record<string, unknown>) =>
      eventually("the key works", async () => (await relay.post(key, event)).status === 200);
    await sent(testKey, freshEvent());
    expectFound(await diagnose(home), "warning", /all events are test events/);
    for (const name of ["ada", "bea", "cay", "dee"])
      await sent(site.key, freshEvent({ email: `${name}@example.com`, orderId: "N/A" }));
    const before = await diagnose(home);
    expectNone(before, /all events are test events/);
    expectNone(before, /placeholder/);
    await sent(site.key, freshEvent({ email: "eve@example.com", orderId: "N/A" }));
    expectFound(await diagnose(home), "warning", /5 people have the order id "N\/A"/);

    expectNone(await diagnose(home), /opt-in/);
    await home.run("site", "set", host, "consent_mode=opt-in");
    expectFound(await diagnose(home), "warning", /no consent was ever recorded/);
    await home.run("consent", "set", host, "granted", "--email", "ada@example.com");
    expectNone(await diagnose(home), /opt-in/);
  });

  test("keys that expire soon or were never used are reported", async () => {
    const soon = new Date(Date.now() + 3 * day).toISOString();
    const { id } = await home.run("key", "add", host, "ends", "--expires", soon);
    expect(expectFound(await diagnose(home), "warning", /the key "ends" \(\w+\) expires on/)).toContain(`key rotate ${id}`);
    // A key that was rotated is replaced already: rotating it again would make a third one.
    const { id: fresh, key } = await home.run("key", "rotate", id);
    expectNone(await diagnose(home), /"ends"/);
    await withStore(home, (store) =>
      store.keyUse.addUses([
        {
          siteId: site.siteId,
          keyId: id,
          hour: Math.floor(Date.now() / 3_600_000),
          uses: 1,
          lastUsedAt: Date.now(),
        },
      ]),
    );
    const used = expectFound(await diagnose(home), "note", new RegExp(`was replaced by ${fresh}, and is still used`));
    expect(used).toBe("Give its senders the new key.");
    expect(JSON.stringify(await diagnose(home))).not.toContain(key);
    await home.run("key", "remove", fresh);
    expectFound(await diagnose(home), "warning", /the key "ends" \(\w+\) expires on/);
    await home.run("key", "remove", id);
    const { id: idle } = await home.run("key", "add", host, "idle");
    expectNone(await diagnose(home), /"idle"/);
    await change(home, `UPDATE inbound_keys SET created_at = ${Date.now() - 8 * day} WHERE id = '${idle}'`);
    expectFound(await diagnose(home), "note", /the key "idle" \(\w+\) has never been used/);
  });

  test("senders without TLS are reported", async () => {
    const headers = { Host: host, "X-Forwarded-Proto": "http" };
    expect((await relay.post(site.key, freshEvent(), headers)).status).toBe(426);
    const found = /1 of the last \d+ rejected requests? got 426/;
    // Rejected requests are written once a second.
    await eventually("it is reported", async () => (await diagnose(home)).some((one) => found.test(one.what)));
    const remedy = expectFound(await diagnose(home), "error", found);
    expect(remedy).toContain("CLEANCAST_TRUST_PROXY");
  });

  test("requests that are rejected for their content are reported with their errors, the most frequent first", async () => {
    const send = async (count: number, body: unknown) => {
      for (let i = 0; i < count; i += 1) expect((await relay.post(site.key, body)).status).toBe(400);
    };
    await send(4, { email: "ada@example.com" });
    await send(7, { email: "ada@example.com", event: "purchase", value: "49,90" });
    const found =
      /11 requests with a valid key were rejected for their content: 7 × "value must be a finite JSON number", 4 × "event required"/;
    // Rejected requests are written once a second.
    await eventually("they are reported", async () => (await diagnose(home)).some(({ what }) => found.test(what)));
  });

  test("connections that are paused, need reconnection or never accepted anything are reported", async () => {
    const {
      connection: { id },
    } = await home.run("connection", "add", host, "webhook", "url=http://127.0.0.1:9/");
    await home.run("connection", "pause", id);
    expect(expectFound(await diagnose(home), "warning", /webhook \(\w+\) paused/)).toBe(`cleancast connection resume ${id}`);
    await home.run("connection", "resume", id);
    await change(home, `UPDATE connections SET created_at = ${Date.now() - 8 * day} WHERE id = '${id}'`);
    expectFound(await diagnose(home), "warning", /webhook \(\w+\): events arrive, but none was ever accepted/);

    const google = ["customer_id=1234567890", "conversion_action=77"];
    const tokens = ["access_token=ya29.a0Abcdefghijkl", "refresh_token=1//abcdefghijklm"];
    const {
      connection: { id: ads },
    } = await home.run("connection", "add", host, "google_ads", ...google, ...tokens);
    const lostAfter = async (afterDays: number) => {
      await change(home, `DELETE FROM audit WHERE action = 'connection needs reconnection'`);
      await withStore(home, async (store) => {
        const detail = { id: ads, platform: "google_ads", reason: "invalid_grant" };
        const line = { siteId: site.siteId, actor: "relay", action: "connection needs reconnection", detail };
        const at = Date.now() + afterDays * day;
        await store.configuration.setConnectionState({ ...line, at }, ads, "needs reconnection", "invalid_grant");
      });
      return expectFound(await diagnose(home), "error", /google_ads \(\w+\) needs reconnection: invalid_grant/);
    };
    expect(await lostAfter(30)).toContain(`cleancast sign-in ${host} google_ads`);
    expect(await lostAfter(7)).toContain('"Testing"');
  });

  test("a token that expires and cannot be renewed is reported", async () => {
    const linkedin = [
      "ad_account_id=104012",
      "default_rule=7",
      "access_token=AQXabcdefghijklmnop",
      `expires_at=${Date.now() + 5 * day}`,
    ];
    await home.run("connection", "add", host, "linkedin", ...linkedin);
    expectFound(await diagnose(home), "warning", /linkedin \(\w+\): its token expires on .* and cannot be renewed/);
  });

  test("a webhook that fails or is disabled is reported", async () => {
    const {
      webhook: { id },
    } = await home.run("webhook", "add", host, "http://127.0.0.1:9/");
    await change(home, `UPDATE webhooks SET failing_since = ${Date.now() - day} WHERE id = '${id}'`);
    expectFound(await diagnose(home), "error", /the webhook \w+ to http:\/\/127\.0\.0\.1:9 has been failing since/);
    await home.run("webhook", "disable", id);
    expectFound(await diagnose(home), "warning", /the webhook \w+ to \S+ is disabled/);
  });

  test("rows that cannot be read are reported, each with the command that repairs it", async () => {
    const own = await newInstallation("sqlite");
    const { siteId } = await setUp(own, [["webhook", { url: "https://hooks.example.com/x" }]]);
    const {
      webhook: { id },
    } = await own.run("webhook", "add", "shop.example.com", "https://totals.example.com/x");
    await own.run("oauth", "app", "set", "google_ads", "client_id=c", "client_secret=s");
    await own.run("site", "set", "shop.example.com", "alert_webhook=https://alerts.example.com/x");
    const damaged = (column: string) => `${column} = 'v1.AAAA' || SUBSTR(${column}, 8)`;
    await change(
      own,
      `UPDATE connections SET ${damaged("credentials")}`,
      `UPDATE webhooks SET ${damaged("secrets")}`,
      `UPDATE oauth_apps SET ${damaged("credentials")}`,
      `UPDATE sites SET settings = REPLACE(settings, '"v1.', '"v1.AAAA')`,
      `INSERT INTO users (id, email, name, email_verified, created_at, updated_at)
       VALUES ('u', 'ada@example.com', 'Ada', 1, 1, 1)`,
      `INSERT INTO two_factors (id, user_id, secret, backup_codes) VALUES ('t', 'u', '00', '00')`,
    );
    const findings = await diagnose(own);
    const remedyOf = (what: RegExp) => expectFound(findings, "error", what);
    expect(remedyOf(/webhook \(\w+\).* cannot be read: .*\(credentials\)/)).toContain("cleancast connection add shop");
    expect(remedyOf(/the webhook \w+ cannot be read/)).toContain(`cleancast webhook repair ${id} `);
    expect(remedyOf(/the OAuth app for google_ads cannot be read/)).toContain("oauth app set google_ads");
    expect(remedyOf(/address of the alert webhook cannot be read/)).toContain("alert_webhook=https://");
    expect(remedyOf(/ada@example\.com: the two-factor sign-in cannot be read/)).toContain(
      "cleancast member reset ada@example.com",
    );
    await change(own, `UPDATE sites SET settings = '{' WHERE site_id = '${siteId}'`);
    expect(expectFound(await diagnose(own), "error", /its settings cannot be read/)).toContain(
      "cleancast site set shop.example.com inbound=on",
    );
  });

  test("overdue deliveries are reported", async () => {
    expectNone(await diagnose(home), /overdue/);
    // A running relay would send the delivery immediately.
    await relay.kill();
    await change(
      home,
      `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
       SELECT events.site_id, events.id, connections.id, platform, 'queued', 1, ${Date.now() - 3_600_000}, '', 0
       FROM events JOIN connections ON connections.site_id = events.site_id LIMIT 1`,
    );
    expectFound(await diagnose(home), "error", /1 delivery is waiting, overdue since/);
  });
});

describe("checks from outside", () => {
  const servers: Server[] = [];
  const certificate = {
    cert: readFileSync(new URL("../fixtures/tls-cert.pem", import.meta.url)),
    key: readFileSync(new URL("../fixtures/tls-key.pem", import.meta.url)),
  };
  let home: Installation;
  let relay: Relay;

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    relay = await home.start();
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await relay.kill();
  });

  async function opened(server: Server): Promise<number> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  /** A real proxy with TLS that adds these headers. */
  const proxy = (headers: Record<string, string>) =>
    opened(
      createTlsServer(certificate, (request, response) => {
        const { method, url, headers: came } = request;
        const passed = httpRequest(new URL(String(url), relay.url), { method, headers: { ...came, ...headers } }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        });
        request.pipe(passed);
      }),
    );

  async function doctor(url: string, ca?: Buffer): Promise<Finding[]> {
    const config = readConfig({ ...home.env, CLEANCAST_URL: url });
    return withStore(home, (store, directory) =>
      checkWeb({ store, directory, config, now: Date.now() }, (origin) => probeInbound(origin, ca ? { ca } : {})),
    );
  }

  test("a proxy that does not forward the protocol is reported, a correct one is not", async () => {
    const right = await proxy({ "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9" });
    expectFound(await doctor(`https://localhost:${right}`, certificate.cert), "ok", /^localhost:\d+: the relay answers/);
    const wrong = await proxy({ "x-forwarded-for": "203.0.113.9" });
    const remedy = expectFound(
      await doctor(`https://localhost:${wrong}`, certificate.cert),
      "error",
      /does not recognize HTTPS requests/,
    );
    expect(remedy).toContain("X-Forwarded-Proto");
  });

  test("an untrusted certificate, another server, a proxy without a relay and a closed port are reported", async () => {
    const right = await proxy({ "x-forwarded-proto": "https" });
    const distrusted = await doctor(`https://localhost:${right}`);
    expectFound(distrusted, "error", /the certificate is not valid/);
    const shop = await opened(createServer((_request, response) => response.writeHead(404).end("<h1>shop</h1>")));
    expectFound(await doctor(`http://localhost:${shop}`), "error", /another server than Cleancast answers \(404\)/);
    const alone = await opened(createServer((_request, response) => response.writeHead(502).end("bad gateway")));
    expectFound(await doctor(`http://localhost:${alone}`), "error", /a proxy answers 502/);
    expectFound(await doctor("http://localhost:9"), "error", /cannot be reached \(ECONNREFUSED\)/);
  });

  test("a host with a wrong clock is reported", async () => {
    const late = await opened(
      createServer((_request, response) =>
        response
          .writeHead(401, { date: new Date(Date.now() - 3_600_000).toUTCString() })
          .end('{"ok":false,"error":"Invalid API key"}'),
      ),
    );
    expectFound(await doctor(`http://localhost:${late}`), "warning", /differ by 36\d\d seconds/);
  });

  test("a host that never ends its answer does not block the doctor", async () => {
    const dripping = await opened(
      createServer((_request, response) => {
        const timer = setInterval(() => response.write("x"), 20);
        response.on("close", () => clearInterval(timer));
      }),
    );
    const endless = await opened(createServer((_request, response) => void response.writeHead(404).write("x".repeat(5000))));
    expect(await probeInbound(`http://127.0.0.1:${endless}`)).toMatchObject({ ok: true, status: 404 });
    // Without its time limit the call would never end.
    await probeInbound(`http://127.0.0.1:${dripping}`, { timeoutMs: 200 });
  });

  test("the doctor calls each host once, with the DNS, the port and the address rules of host checks", async () => {
    const names = ["cc.relay.test", "www.shop.test"];
    const dns = await startDns({
      ...Object.fromEntries(names.map((name) => [name, { address: "127.0.0.1" }])),
      "shop.test": { address: "10.1.2.3" },
    });
    const authority = newAuthority();
    const usual = getCACertificates("default");
    setDefaultCACertificates([...usual, authority.cert]);
    const front = await startTlsProxy(authority.issue(names), () => relay.url);
    const other = await newInstallation("sqlite", {
      CLEANCAST_URL: `https://cc.relay.test:${front.port}`,
      CLEANCAST_DNS: dns.address,
    });
    try {
      const site = await other.run("site", "add", "shop.test");
      for (const name of names) await other.run("host", "add", site.id, name);
      const config = readConfig(other.env);
      const found = await withStore(other, (store, directory) => checkWeb({ store, directory, config, now: Date.now() }));
      expect(found.map(({ level, what }) => [level, what])).toEqual([
        ["ok", `cc.relay.test:${front.port}: the relay answers`],
        ["warning", `shop.test:${front.port}: the name resolves to a private address, and was not called`],
        ["ok", `www.shop.test:${front.port}: the relay answers`],
      ]);
    } finally {
      setDefaultCACertificates(usual);
      front.close();
      dns.close();
    }
  });

  test("names that do not resolve are reported, unless no name resolves at all", async () => {
    await withStore(home, async (store, directory) => {
      const config = readConfig({ ...home.env, CLEANCAST_URL: "https://cc.example.com" });
      const context = { store, directory, config, now: Date.now() };
      const resolved = await checkWeb(context, async () => ({ ok: false, code: "ENOTFOUND" }));
      expectFound(resolved, "warning", /^cc\.example\.com: the name does not resolve/);
      expect(await checkWeb(context, async () => ({ ok: false, code: "EAI_AGAIN" }))).toMatchObject([{ level: "note" }]);
    });
  });
});
