import type { IncomingMessage } from "node:http";

/** The body, or why there is none, as soon as that is known: a chunked body tells its length only by arriving. */
export function readBytes(request: IncomingMessage, most: number): Promise<Buffer | "too large" | "cut"> {
  if (Number(request.headers["content-length"] ?? 0) > most) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on("data", (part: Buffer) => {
      size += part.length;
      if (size > most) resolve("too large");
      else parts.push(part);
    });
    request.on("end", () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
    request.on("error", () => resolve("cut"));
    request.on("aborted", () => resolve("cut"));
  });
}
