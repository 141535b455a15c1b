// Step 7: reads the JSON object in a request's body.

import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isJsonObject, readBytes } from "../http/body.ts";
import type { HeldBody } from "./load.ts";
import { refusals, type InboundRefusal } from "./refusals.ts";

/** The largest body of a single event. */
export const maxBodyBytes = 64 * 1024;

export type JsonBody = { fields: Record<string, unknown>; text: string };

export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: InboundRefusal,
  held: HeldBody,
): Promise<JsonBody | InboundRefusal> {
  const refused = checkHeaders(request.headers);
  if (refused) return refused;
  const bytes = await readBytes(request, maxBytes, held.add).finally(held.give);
  if (bytes === "no room") return refusals.overloaded;
  if (bytes === "too large") return tooLarge;
  if (bytes === "cut") return refusals.incompleteBody;
  return parseBody(bytes);
}

function checkHeaders(headers: IncomingHttpHeaders): InboundRefusal | null {
  const type = headers["content-type"];
  if (type !== "application/json" && type?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    return refusals.wrongContentType;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refusals.contentEncoding;
  return null;
}

const byteOrderMark = 0xfeff;

function parseBody(bytes: Buffer): JsonBody | InboundRefusal {
  if (!isUtf8(bytes)) return refusals.invalidUtf8;
  const read = bytes.toString("utf8");
  const text = read.charCodeAt(0) === byteOrderMark ? read.slice(1) : read;
  try {
    const fields: unknown = JSON.parse(text);
    return isJsonObject(fields) ? { fields, text } : refusals.notAnObject;
  } catch {
    return text.trim() === "" ? refusals.emptyBody : refusals.invalidJson;
  }
}

const idNames: ReadonlySet<string> = new Set(["orderId", "refundId", "phone", "leadId", "id"]);

/**
 * Reads ids that are JSON numbers digit by digit: 12345678901234567890 must not become 12345678901234567000, or different
 * orders would count as duplicates. Few senders give such numbers, so the text is parsed again when the first one is wanted.
 */
export function createExactFields(text: string): () => Record<string, unknown> | undefined {
  let fields: Record<string, unknown> | null | undefined;
  return () => {
    // Null, too, is a result: a text that cannot be read so must not be parsed for every event of a batch.
    if (fields === undefined) fields = parseExactly(text);
    return fields ?? undefined;
  };
}

function parseExactly(text: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(text, (key, value: unknown, context?: { source?: string }) =>
      typeof value === "number" && idNames.has(key) ? (context?.source ?? value) : value,
    );
    return isJsonObject(fields) ? fields : null;
  } catch {
    // Nested too deeply for the reviver, though not for JSON.parse alone: the parsed numbers are used.
    return null;
  }
}
