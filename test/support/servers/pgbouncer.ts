// Starts PgBouncer, where it is installed, in front of a PostgreSQL server. It ends with the test file.

import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freshFolder } from "../databases.ts";
import { freePort } from "./freePort.ts";
import { endWithFile } from "./programs.ts";

export type PgBouncerMode = "session" | "transaction";

/** Returns the URL of the same database behind PgBouncer. */
export async function startPgBouncer(
  program: string,
  databaseUrl: string,
  mode: PgBouncerMode,
  more: Record<string, string> = {},
): Promise<string> {
  const folder = freshFolder();
  const url = new URL(databaseUrl);
  const port = await freePort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: mode,
    // Fewer than two nodes open: connections are shared.
    default_pool_size: "8",
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]\n* = host=${url.hostname} port=${url.port} user=postgres\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  chmodSync(folder, 0o755);
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(program, [join(folder, "pgbouncer.ini")], { ...user, stdio: "ignore" });
  endWithFile(child);
  for (let isListening = false; !isListening; await sleep(20)) {
    if (child.exitCode !== null) throw new Error(`PgBouncer has ended with ${child.exitCode}`);
    isListening = await accepts(port);
  }
  url.port = String(port);
  return url.href;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
