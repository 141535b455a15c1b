// Turns a request of the tag into the observation that the signals judge.

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Frequency } from "../traffic/frequency.ts";
import { headerText, readHandshake, readHeaders, type Observation } from "../traffic/observation.ts";
import type { Payload } from "./payload.ts";

const maxUserAgentLength = 512;
/** So many have times enough to be told from those of other people. */
const minKeys = 8;

/** One form for observations and memories, which compare it. What is cut is copied: a part of a text would keep the whole in memory. */
export function userAgentOf(headers: IncomingHttpHeaders): string {
  const text = headerText(headers["user-agent"], maxUserAgentLength);
  return text.length < maxUserAgentLength ? text : Buffer.from(text).toString();
}

type TagRequest = {
  headers: IncomingHttpHeaders;
  secure: boolean;
  /** The algorithms or ciphers that the client offered; null where they are not known. */
  offered: string | null;
  address: string;
  country: string | null;
};

export function observe(request: TagRequest, payload: Payload, frequency: Frequency): Observation {
  return {
    userAgent: userAgentOf(request.headers),
    address: request.address,
    country: request.country,
    headers: readHeaders(request.headers, request.secure),
    handshake: request.offered === null ? null : readHandshake(request.offered),
    script: payload.script,
    submit: payload.submit,
    use: payload.use,
    frequency,
  };
}

/**
 * A hash of a submit, which only a copy has again. The times of a typed form are never the same twice, so they show the copy of one
 * with another email.
 */
export function digestOfSubmit({ submit, use }: Payload, bytes: Buffer): string | null {
  if (!submit) return null;
  return hash("sha1", use && use.keys >= minKeys ? JSON.stringify([submit, use]) : bytes, "base64");
}

/** A prefetched page or a preview is not visible yet, and may never be. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return (
    [headers["sec-purpose"], headers.purpose, headers["x-moz"]].some((word) =>
      String(word ?? "")
        .toLowerCase()
        .startsWith("prefetch"),
    ) || String(headers["x-purpose"] ?? "").toLowerCase() === "preview"
  );
}
