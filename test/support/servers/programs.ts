// Finds and starts programs of the system, such as proxies. They end with the test file.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterFile, takeAll } from "../afterFile.ts";

const running = new Set<ChildProcess>();

/** Ends the process with the test file that started it. */
export function endWithFile(child: ChildProcess): void {
  running.add(child);
}

afterFile(async () => {
  for (const child of takeAll(running)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
});

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export type Proxy = { program: string; args: string[]; env: Record<string, string> };

export function startProxy(proxy: Proxy): void {
  const child = spawn(proxy.program, proxy.args, {
    env: { PATH: process.env.PATH ?? "", ...proxy.env },
    stdio: "ignore",
  });
  endWithFile(child);
}

export function configureNginx(program: string, folder: string, server: string): Proxy {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {} http { access_log off; ${temporary.join(" ")} ${server} }`,
  );
  return { program, args: ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], env: {} };
}

export const caddyOptions = "\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n";

export const withCaddyOptions = (sites: string) => `{\n${caddyOptions}}\n${sites}`;

export function configureCaddy(program: string, folder: string, text: string): Proxy {
  writeFileSync(join(folder, "Caddyfile"), text);
  const args = ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  return { program, args, env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } };
}
