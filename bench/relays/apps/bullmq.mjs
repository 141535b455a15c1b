// Express and BullMQ, as its guide shows: a job for each platform, with retries, in Redis.

import { Queue, Worker } from "bullmq";
import express from "express";
import Redis from "ioredis";
import { call, isReady, port, requestOf, targets } from "./job.mjs";

const connect = () => new Redis(Number(process.env.REDIS_PORT), "127.0.0.1", { maxRetriesPerRequest: null });
const queue = new Queue("conversions", { connection: connect() });
const worker = new Worker("conversions", ({ data }) => call(data.target, data.body), { connection: connect(), concurrency: 128 });
worker.on("error", () => {});
queue.on("error", () => {});

const options = { attempts: 20, backoff: { type: "exponential", delay: 250 }, removeOnComplete: { age: 3600 } };
const app = express();
app.post("/__cc/inbound", express.json(), async (request, response) => {
  const body = requestOf(request.body);
  const { event, orderId } = request.body;
  // A job with the same id is not added again.
  await queue.addBulk(
    targets.map((_, target) => ({
      name: event,
      data: { target, body },
      opts: { ...options, jobId: `${event}-${orderId}-${target}` },
    })),
  );
  response.json({ ok: true, event });
});
app.listen(port, "127.0.0.1", 1024, isReady);
