// Every client waits for a relay that was killed and comes back within the time budget. All languages share one restart.

import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { eventually, newInstallation } from "../support/relay.ts";
import { languages, startDriver } from "./languages.ts";

test("a conversion that meets a killed relay arrives once after the restart, from every client", async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  await home.run("connection", "add", "shop.example.com", "sandbox");
  let relay = await home.start();
  let refused = 0;
  let isUp = true;
  // The address of the relay stays, as it does behind a proxy.
  const front = createServer((socket) => {
    socket.on("error", () => {});
    if (!isUp) {
      refused += 1;
      return void socket.destroy();
    }
    const onward = connect(Number(new URL(relay.url).port), "127.0.0.1").on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
    socket.on("close", () => onward.destroy());
    onward.on("close", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const clients = languages
    .filter((language) => language.isInstalled())
    .map((language, i) => ({ name: language.name, orderId: `restart-${i}`, driver: startDriver(language) }));
  const options = { url, key, timeoutMs: 15_000, budgetMs: 80_000, firstDelayMs: 100 };
  const send = ({ orderId, driver }: (typeof clients)[number], prefix: string) =>
    driver.run({
      call: "send",
      options,
      conversions: [{ email: "ada@example.com", event: "purchase", orderId: prefix + orderId }],
    });

  // Connections that the clients keep open are cut by the kill.
  for (const client of clients) await send(client, "before-");
  isUp = false;
  await relay.kill();
  const sending = clients.map((client) => send(client, ""));
  await eventually("each client has tried", () => refused >= clients.length);
  relay = await home.start();
  isUp = true;
  const accepted = { ok: true, event: "purchase", results: { sandbox: { ok: true } } };
  const replies = await Promise.all(sending);
  expect(replies.map(({ outcomes }) => outcomes)).toEqual(clients.map(() => [accepted]));
  for (const { orderId, name } of clients)
    expect((await home.run("event", "list", "--order", orderId)).items, name).toHaveLength(1);
  front.close();
});
