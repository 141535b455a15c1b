// One request as a sender would make it, and everything that can be learnt from it: does the name lead somewhere, does the
// certificate hold and for how long, what time is it there, and is it Cleancast that answers.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import { BlockedAddress } from "../delivery/addresses.ts";

export type ProbeResult =
  | { ok: true; status: number; error: string | null; at: number | null; certificateEndsAt: number | null }
  | { ok: false; code: string };

export type ProbeOptions = {
  /** For the whole of it: a customer's server may send its answer byte by byte. */
  timeoutMs?: number;
  /** Trusted beside the usual. */
  ca?: Buffer;
  lookup?: LookupFunction;
};

const largestBody = 4096;

/** Without a key: the relay says whether it saw TLS, and nobody is counted as a wrong key. */
export function probeInbound(
  origin: string,
  { timeoutMs = 5000, ca, lookup }: ProbeOptions = {},
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const send = origin.startsWith("https:") ? httpsRequest : httpRequest;
    const headers = { "content-type": "application/json", "content-length": "2" };
    const request = send(
      new URL("/__cc/inbound", origin),
      { method: "POST", headers, agent: false, ...(ca ? { ca } : {}), ...(lookup ? { lookup } : {}) },
      (response) => {
        const certificateEndsAt = endOf(response);
        let body = "";
        const end = () => answer(learntFrom(response, body, certificateEndsAt));
        response.on("end", end).on("error", end);
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
          if (body.length < largestBody) return;
          end();
          response.destroy();
        });
      },
    );
    const deadline = setTimeout(
      () => request.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })),
      timeoutMs,
    );
    function answer(asked: ProbeResult): void {
      clearTimeout(deadline);
      resolve(asked);
    }
    request.on("error", (failure: Error & { code?: string }) => answer({ ok: false, code: codeOf(failure) }));
    request.end("{}");
  });
}

function codeOf(failure: Error & { code?: string }): string {
  return failure instanceof BlockedAddress ? "EPRIVATE" : (failure.code ?? "EUNKNOWN");
}

function learntFrom(response: IncomingMessage, body: string, certificateEndsAt: number | null): ProbeResult {
  const at = Date.parse(response.headers.date ?? "");
  return {
    ok: true,
    status: response.statusCode ?? 0,
    error: errorIn(body),
    at: Number.isFinite(at) ? at : null,
    certificateEndsAt,
  };
}

/** Only what is shaped as our answers are. */
function errorIn(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const isOurs = typeof parsed === "object" && parsed !== null && "ok" in parsed && "error" in parsed;
    return isOurs && typeof parsed.error === "string" ? parsed.error : null;
  } catch {
    return null;
  }
}

function endOf({ socket }: IncomingMessage): number | null {
  const certificate = (socket as Partial<TLSSocket>).getPeerCertificate?.();
  const end = Date.parse(certificate?.valid_to ?? "");
  return Number.isFinite(end) ? end : null;
}
