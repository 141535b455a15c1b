// A process that floods a relay in the name of one site, as fast as its few connections are answered. It runs with the lowest
// priority, so that it takes no processor time from the relay or the measured sender: what others notice comes from the relay's own work.

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { constants, setPriority } from "node:os";
import { personsBrowser, personsHeaders } from "../../test/support/visits.ts";
import { answerWith } from "./processes.ts";

export const floods = {
  inbound: "single conversions, 8 connections",
  batches: "batches of 500 conversions, 4 connections",
  collect: "visits with click ids, 8 connections",
  uploads: "lists of 20,000 orders, 2 connections",
  configuration: "configuration files of 2,000 sites, 2 connections",
  lists: "pages of 200 events and CSV exports, 4 connections",
  "slow senders": "2,000 half-sent batches with one key",
} as const;
export type Flood = keyof typeof floods;
export const floodNames = Object.keys(floods) as Flood[];

export type FloodOrder = { flood: Flood; port: number; siteId: string; host: string; key: string; apiKey: string } | "end";

type Sent = { method: string; path: string; headers: Record<string, string>; body: string };
type Order = Exclude<FloodOrder, "end">;

const orderRow = (i: number) => `order-${i},2026-11-10T10:00:00Z,${10 + (i % 90)}.00,EUR,person-${i}@example.com,paid`;
const orderFile = ["id,time,value,currency,email,status", ...Array.from({ length: 20_000 }, (_, i) => orderRow(i))].join("\n");
const configurationFile = `version: 1\nsites:\n${Array.from({ length: 2000 }, (_, i) => `  - hosts: [new-${i}.example.com]\n`).join("")}`;

let sent = 0;

function nextRequest({ flood, siteId, host, key, apiKey }: Order): Sent {
  const n = (sent += 1);
  const json = { "content-type": "application/json" };
  const event = (i: number) => ({
    email: `flood-${i}@example.com`,
    event: "purchase",
    value: 10,
    orderId: `flood-${process.pid}-${i}`,
  });
  const asProgram = { host: "localhost", authorization: `Bearer ${apiKey}` };
  switch (flood) {
    case "inbound":
      return { method: "POST", path: "/__cc/inbound", headers: { ...json, "x-cc-api-key": key }, body: JSON.stringify(event(n)) };
    case "batches": {
      const events = Array.from({ length: 500 }, (_, i) => event(n * 500 + i));
      return {
        method: "POST",
        path: "/__cc/inbound/batch",
        headers: { ...json, "x-cc-api-key": key },
        body: JSON.stringify({ events }),
      };
    }
    case "collect": {
      const headers = {
        ...personsHeaders,
        host,
        origin: `https://${host}`,
        "x-forwarded-proto": "https",
        // Loopback is a trusted proxy: each visitor has an address of its own, so that no limit for one address applies.
        "x-forwarded-for": `203.0.${(n >> 8) & 255}.${n & 255}`,
      };
      const body = JSON.stringify({ browser: personsBrowser, page: `https://${host}/`, params: { gclid: `flood-${n}` } });
      return { method: "POST", path: "/__cc/visit", headers, body };
    }
    case "uploads":
      return {
        method: "POST",
        path: `/api/v1/sites/${siteId}/orders/upload`,
        headers: { ...asProgram, "content-type": "text/csv" },
        body: orderFile,
      };
    case "configuration":
      return {
        method: "POST",
        path: "/api/v1/configuration/plan",
        headers: { ...asProgram, ...json },
        body: JSON.stringify({ text: configurationFile }),
      };
    case "lists":
    case "slow senders": {
      const path = n % 4 ? `/api/v1/sites/${siteId}/events?limit=200` : `/api/v1/sites/${siteId}/events.csv`;
      return { method: "GET", path, headers: asProgram, body: "" };
    }
  }
}

const connections = { inbound: 8, batches: 4, collect: 8, uploads: 2, configuration: 2, lists: 4, "slow senders": 2000 };

/** The flood that runs now. */
let current: { isOver: boolean; ended: Promise<unknown>; answers: Record<string, number>; requests: number } | null = null;

function begin(order: Order): void {
  const { flood, port, key } = order;
  const running = {
    isOver: false,
    ended: Promise.resolve() as Promise<unknown>,
    answers: {} as Record<string, number>,
    requests: 0,
  };
  const agent = new Agent({ keepAlive: true, maxSockets: connections[flood] });
  const worker = async () => {
    while (!running.isOver) {
      const { method, path, headers, body } = nextRequest(order);
      const outgoing = request({ port, host: "127.0.0.1", agent, method, path, headers }).end(body);
      const status = await once(outgoing, "response").then(
        async ([answer]) => {
          for await (const _ of answer);
          return String(answer.statusCode);
        },
        (error: Error) => error.message,
      );
      running.requests += 1;
      running.answers[status] = (running.answers[status] ?? 0) + 1;
      // A refused caller that does not wait would only measure refusals.
      if (status === "429" || status === "503") await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  if (flood === "slow senders") running.ended = holdHalfSent(port, key, running);
  else running.ended = Promise.all(Array.from({ length: connections[flood] }, worker)).finally(() => agent.destroy());
  current = running;
}

async function holdHalfSent(port: number, key: string, running: { isOver: boolean; requests: number }): Promise<void> {
  const head = `POST /__cc/inbound/batch HTTP/1.1\r\nHost: localhost\r\nX-CC-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n{"events":[`;
  const sockets: Socket[] = [];
  for (let i = 0; i < connections["slow senders"] && !running.isOver; i += 1) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    sockets.push(socket);
    await once(socket, "connect").catch(() => {});
    socket.write(head);
    running.requests += 1;
  }
  while (!running.isOver) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const socket of sockets) socket.destroy();
}

export type FloodState = { requests: number; answers: Record<string, number> };

async function end(): Promise<FloodState> {
  const running = current;
  current = null;
  if (!running) return { requests: 0, answers: {} };
  running.isOver = true;
  await running.ended;
  return { requests: running.requests, answers: running.answers };
}

if (process.send) {
  setPriority(constants.priority.PRIORITY_LOW);
  answerWith(async (order: FloodOrder): Promise<FloodState> => {
    const state = await end();
    if (order !== "end") begin(order);
    return state;
  });
}
