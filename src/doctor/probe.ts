// Sends one request as a sender would. It shows whether the name resolves, whether the certificate is valid and until when,
// the server's time, and whether Cleancast answers.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import { BlockedAddress } from "../delivery/addresses.ts";

export type ProbeResult =
  | { ok: true; status: number; error: string | null; at: number | null; certificateExpiresAt: number | null }
  | { ok: false; code: string };

type ProbeOptions = {
  /** For the whole request: a customer's server may send its answer byte by byte. */
  timeoutMs?: number;
  /** Trusted in addition to the default certificate authorities. */
  ca?: Buffer;
  lookup?: LookupFunction;
};

const maxBodyLength = 4096;

/** Sends no key: the relay answers whether it saw TLS, and does not count a wrong key. */
export function probeInbound(origin: string, { timeoutMs = 5000, ca, lookup }: ProbeOptions = {}): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const send = origin.startsWith("https:") ? httpsRequest : httpRequest;
    const headers = { "content-type": "application/json", "content-length": "2" };
    const request = send(
      new URL("/__cc/inbound", origin),
      { method: "POST", headers, agent: false, ...(ca ? { ca } : {}), ...(lookup ? { lookup } : {}) },
      (response) => {
        const certificateExpiresAt = expiryOf(response);
        let body = "";
        const end = () => finish(toResult(response, body, certificateExpiresAt));
        response.on("end", end).on("error", end);
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
          if (body.length < maxBodyLength) return;
          end();
          response.destroy();
        });
      },
    );
    const deadline = setTimeout(() => request.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })), timeoutMs);
    function finish(result: ProbeResult): void {
      clearTimeout(deadline);
      resolve(result);
    }
    request.on("error", (failure: Error & { code?: string }) => finish({ ok: false, code: codeOf(failure) }));
    request.end("{}");
  });
}

function codeOf(failure: Error & { code?: string }): string {
  return failure instanceof BlockedAddress ? "EPRIVATE" : (failure.code ?? "EUNKNOWN");
}

function toResult(response: IncomingMessage, body: string, certificateExpiresAt: number | null): ProbeResult {
  const at = Date.parse(response.headers.date ?? "");
  return {
    ok: true,
    status: response.statusCode ?? 0,
    error: readError(body),
    at: Number.isFinite(at) ? at : null,
    certificateExpiresAt,
  };
}

/** Reads the error only from a body that has the shape of our answers. */
function readError(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const isOurs = typeof parsed === "object" && parsed !== null && "ok" in parsed && "error" in parsed;
    return isOurs && typeof parsed.error === "string" ? parsed.error : null;
  } catch {
    return null;
  }
}

function expiryOf({ socket }: IncomingMessage): number | null {
  const certificate = (socket as Partial<TLSSocket>).getPeerCertificate?.();
  const at = Date.parse(certificate?.valid_to ?? "");
  return Number.isFinite(at) ? at : null;
}
