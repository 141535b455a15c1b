// Express and graphile-worker: a job for each platform, with retries, in PostgreSQL. The three jobs of an event are one statement.

import express from "express";
import { makeWorkerUtils, run } from "graphile-worker";
import { Pool } from "pg";
import { call, isReady, port, requestOf, targets } from "./job.mjs";

const pgPool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
pgPool.on("error", () => {});
pgPool.on("connect", (client) => client.on("error", () => {}));
const { Logger } = await import("graphile-worker");
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ pgPool, logger });
await utils.migrate();
await run({
  pgPool,
  logger,
  concurrency: 64,
  noHandleSignals: true,
  taskList: { call: ({ target, body }) => call(target, body) },
});

const app = express();
app.post("/__cc/inbound", express.json(), async (request, response) => {
  const body = requestOf(request.body);
  const { event, orderId } = request.body;
  await utils.addJobs(
    // A job with the same key replaces the one that waits.
    targets.map((_, target) => ({ identifier: "call", payload: { target, body }, jobKey: `${event}-${orderId}-${target}` })),
  );
  response.json({ ok: true, event });
});
app.listen(port, "127.0.0.1", 1024, isReady);
