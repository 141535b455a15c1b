// Writes answers piece by piece: CSV files, JSON with long lists, and streams of events that last.

import { once } from "node:events";
import type { FastifyReply } from "fastify";

const contentTypes = {
  stream: "text/event-stream; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/**
 * Writes piece by piece with backpressure, until the source ends or the client disconnects. Where the source fails, the connection breaks:
 * a file that ended in order would look as if it were whole.
 */
export async function stream(
  reply: FastifyReply,
  kind: keyof typeof contentTypes,
  pieces: AsyncIterable<string>,
  closing: AbortSignal,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), "content-type": contentTypes[kind] });
  const iterator = pieces[Symbol.asyncIterator]();
  const end = () => void iterator.return?.();
  raw.once("close", end);
  if (kind === "stream") closing.addEventListener("abort", end, { once: true });
  let isWhole = false;
  try {
    for (let next = await iterator.next(); !next.done && !raw.destroyed; next = await iterator.next())
      if (!raw.write(next.value) && !raw.destroyed) await Promise.race([once(raw, "drain"), once(raw, "close")]);
    isWhole = true;
  } finally {
    // The client may have disconnected before the close listener was added.
    end();
    closing.removeEventListener("abort", end);
    if (isWhole) raw.end();
    else raw.destroy();
  }
}
