import type { IncomingMessage } from "node:http";

/** The body, or why there is none, as soon as that is known: a chunked body tells its length only by arriving. */
export function readBytes(request: IncomingMessage, most: number): Promise<Buffer | "too large" | "cut"> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const tooLarge = () => {
      resolve("too large");
      linger(request);
    };
    if (Number(request.headers["content-length"] ?? 0) > most) return tooLarge();
    request.on("data", (part: Buffer) => {
      size += part.length;
      if (size <= most) parts.push(part);
      else if (size - part.length <= most) tooLarge();
    });
    request.on("end", () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
    request.on("error", () => resolve("cut"));
    request.on("aborted", () => resolve("cut"));
  });
}

const lingerMs = 2000;

/**
 * Reads on and drops, for a moment, and then hangs up. A connection that is ended while the sender still writes is reset,
 * and the answer is lost with it.
 */
function linger(request: IncomingMessage): void {
  request.resume();
  const hangUp = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, lingerMs);
  request.once("close", () => clearTimeout(hangUp));
}
