// Step 7: reads the JSON object in a request's body.

import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isJsonObject, readBytes } from "../http/body.ts";
import type { NumericName } from "./fields.ts";
import { refusals, type InboundRefusal } from "./refusals.ts";

export type JsonBody = { fields: Record<string, unknown>; text: string };

export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: InboundRefusal,
): Promise<JsonBody | InboundRefusal> {
  const refused = checkHeaders(request.headers);
  if (refused) return refused;
  const bytes = await readBytes(request, maxBytes);
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

/** Finds the object in which a number stands, from the root of the parsed text. */
type Find = (root: unknown) => unknown;
type Literals = { root: unknown; byObject: Map<unknown, Map<string, string>> };

const numericNames: ReadonlySet<string> = new Set<NumericName>(["orderId", "phone"]);

/**
 * Reads JSON numbers digit by digit: 12345678901234567890 must not become 12345678901234567000, or different order ids
 * would count as duplicates. Few senders give numbers, so the text is parsed again when the first one is wanted.
 */
export function openLiterals(text: string): (find: Find, name: NumericName) => string | undefined {
  let literals: Literals | null | undefined;
  return (find, name) => {
    literals ??= readLiterals(text);
    return literals ? literals.byObject.get(find(literals.root))?.get(name) : undefined;
  };
}

function readLiterals(text: string): Literals | null {
  const byObject: Literals["byObject"] = new Map();
  try {
    const root: unknown = JSON.parse(
      text,
      function (this: unknown, key, value: unknown, context?: { source?: string }) {
        if (typeof value === "number" && numericNames.has(key) && context?.source !== undefined) {
          const ofObject = byObject.get(this) ?? new Map<string, string>();
          byObject.set(this, ofObject.set(key, context.source));
        }
        return value;
      },
    );
    return { root, byObject };
  } catch {
    // Nested too deeply for the reviver, though not for JSON.parse alone: the parsed number is used.
    return null;
  }
}
