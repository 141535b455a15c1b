// Reads a long answer from a customer's address piece by piece. The address is checked like that of a webhook; redirects are
// not followed; time and size are bounded; errors contain no part of the request.

import { say } from "../kernel/messages/message.ts";
import { isIP } from "node:net";
import { Agent } from "undici";
import { addressFault, bareHost, guardedLookup, type AllowList, type Resolve } from "./addresses.ts";
import { toFailure } from "./send.ts";

/** The message is for people, and names no part of the address. */
export class DownloadFailed extends Error {}

type DownloadOptions = {
  allow: AllowList;
  connectMs: number;
  /** From the first byte of the request to the last of the answer. */
  maxMs: number;
  maxBytes: number;
  stop?: AbortSignal;
  /** Resolves host names; the system's resolver by default. */
  resolve?: Resolve;
};

/** Calls `use` with the answer, which must have the status 200. */
export async function download<T>(
  address: string,
  headers: Readonly<Record<string, string>>,
  { allow, connectMs, maxMs, maxBytes, stop, resolve }: DownloadOptions,
  use: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const url = new URL(address);
  const isSecure = url.protocol === "https:";
  const host = bareHost(url.hostname);
  // An IP literal is never looked up, so it is checked here.
  const fault = isIP(host) ? addressFault(allow, isSecure, host, host) : null;
  if (fault) throw new DownloadFailed(say("address_refused", { fault }));
  const agent = new Agent({
    connections: 1,
    maxHeaderSize: 32 * 1024,
    headersTimeout: maxMs,
    bodyTimeout: maxMs,
    connect: { timeout: connectMs, lookup: guardedLookup(allow, isSecure, resolve) },
  });
  const late = AbortSignal.timeout(maxMs);
  const signal = stop ? AbortSignal.any([late, stop]) : late;
  const toError = (error: unknown) => {
    if (error instanceof DownloadFailed) return error;
    if (late.aborted) return new DownloadFailed(`the answer took longer than ${Math.round(maxMs / 1000)} s`);
    return new DownloadFailed(stop?.aborted ? "the relay was stopped" : toFailure(error).error);
  };

  async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0;
    try {
      for await (const piece of body) {
        size += piece.length;
        if (size > maxBytes) throw new DownloadFailed(`the answer is longer than ${Math.round(maxBytes / 1024 / 1024)} MiB`);
        yield piece;
      }
    } catch (error) {
      throw toError(error);
    }
  }

  try {
    const answer = await agent
      .request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers: { accept: "text/csv, application/x-ndjson, */*", "accept-encoding": "identity", ...headers },
        signal,
      })
      .catch((error: unknown) => {
        throw toError(error);
      });
    if (answer.statusCode !== 200) throw new DownloadFailed(`the answer has the status ${answer.statusCode}`);
    const encoding = answer.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") throw new DownloadFailed("the answer is compressed");
    return await use(bounded(answer.body as AsyncIterable<Buffer>));
  } finally {
    await agent.destroy();
  }
}
