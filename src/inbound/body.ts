// Step 7: from bytes to a JSON object. What is malformed here is answered in plain text.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { readBytes } from "../http/bytes.ts";
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
  const bytes = await readBytes(request, largestBody);
  if (bytes === "too large") return refusals.tooLarge;
  return bytes === "cut" ? refusals.cutBody : parse(bytes);
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
