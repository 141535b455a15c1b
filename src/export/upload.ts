// Sends a file to, or reads a small one from, an address of the operator. The address is checked like that of a webhook; redirects
// are not followed; time and the size of the answer are bounded; errors contain no part of the request.

import { isIP } from "node:net";
import { Agent } from "undici";
import { say } from "../kernel/messages/message.ts";
import { secondMs } from "../kernel/time.ts";
import { addressFault, bareHost, guardedLookup, type AllowList, type Resolve } from "../delivery/addresses.ts";
import { toFailure } from "../delivery/send.ts";

export type Uploader = {
  send(request: {
    method: "PUT" | "GET";
    url: URL;
    headers: Record<string, string>;
    body: Uint8Array | null;
  }): Promise<UploadAnswer>;
  close(): Promise<void>;
};

type UploaderOptions = {
  allow: AllowList;
  connectMs: number;
  /** The time for a file of any size. */
  maxMs: number;
  /** The time for a request without a file. */
  answerMs?: number;
  /** Resolves host names; the system's resolver by default. */
  resolve?: Resolve;
};

type UploadAnswer = { ok: true; status: number; body: string } | { ok: false; error: string };

/** Requests at the same time: each has its file in memory, and none may wait for another, because its time would pass. */
export const maxUploads = 4;
const maxAnswerBytes = 1024 * 1024;
const defaultAnswerMs = 30 * secondMs;
/** A store that takes a file more slowly counts as one that does not answer. All uploads together share one line to the internet. */
const minBytesPerMs = 20 / maxUploads;

export function createUploader(options: UploaderOptions): Uploader {
  const { allow, connectMs, maxMs, answerMs = defaultAnswerMs, resolve } = options;
  const agentFor = (isSecure: boolean) =>
    new Agent({
      connections: maxUploads,
      maxHeaderSize: 32 * 1024,
      maxResponseSize: maxAnswerBytes,
      headersTimeout: maxMs,
      bodyTimeout: maxMs,
      connect: { timeout: connectMs, lookup: guardedLookup(allow, isSecure, resolve) },
    });
  const agents = { https: agentFor(true), http: agentFor(false) };
  return {
    async send({ method, url, headers, body }) {
      const isSecure = url.protocol === "https:";
      const host = bareHost(url.hostname);
      // An IP literal is never looked up, so it is checked here.
      const fault = isIP(host) ? addressFault(allow, isSecure, host, host) : null;
      if (fault) return { ok: false, error: say("address_refused", { fault }) };
      try {
        const answer = await (isSecure ? agents.https : agents.http).request({
          origin: url.origin,
          path: url.pathname,
          method,
          headers,
          body,
          signal: AbortSignal.timeout(Math.min(maxMs, answerMs + Math.ceil((body?.length ?? 0) / minBytesPerMs))),
        });
        return { ok: true, status: answer.statusCode, body: await answer.body.text() };
      } catch (error) {
        return { ok: false, error: toFailure(error).error };
      }
    },
    async close() {
      await Promise.all([agents.https.destroy(), agents.http.destroy()]);
    },
  };
}
