// The programs that the dashboard offers for a first event are run as they are copied, against a server that records them.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { inboundSamples } from "../../dashboard/scenes/configuration/inbound/inboundSamples.ts";
import { freshFolder } from "../support/databases.ts";

const run = promisify(execFile);
const programs: Record<keyof typeof inboundSamples, [command: string, file: string]> = {
  curl: ["sh", "sample.sh"],
  "Node.js": [process.execPath, "sample.mjs"],
  Python: ["python3", "sample.py"],
  PHP: ["php", "sample.php"],
};

const isInstalled = async (command: string) =>
  run(command, [command === "sh" ? "-c" : "--version", ...(command === "sh" ? ["curl --version"] : [])]).then(
    () => true,
    () => false,
  );

test.for(Object.keys(programs) as (keyof typeof programs)[])(
  "the sample in %s sends the event with its key",
  async (name, { skip }) => {
    const [command, file] = programs[name];
    if (!(await isInstalled(command))) skip(`${command} is not installed`);
    const received: { request: IncomingMessage; body: string }[] = [];
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ request, body });
        response.end('{"ok":true}');
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/__cc/inbound`;
    const path = join(freshFolder(), file);
    writeFileSync(path, inboundSamples[name](address, "cc_sample"));
    const { stdout } = await run(command, [path]);
    server.close();
    expect(stdout).toContain('{"ok":true}');
    expect(received.map(({ request }) => [request.method, request.url])).toEqual([["POST", "/__cc/inbound"]]);
    expect(received[0]?.request.headers).toMatchObject({
      "x-cc-api-key": "cc_sample",
      "content-type": "application/json",
    });
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      email: "ada@example.com",
      event: "purchase",
      value: 49.9,
      currency: "EUR",
      orderId: "A-1001",
    });
  },
);
