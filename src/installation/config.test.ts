import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { ConfigFaults, describeSettings, readConfig } from "./config.ts";
import { addressFault } from "../delivery/addresses.ts";

/** Returns the faults of these variables, one sentence each. */
function faults(env: Record<string, string>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigFaults)) throw error;
    const [head, ...lines] = error.message.split("\n");
    expect(head).toBe("Cleancast cannot start:");
    return lines.map((line) => line.replace(/^ {2}- /, ""));
  }
}

/** A configuration without its functions, which no two readings share. */
const comparable = (config: ReturnType<typeof readConfig>) => ({
  ...config,
  encryptionKey: null,
  encryptionKeys: null,
  transport: [config.transport.requireTls, config.transport.trusted("127.0.0.1"), config.transport.trusted("10.0.0.1")],
});

describe("an empty environment", () => {
  test("an empty environment gives the documented defaults", () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: "0.0.0.0",
      port: 8080,
      dataFolder: resolve("data"),
      store: { engine: "sqlite", file: join(resolve("data"), "cleancast.db") },
      tls: null,
      platformOrigins: {},
      allowPrivate: { hosts: new Set(), networks: [] },
      retryScheduleMs: [10, 60, 300, 1800, 7200, 18_000, 36_000, 86_400].map((seconds) => seconds * 1000),
      pushMs: 15 * 60_000,
      pushRetryMs: [5, 300, 1800, 7200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1000),
      connectMs: 3000,
      attemptMs: 8000,
      answerMs: 10_000,
      leaseMs: 30_000,
      maxInFlight: 4096,
      logLevel: "info",
    });
    expect(config.transport.requireTls).toBe(false);
    expect(config.transport.trusted("127.0.0.1")).toBe(true);
    expect(config.transport.trusted("10.0.0.1")).toBe(false);
  });

  test("variables that are empty or blank count as not set", () => {
    const names = variablesRead();
    for (const blank of ["", "  "]) {
      const env = Object.fromEntries(names.map((name) => [name, blank]));
      expect(comparable(readConfig(env))).toEqual(comparable(readConfig({})));
    }
  });

  test("variables of other programs are ignored", () => {
    expect(faults({ PATH: "/bin", CLEANCAST_UNKNOWN: "x", NODE_ENV: "production" })).toEqual([]);
  });
});

describe("values that are set", () => {
  test("numbers are read, also with space around them", () => {
    const config = readConfig({
      PORT: " 9000 ",
      CLEANCAST_CONNECT_SECONDS: "0.5",
      CLEANCAST_ATTEMPT_SECONDS: "2",
      CLEANCAST_ANSWER_SECONDS: "4",
      CLEANCAST_LEASE_SECONDS: "6",
      CLEANCAST_PUSH_SECONDS: "5",
      CLEANCAST_MAX_IN_FLIGHT: "7",
    });
    expect(config).toMatchObject({
      port: 9000,
      connectMs: 500,
      attemptMs: 2000,
      answerMs: 4000,
      leaseMs: 6000,
      pushMs: 5000,
      maxInFlight: 7,
    });
  });

  test("the retry schedule is read from seconds with commas", () => {
    expect(readConfig({ CLEANCAST_RETRY_SECONDS: "0.05, 1,2" }).retryScheduleMs).toEqual([50, 1000, 2000]);
  });

  test("DATABASE_URL selects PostgreSQL, with its number of connections", () => {
    for (const url of ["postgres://u:p@db/x", "postgresql://db/x"])
      expect(readConfig({ DATABASE_URL: url, CLEANCAST_DATABASE_CONNECTIONS: "25" }).store).toEqual({
        engine: "postgres",
        url,
        connections: 25,
      });
  });

  test.each([
    ["true", true],
    ["1", true],
    ["ON", true],
    ["yes", true],
    ["false", false],
    ["0", false],
    ["off", false],
    ["No", false],
  ])("CLEANCAST_REQUIRE_TLS=%s is %s", (text, value) => {
    expect(readConfig({ CLEANCAST_REQUIRE_TLS: text }).transport.requireTls).toBe(value);
  });

  test("proxies, allowed hosts and platform origins are read", () => {
    const config = readConfig({
      CLEANCAST_TRUST_PROXY: "10.0.0.0/8",
      CLEANCAST_ALLOW_PRIVATE: "internal.example,127.0.0.0/8",
      CLEANCAST_PLATFORM_ORIGINS: '{"webhook":"http://127.0.0.1:9999"}',
    });
    expect(config.transport.trusted("10.9.9.9")).toBe(true);
    expect(config.transport.trusted("127.0.0.1")).toBe(false);
    expect(addressFault(config.allowPrivate, false, "internal.example", "10.0.0.1")).toBeNull();
    expect(config.platformOrigins).toEqual({ webhook: "http://127.0.0.1:9999" });
  });

  test("the mail server and the sender address are read", () => {
    const url = "smtps://user:s3cret@mail.example.com:465";
    for (const from of ["cc@example.com", "Cleancast <cc@example.com>"])
      expect(readConfig({ CLEANCAST_SMTP_URL: url, CLEANCAST_MAIL_FROM: from }).smtp).toEqual({ url, from });
    expect(readConfig({}).smtp).toBeNull();
    expect(readConfig({ CLEANCAST_ALERT_SECONDS: "5" }).alertMs).toBe(5000);
    expect(readConfig({ CLEANCAST_CONFIRMATION_SECONDS: "5" }).confirmationMs).toBe(5000);
  });

  test("the files of the certificate and its key are read", () => {
    const folder = freshFolder();
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    for (const file of [certFile, keyFile]) writeFileSync(file, "PEM");
    expect(readConfig({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }).tls).toEqual({ certFile, keyFile });
  });

  test("the encryption key is read from hex or base64", () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7));
    for (const text of [
      key.toString("hex"),
      key.toString("hex").toUpperCase(),
      key.toString("base64"),
      key.toString("base64url"),
    ])
      expect(readConfig({ CLEANCAST_ENCRYPTION_KEY: text }).encryptionKey()).toEqual(key);
  });
});

describe("a fault names its variable and the remedy", () => {
  test.each([
    ["PORT", "http", 'PORT is "http"; set it to a number from 0 to 65535.'],
    ["PORT", "70000", 'PORT is "70000"; set it to a number from 0 to 65535.'],
    ["PORT", "-1", 'PORT is "-1"; set it to a number from 0 to 65535.'],
    ["PORT", "NaN", 'PORT is "NaN"; set it to a number from 0 to 65535.'],
    ["CLEANCAST_CONNECT_SECONDS", "0", /^CLEANCAST_CONNECT_SECONDS is "0"; set it to a number from 0\.1 to 60\.$/],
    ["CLEANCAST_ATTEMPT_SECONDS", "8s", /^CLEANCAST_ATTEMPT_SECONDS is "8s"; set it to a number/],
    ["CLEANCAST_ANSWER_SECONDS", "Infinity", /^CLEANCAST_ANSWER_SECONDS is "Infinity"; set it to a number/],
    ["CLEANCAST_LEASE_SECONDS", "700", /^CLEANCAST_LEASE_SECONDS is "700"; set it to a number from 1 to 600/],
    ["CLEANCAST_LEASE_SECONDS", "10", /^CLEANCAST_LEASE_SECONDS is 10; set it to at least .*\(18\)\.$/],
    ["CLEANCAST_PUSH_SECONDS", "never", /^CLEANCAST_PUSH_SECONDS is "never"; set it to a number from 1 to 86400/],
    ["CLEANCAST_MAX_IN_FLIGHT", "0", /^CLEANCAST_MAX_IN_FLIGHT is "0"; set it to a number from 1 to 1000000/],
    ["CLEANCAST_DATABASE_CONNECTIONS", "1", /^CLEANCAST_DATABASE_CONNECTIONS is "1"; set it to a number from 2/],
    ["CLEANCAST_RETRY_SECONDS", "10;60", /^CLEANCAST_RETRY_SECONDS is "10;60"; set it to seconds separated by commas/],
    ["CLEANCAST_RETRY_SECONDS", "10,,60", /^CLEANCAST_RETRY_SECONDS is .*like 10,60,300/],
    ["CLEANCAST_RETRY_SECONDS", "0", /^CLEANCAST_RETRY_SECONDS is "0"/],
    ["CLEANCAST_RETRY_SECONDS", "-5", /^CLEANCAST_RETRY_SECONDS is "-5"/],
    ["CLEANCAST_REQUIRE_TLS", "maybe", 'CLEANCAST_REQUIRE_TLS is "maybe"; set it to true or false.'],
    ["CLEANCAST_TRUST_PROXY", "loopback,proxy", /^CLEANCAST_TRUST_PROXY has "proxy"; use loopback, addresses or networks/],
    [
      "CLEANCAST_ALLOW_HTTP_FROM",
      "private,203.0.113.0/24",
      /^CLEANCAST_ALLOW_HTTP_FROM has "203\.0\.113\.0\/24"; use "private", or/,
    ],
    ["CLEANCAST_ALLOW_HTTP_FROM", "true", /^CLEANCAST_ALLOW_HTTP_FROM has "true"; use "private", or/],
    ["CLEANCAST_ALLOW_PRIVATE", "true", /^CLEANCAST_ALLOW_PRIVATE has "true"; use host names, addresses or networks/],
    ["CLEANCAST_ALLOW_PRIVATE", "ok,not ok", /^CLEANCAST_ALLOW_PRIVATE has "not ok"; use host names, addresses or networks/],
    ["CLEANCAST_PLATFORM_ORIGINS", "{", /^CLEANCAST_PLATFORM_ORIGINS is not JSON; set it to JSON like/],
    ["CLEANCAST_PLATFORM_ORIGINS", "[]", /^CLEANCAST_PLATFORM_ORIGINS is not a JSON object; set it to JSON like/],
    ["CLEANCAST_PLATFORM_ORIGINS", "null", /^CLEANCAST_PLATFORM_ORIGINS is not a JSON object/],
    [
      "CLEANCAST_PLATFORM_ORIGINS",
      '{"nobody":"https://x.example"}',
      /^CLEANCAST_PLATFORM_ORIGINS names "nobody", which is not a platform/,
    ],
    ["CLEANCAST_PLATFORM_ORIGINS", '{"webhook":5}', /^CLEANCAST_PLATFORM_ORIGINS has no http\(s\) origin for "webhook"/],
    ["CLEANCAST_PLATFORM_ORIGINS", '{"webhook":"x.example"}', /^CLEANCAST_PLATFORM_ORIGINS has no http\(s\) origin/],
    ["CLEANCAST_PLATFORM_ORIGINS", '{"webhook":"ftp://x.example"}', /^CLEANCAST_PLATFORM_ORIGINS has no http\(s\) origin/],
    ["DATABASE_URL", "mysql://db/x", /^DATABASE_URL must start with postgres:\/\/ ; leave it out for the embedded database\.$/],
    ["CLEANCAST_ENCRYPTION_KEY", "short", /^CLEANCAST_ENCRYPTION_KEY must be 32 bytes .* openssl rand -hex 32$/],
    ["CLEANCAST_ENCRYPTION_KEY", "0".repeat(63), /^CLEANCAST_ENCRYPTION_KEY must be 32 bytes/],
    ["CLEANCAST_ENCRYPTION_KEY", "g".repeat(64), /^CLEANCAST_ENCRYPTION_KEY must be 32 bytes/],
    ["TLS_CERT_FILE", "/etc/hostname", "TLS_KEY_FILE is missing; HTTPS needs both TLS_CERT_FILE and TLS_KEY_FILE."],
    ["TLS_KEY_FILE", "/etc/hostname", "TLS_CERT_FILE is missing; HTTPS needs both TLS_CERT_FILE and TLS_KEY_FILE."],
    ["LOG_LEVEL", "loud", 'LOG_LEVEL is "loud"; set it to one of trace, debug, info, warn, error, silent.'],
  ])("a wrong value is reported: %s=%s", (name, value, sentence) => {
    const found = faults({ [name]: value });
    expect(found).toEqual([typeof sentence === "string" ? sentence : expect.stringMatching(sentence)]);
  });

  test("a port must be a whole number", () => {
    expect(faults({ PORT: "80.5" })).toEqual([expect.stringContaining("PORT")]);
  });

  test("unreadable certificate files are named with their variables", () => {
    const missing = join(freshFolder(), "missing.pem");
    const found = faults({ TLS_CERT_FILE: missing, TLS_KEY_FILE: missing }).join("\n");
    expect(found).toContain("TLS_CERT_FILE");
    expect(found).toContain("TLS_KEY_FILE");
  });

  test("several faults are reported together", () => {
    const found = faults({
      PORT: "x",
      LOG_LEVEL: "loud",
      CLEANCAST_REQUIRE_TLS: "perhaps",
      DATABASE_URL: "mysql://x",
      CLEANCAST_ENCRYPTION_KEY: "short",
      CLEANCAST_RETRY_SECONDS: "a,b",
      CLEANCAST_TRUST_PROXY: "nobody.example",
      CLEANCAST_ALLOW_PRIVATE: "a b",
      CLEANCAST_PLATFORM_ORIGINS: '{"nobody":1}',
      TLS_CERT_FILE: "/etc/hostname",
      CLEANCAST_PUSH_SECONDS: "x",
    });
    const names = found.map((sentence) => sentence.split(" ", 1).join("")).toSorted();
    expect(names).toEqual([
      "CLEANCAST_ALLOW_PRIVATE",
      "CLEANCAST_ENCRYPTION_KEY",
      "CLEANCAST_PLATFORM_ORIGINS",
      "CLEANCAST_PLATFORM_ORIGINS",
      "CLEANCAST_PUSH_SECONDS",
      "CLEANCAST_REQUIRE_TLS",
      "CLEANCAST_RETRY_SECONDS",
      "CLEANCAST_TRUST_PROXY",
      "DATABASE_URL",
      "LOG_LEVEL",
      "PORT",
      "TLS_KEY_FILE",
    ]);
  });

  test("a mail server needs an smtp URL and a sender address", () => {
    const url = "smtp://mail.example.com";
    expect(faults({ CLEANCAST_SMTP_URL: "mail.example.com:25", CLEANCAST_MAIL_FROM: "a@b.example" })).toEqual([
      "CLEANCAST_SMTP_URL must look like smtp://user:password@mail.example.com:587 (or smtps://).",
    ]);
    for (const from of [{}, { CLEANCAST_MAIL_FROM: "nobody" }, { CLEANCAST_MAIL_FROM: "a@b.example\r\nBcc: c@d" }])
      expect(faults({ CLEANCAST_SMTP_URL: url, ...from })).toEqual([
        'CLEANCAST_MAIL_FROM must be a sender address, like "Cleancast <alerts@example.com>".',
      ]);
  });

  test("no fault shows the encryption key or the password of a database or mail server", () => {
    const found = faults({
      CLEANCAST_ENCRYPTION_KEY: "s3cret-key",
      DATABASE_URL: "mysql://user:s3cret-password@db/x",
      CLEANCAST_SMTP_URL: "http://user:s3cret-password@mail/x",
    }).join("\n");
    expect(found).not.toContain("s3cret");
  });
});

const keyOf = (folder: string) => readConfig({ CLEANCAST_DATA: folder }).encryptionKey();

describe("the encryption key's file", () => {
  test("the key file is created on first use, readable only by its owner, and used from then on", () => {
    const folder = join(freshFolder(), "new", "data");
    const umask = process.umask(0o000);
    try {
      const key = keyOf(folder);
      expect(key).toHaveLength(32);
      const file = join(folder, "encryption.key");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
      expect(keyOf(folder)).toEqual(key);
    } finally {
      process.umask(umask);
    }
  });

  test("reading the configuration does not create the key file", () => {
    const folder = join(freshFolder(), "untouched");
    readConfig({ CLEANCAST_DATA: folder });
    expect(() => statSync(folder)).toThrow("ENOENT");
  });

  test("every installation gets a different key", () => {
    expect(keyOf(freshFolder())).not.toEqual(keyOf(freshFolder()));
  });

  test("a key file that the operator made is read, with or without a line end, and never written", () => {
    for (const text of ["5a".repeat(32), `${"5a".repeat(32)}\r\n`]) {
      const folder = freshFolder();
      writeFileSync(join(folder, "encryption.key"), text, { mode: 0o400 });
      expect(keyOf(folder)).toEqual(Buffer.alloc(32, 0x5a));
      expect(readFileSync(join(folder, "encryption.key"), "utf8")).toBe(text);
    }
  });

  test("a damaged key file stops the start and is not changed", () => {
    for (const text of ["", "5a5a", "not a key at all"]) {
      const folder = freshFolder();
      const file = join(folder, "encryption.key");
      writeFileSync(file, text);
      expect(() => keyOf(folder)).toThrow(ConfigFaults);
      expect(() => keyOf(folder)).toThrow("encryption.key does not hold a key");
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });

  test("the variable takes precedence over the key file, and creates none", () => {
    const folder = freshFolder();
    const key = readConfig({
      CLEANCAST_DATA: folder,
      CLEANCAST_ENCRYPTION_KEY: "a1".repeat(32),
    }).encryptionKey();
    expect(key).toEqual(Buffer.alloc(32, 0xa1));
    expect(() => statSync(join(folder, "encryption.key"))).toThrow("ENOENT");
  });

  test("a key that cannot be written to its file is an error", () => {
    const folder = freshFolder();
    mkdirSync(join(folder, "encryption.key"));
    expect(() => keyOf(folder)).toThrow();
  });
});

/** The names that src/installation/config.ts reads, from its own text. */
function variablesRead(): string[] {
  const text = readFileSync(new URL("config.ts", import.meta.url), "utf8");
  const asked = [...text.matchAll(/\b\w+\(\s*"([A-Z][A-Z0-9_]+)"/g)];
  return [...new Set(asked.map(([, name]) => name as string))].toSorted();
}

describe("variables that are not settings", () => {
  const unknown = (env: Record<string, string>) => readConfig(env).unknownVariables;

  test.each([
    ["CLEANCAST_TRUST_PROXIES", "CLEANCAST_TRUST_PROXY"],
    ["CLEANCAST_ALOW_PRIVATE", "CLEANCAST_ALLOW_PRIVATE"],
    ["CLEANCAST_RETRY_SECOND", "CLEANCAST_RETRY_SECONDS"],
    ["CLEANCAST_ENCRYPTIONKEY", "CLEANCAST_ENCRYPTION_KEY"],
    ["CLEANCAST_UNKNOWN_SETTING", null],
  ])("%s is reported, and %s is what was probably meant", (name, nearest) => {
    expect(unknown({ [name]: "1", CLEANCAST_DATA: "data", PORT: "8080" })).toEqual([{ name, nearest }]);
  });

  test.each([
    ["DATABASE_URI", "DATABASE_URL"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["TLS_CERT", "TLS_CERT_FILE"],
    ["TLS_KEYFILE", "TLS_KEY_FILE"],
  ])("%s, which would start an empty database or no TLS, is reported as %s", (name, nearest) => {
    expect(unknown({ [name]: "1" })).toEqual([{ name, nearest }]);
    if (nearest === "DATABASE_URL")
      expect(
        unknown({ [name]: "1", DATABASE_URL: "postgres://127.0.0.1/cleancast", CLEANCAST_ENCRYPTION_KEY: "ab".repeat(32) }),
      ).toEqual([]);
  });

  test("names of other programs are none of ours", () => {
    const names = ["DATABASE_USER", "DATABASE_HOST", "TLS_CERT_DIR", "TLS_KEY", "PORTS", "HOSTNAME", "DB_URL", "D", "PATH"];
    expect(unknown(Object.fromEntries(names.map((name) => [name, "1"])))).toEqual([]);
  });

  test("the variables that Kubernetes sets for a service named cleancast are none of ours", () => {
    expect(
      unknown({
        CLEANCAST_PORT: "tcp://10.0.0.1:8080",
        CLEANCAST_PORT_8080_TCP: "tcp://10.0.0.1:8080",
        CLEANCAST_PORT_8080_TCP_ADDR: "10.0.0.1",
        CLEANCAST_SERVICE_HOST: "10.0.0.1",
        CLEANCAST_SERVICE_PORT: "8080",
        CLEANCAST_SERVICE_PORT_HTTP: "8080",
        CLEANCAST_POSTGRES_SERVICE_HOST: "10.0.0.2",
      }),
    ).toEqual([]);
  });

  test("they are reported with the faults of settings, which they may explain", () => {
    const env = { CLEANCAST_SMTP_URL: "smtp://localhost", CLEANCAST_MAIL_FORM: "cc@example.com" };
    expect(() => readConfig(env)).toThrow(
      /CLEANCAST_MAIL_FROM[^]*- CLEANCAST_MAIL_FORM is not a setting and has no effect\. Did you mean CLEANCAST_MAIL_FROM\?/,
    );
  });

  test("no name that the documentation uses is reported", () => {
    const folders = ["../../docs/", "../../ops/"].map((path) => new URL(path, import.meta.url));
    const texts = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")),
    );
    const names = texts.flatMap((text) => text.match(/\bCLEANCAST_[A-Z_]+[A-Z]\b/g) ?? []);
    expect(names).toContain("CLEANCAST_INBOUND");
    expect(unknown(Object.fromEntries(names.map((name) => [name, ""])))).toEqual([]);
  });

  test("every setting in .env.example is known", () => {
    const listed = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
    const names = [...listed.matchAll(/^# (CLEANCAST_\w+)=/gm)].map(([, name]) => name as string);
    expect(names.length).toBeGreaterThan(20);
    expect(unknown(Object.fromEntries(names.map((name) => [name, ""])))).toEqual([]);
  });
});

describe(".env.example", () => {
  const text = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
  const listed = [...text.matchAll(/^#?[ \t]*([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => ({
    name: name as string,
    value: value as string,
  }));

  test(".env.example lists exactly the variables that the configuration reads, each once", () => {
    expect(variablesRead().length).toBeGreaterThan(15);
    const onlyForTests = ["CLEANCAST_TICK_MS"];
    expect([...listed.map(({ name }) => name), ...onlyForTests].toSorted()).toEqual(variablesRead());
  });

  test("every variable named in config.ts is one that it reads", () => {
    const source = readFileSync(new URL("config.ts", import.meta.url), "utf8");
    const named = new Set(source.match(/\b(?:CLEANCAST|TLS)_[A-Z_]+\b/g));
    expect([...named].filter((name) => !variablesRead().includes(name))).toEqual([]);
  });

  test(".env.example shows the defaults: setting all of them changes nothing", () => {
    const known = describeSettings();
    const env = Object.fromEntries(
      listed.filter(({ name }) => known.get(name)?.default !== null).map(({ name, value }) => [name, value]),
    );
    expect(comparable(readConfig(env))).toEqual(comparable(readConfig({})));
  });

  test(".env.example shows an example of every setting without a default, and no secret", () => {
    const blank = listed.filter(({ value }) => value === "").map(({ name }) => name);
    const isSecret = (name: string) => /_(?:KEY|KEY_OTHER|KEY_ID|SECRET|PASSPHRASE|TOKEN)$/.test(name);
    expect(blank).toContain("CLEANCAST_ENCRYPTION_KEY");
    expect(blank).toEqual(listed.map(({ name }) => name).filter(isSecret));
  });

  test("every variable in .env.example is commented out", () => {
    expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
  });
});
