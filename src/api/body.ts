import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { readBytes } from "../http/bytes.ts";
import { Refusal } from "../kernel/refusal.ts";

const largest = 512 * 1024;

/** The JSON that a request carries. Anything else is refused: a form of another site can send no JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refusal("", "Send JSON, with Content-Type: application/json.");
  const bytes = await readBytes(request, largest);
  if (bytes === "too large") throw new Refusal("", `The body is larger than ${largest / 1024} KiB.`);
  if (bytes === "cut") throw new Refusal("", "The body did not arrive whole.");
  if (!isUtf8(bytes)) throw new Refusal("", "The body is not UTF-8.");
  const text = bytes.toString("utf8");
  if (text.includes("\0") || text.includes("\\u0000")) throw zeroByte();
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal("", "The body is not JSON.");
  }
}

/** No text of ours holds one, and PostgreSQL can store none. */
export const zeroByte = () => new Refusal("", "Texts must not hold a zero byte (U+0000).");
