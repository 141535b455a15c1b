// Step 7: reads the JSON object in a request's body.

import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isJsonObject, readBytes } from "../http/body.ts";
import type { HeldBody } from "./load.ts";
import { refusals, type InboundRefusal } from "./refusals.ts";

/** The largest body of a single event. */
export const maxBodyBytes = 64 * 1024;

export type JsonBody = { fields: Record<string, unknown>; text: string };

/** A body that is larger than a single event's waits for its `turn` before it is parsed. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: InboundRefusal,
  held: HeldBody,
  turn?: () => Promise<void>,
): Promise<JsonBody | InboundRefusal> {
  const refused = checkHeaders(request.headers);
  if (refused) return refused;
  const reading = readBytes(request, maxBytes, held.add);
  const inTurn = async (bytes: Awaited<typeof reading>) => {
    if (turn && typeof bytes !== "string" && bytes.length > maxBodyBytes) await turn();
    return bytes;
  };
  const bytes = await (turn ? reading.then(inTurn) : reading).finally(held.give);
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

/** An id whose value is a number. In JSON, a quote that is not escaped begins or ends a string, and a colon follows only a key. */
const numericIds = /(?<!\\)("(?:orderId|refundId|phone|leadId|id)"\s*:\s*)(-?\d[\d.eE+-]*)/g;

/**
 * Reads ids that are JSON numbers digit by digit: 12345678901234567890 must not become 12345678901234567000, or different
 * orders would count as duplicates. Few senders give such numbers, so the text is parsed again when the first one is wanted. A reviver
 * would be called for every value: fifty times the cost for a long list of numbers.
 */
export function createExactFields(text: string): () => Record<string, unknown> | undefined {
  let fields: Record<string, unknown> | undefined;
  return () => (fields ??= parseExactly(text));
}

function parseExactly(text: string): Record<string, unknown> {
  const fields: unknown = JSON.parse(text.replace(numericIds, '$1"$2"'));
  return isJsonObject(fields) ? fields : {};
}
