// Step 7: from bytes to a JSON object. What is malformed here is answered in plain text.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { refusals, type Refusal } from "./errors.ts";

const largestBody = 64 * 1024;

export type Body = { fields: Record<string, unknown>; text: string };

export async function readBody(request: IncomingMessage): Promise<Body | Refusal> {
  const type = request.headers["content-type"];
  if (type === undefined || type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json") {
    return refusals.wrongContentType;
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refusals.encoded;
  if (Number(request.headers["content-length"] ?? 0) > largestBody) return refusals.tooLarge;

  const bytes = await collect(request);
  return Buffer.isBuffer(bytes) ? parse(bytes) : bytes;
}

/** The bytes, or a refusal as soon as there are too many: a chunked body tells its length only by arriving. */
function collect(request: IncomingMessage): Promise<Buffer | Refusal> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on("data", (part: Buffer) => {
      size += part.length;
      if (size > largestBody) resolve(refusals.tooLarge);
      else parts.push(part);
    });
    request.on("end", () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
    request.on("error", () => resolve(refusals.cutBody));
    request.on("aborted", () => resolve(refusals.cutBody));
  });
}

function parse(bytes: Buffer): Body | Refusal {
  if (!isUtf8(bytes)) return refusals.invalidUtf8;
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (text.trim() === "") return refusals.emptyBody;
  try {
    const fields: unknown = JSON.parse(text);
    return isObject(fields) ? { fields, text } : refusals.notAnObject;
  } catch {
    return refusals.invalidJson;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
