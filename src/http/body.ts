import type { IncomingMessage } from "node:http";

/** Takes the length of what has arrived of a body that is not complete yet; false ends the reading. */
type Hold = (bytes: number) => boolean;

const empty = Buffer.alloc(0);

/** Reads a body up to `maxBytes`. Resolves as soon as it is too large: a chunked body has no declared length. */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | "too large" | "cut">;
export function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  hold: Hold,
): Promise<Buffer | "too large" | "cut" | "no room">;
export function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  hold: Hold = () => true,
): Promise<Buffer | "too large" | "cut" | "no room"> {
  return new Promise((resolve) => {
    const declaredSize = Number(request.headers["content-length"] ?? 0);
    let body: Buffer = empty;
    let size = 0;
    let isGivenUp = false;
    const giveUp = (reason: "too large" | "no room") => {
      isGivenUp = true;
      body = empty;
      resolve(reason);
      drain(request);
    };
    const end = () => resolve(body.length === size ? body : body.subarray(0, size));
    const stall = watchStall(request, () => resolve("cut"));
    if (declaredSize > maxBytes) return giveUp("too large");
    // The sender closed the connection while the request was checked: no event follows.
    if (request.destroyed) return resolve("cut");
    request.on("data", (part: Buffer) => {
      stall?.refresh();
      if (isGivenUp) return;
      size += part.length;
      if (size > maxBytes) return giveUp("too large");
      body = size === part.length ? part : append(body, size - part.length, part, maxBytes);
      if (size === declaredSize) end();
      else if (!hold(part.length)) giveUp("no room");
    });
    if (declaredSize === 0) request.on("end", end);
    // Also when the sender closes the connection.
    request.on("error", () => resolve("cut"));
  });
}

/**
 * Adds a part to the first `size` bytes of a body. One buffer holds them all: each part takes some hundred bytes beside its own, and a
 * sender can make them of a byte each.
 */
function append(body: Buffer, size: number, part: Buffer, maxBytes: number): Buffer {
  const needed = size + part.length;
  let room = body;
  if (room.length < needed) {
    room = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * room.length, maxBytes)));
    body.copy(room, 0, 0, size);
  }
  part.copy(room, size);
  return room;
}

/** Longer than a sender pauses between two chunks. */
const maxStallMs = 2000;

/**
 * After a request with an Upgrade header, Node reports no error of the parser: the rest of a malformed chunked body never
 * arrives. Such a body is given up when nothing more of it arrives for a while.
 */
function watchStall(request: IncomingMessage, onStall: () => void): NodeJS.Timeout | null {
  const { upgrade, "transfer-encoding": encoding } = request.headers;
  if (upgrade === undefined || encoding === undefined) return null;
  const timer = setTimeout(onStall, maxStallMs);
  request.once("close", () => clearTimeout(timer));
  return timer;
}

const drainMs = 2000;

/**
 * Drains the rest of a body for a moment, then closes the connection. Closing while the sender still writes would reset the
 * connection, and the sender would lose the answer.
 */
function drain(request: IncomingMessage): void {
  request.resume();
  const close = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, drainMs);
  request.once("close", () => clearTimeout(close));
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
