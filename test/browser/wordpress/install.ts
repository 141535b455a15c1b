// Installs Debian's WordPress with a MariaDB of its own in a temporary folder, and serves it with PHP's web server. Everything
// ends with the test file.

import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterFile, takeAll } from "../../support/afterFile.ts";
import { freshFolder } from "../../support/databases.ts";
import { eventually } from "../../support/relay.ts";
import { freePort } from "../../support/servers/freePort.ts";
import { findOnPath } from "../launch.ts";

const run = promisify(execFile);
const source = "/usr/share/wordpress";
const here = fileURLToPath(new URL(".", import.meta.url));
const certificate = fileURLToPath(new URL("../../fixtures/tls-cert.pem", import.meta.url));
const pluginFolder = fileURLToPath(new URL("../../../plugins/wordpress/cleancast", import.meta.url));

/** Names the Debian packages that this machine lacks; null if all are there. */
export function findMissing(): string | null {
  const path = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
  const isThere = (...programs: string[]) => programs.every((name) => findOnPath([name], path));
  // Without curl WordPress sends in another way, which reaches no server with the certificate of the tests.
  const modules = isThere("php") ? spawnSync("php", ["-m"], { encoding: "utf8" }).stdout.split("\n") : [];
  const packages = {
    "php-cli": isThere("php"),
    "php-curl": modules.includes("curl"),
    "php-mysql": modules.includes("mysqli"),
    "mariadb-server": isThere("mariadbd", "mariadb-install-db", "mariadb", "mariadb-dump"),
    wordpress: existsSync(join(source, "wp-load.php")),
  };
  const missing = Object.entries(packages).filter(([, isInstalled]) => !isInstalled);
  return missing.map(([name]) => name).join(", ") || null;
}

export type WordPress = {
  /** The address of PHP's web server, which knows nothing of TLS. */
  url: string;
  folder: string;
  /** Calls a function of WordPress, or of an active plugin, in a process of its own. */
  call(name: string, ...args: unknown[]): Promise<unknown>;
  /** The whole database as text. */
  dump(): Promise<string>;
};

const running = new Set<ChildProcess>();

afterFile(async () => {
  for (const child of takeAll(running)) {
    if (child.exitCode !== null || child.pid === undefined) continue;
    const ended = once(child, "exit");
    // PHP's web server has workers, which are in its process group.
    process.kill(-child.pid, "SIGKILL");
    await ended;
  }
});

function start(program: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: "ignore", detached: true });
  running.add(child);
  return child;
}

/** Copies and configures WordPress; `host` is its name, as browsers see it. */
export async function startWordPress(host: string): Promise<WordPress> {
  const folder = freshFolder();
  const database = await startDatabase(folder);
  const site = join(folder, "www");
  // A link would not do: WordPress looks for its configuration next to the real file. Its own links are relative.
  cpSync(source, site, { recursive: true, dereference: true });
  rmSync(join(site, "wp-config.php"));
  writeFileSync(join(site, "wp-config.php"), configuration(database.socket, host));
  const content = join(site, "wp-content");
  cpSync(join(here, "theme"), join(content, "themes/plain"), { recursive: true });
  cpSync(join(here, "doubles"), join(content, "plugins/doubles"), { recursive: true });
  cpSync(pluginFolder, join(content, "plugins/cleancast"), { recursive: true });
  const port = await freePort();
  start("php", ["-S", `127.0.0.1:${port}`, "-t", site], { PHP_CLI_SERVER_WORKERS: "3" });
  return {
    url: `http://127.0.0.1:${port}`,
    folder: site,
    dump: database.dump,
    async call(name, ...args) {
      const calling = run("php", [join(here, "command.php"), site], {
        env: { ...process.env, WORDPRESS_HOST: host },
      });
      calling.child.stdin?.end(JSON.stringify({ call: name, arguments: args }));
      const { stdout } = await calling;
      const { answer, error } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
        answer?: unknown;
        error?: string;
      };
      if (error) throw new Error(`${name}: ${error}`);
      return answer;
    },
  };
}

async function startDatabase(folder: string) {
  const data = join(folder, "db");
  const socket = join(folder, "db.sock");
  const user = `--user=${process.env["USER"] ?? "root"}`;
  const own = ["--no-defaults", `--datadir=${data}`, user];
  await run("mariadb-install-db", [...own, "--auth-root-authentication-method=normal", "--skip-test-db"]);
  const path = findOnPath(["mariadbd"], { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` }) ?? "mariadbd";
  // The database ends with the test, so a write need not reach the disk.
  const cheap = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--performance-schema=OFF"];
  start(path, [...own, `--socket=${socket}`, "--skip-networking", ...cheap]);
  const client = ["--no-defaults", `--socket=${socket}`, "-uroot"];
  const query = (sql: string) => run("mariadb", [...client, "-e", sql]);
  await eventually("MariaDB accepts connections", async () => {
    if (!existsSync(socket)) return false;
    return query("SELECT 1").then(
      () => true,
      () => false,
    );
  });
  await query("CREATE DATABASE wordpress");
  return {
    socket,
    dump: async () => (await run("mariadb-dump", [...client, "wordpress"], { maxBuffer: 64 * 1024 * 1024 })).stdout,
  };
}

function configuration(socket: string, host: string): string {
  const { hostname, port } = new URL(`https://${host}`);
  const constants: Record<string, string | boolean> = {
    DB_NAME: "wordpress",
    DB_USER: "root",
    DB_PASSWORD: "",
    DB_HOST: `localhost:${socket}`,
    DB_CHARSET: "utf8mb4",
    WP_HOME: `https://${host}`,
    WP_SITEURL: `https://${host}`,
    FS_METHOD: "direct",
    DISABLE_WP_CRON: true,
    AUTOMATIC_UPDATER_DISABLED: true,
    // WordPress asks for updates on many pages, which would wait for a network.
    WP_HTTP_BLOCK_EXTERNAL: true,
    WP_ACCESSIBLE_HOSTS: hostname,
    AUTH_KEY: "a",
    SECURE_AUTH_KEY: "b",
    LOGGED_IN_KEY: "c",
    NONCE_KEY: "d",
  };
  const lines = Object.entries(constants).map(([name, value]) => `define('${name}', ${quote(value)});`);
  return `<?php
${lines.join("\n")}
// The proxy in front of this server ends TLS.
$_SERVER['HTTPS'] = 'on';
$table_prefix = 'wp_';
// Requests of WordPress itself find the test's host, and trust its certificate, which has another name.
$GLOBALS['wp_filter']['http_api_curl'][10]['test'] = ['accepted_args' => 1, 'function' => function ($curl) {
    curl_setopt($curl, CURLOPT_RESOLVE, ['${hostname}:${port}:127.0.0.1']);
    curl_setopt($curl, CURLOPT_SSL_VERIFYHOST, 0);
}];
$GLOBALS['wp_filter']['http_request_args'][10]['test'] = ['accepted_args' => 1, 'function' => function ($arguments) {
    return ['sslcertificates' => '${certificate}'] + $arguments;
}];
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;
}

const quote = (value: string | boolean) => (typeof value === "string" ? `'${value}'` : String(value));
