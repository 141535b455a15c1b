// Thousands of senders with one key that send a part of their request and then nothing: they cost what they hold, other sites
// notice nothing, and the relay ends them when their time is up.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { setUpSite } from "../support/installation.ts";
import { eventually, newInstallation } from "../support/relay.ts";

const senders = 2000;

test(
  `${senders} half-sent batches of one site leave room for the others, and end at the time-out`,
  { timeout: 600_000 },
  async () => {
    const home = await newInstallation("sqlite");
    const relay = await home.start();
    const busy = await setUpSite(home, [["sandbox", {}]], "busy.example.com");
    const quiet = await setUpSite(home, [["sandbox", {}]], "quiet.example.com");
    let n = 0;
    const send = (key: string) => relay.post(key, { email: "ada@example.com", event: "purchase", orderId: String((n += 1)) });
    for (const { key } of [busy, quiet]) await eventually("the key is known", async () => (await send(key)).status === 200);

    const { port } = new URL(relay.url);
    const head = [
      "POST /__cc/inbound/batch HTTP/1.1",
      "Host: localhost",
      `X-CC-Api-Key: ${busy.key}`,
      "Content-Type: application/json",
      "Content-Length: 2000000",
      "",
      '{"events":[',
    ].join("\r\n");
    const sockets: Socket[] = [];
    let ended = 0;
    for (let i = 0; i < senders; i += 1) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => {});
      socket.on("close", () => (ended += 1));
      socket.resume();
      sockets.push(socket);
      if (i % 100 === 99) await once(socket, "connect");
    }
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(head, resolve))));
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(quiet.key)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      // The site itself goes on, too: its senders hold next to nothing.
      expect((await send(busy.key)).status).toBe(200);
      expect(ended).toBe(0);
      await eventually("all of them are ended", async () => ended === senders);
      expect((await send(busy.key)).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
);
