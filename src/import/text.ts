// Bytes to text: UTF-8 and nothing else. A guess at another encoding would turn names and addresses into somebody else's.

import { Refusal } from "../kernel/refusal.ts";

/** The text of a file, piece by piece, without its byte order mark. */
export async function* textOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let read = 0;
  for await (const piece of bytes) {
    if (read === 0 && isUtf16(piece))
      throw new Refusal("file", "The file is UTF-16. Save it as UTF-8 (in Excel: “CSV UTF-8”).");
    yield decoded(decoder, piece, read);
    read += piece.length;
  }
  const rest = decoded(decoder, undefined, read);
  if (rest) yield rest;
}

function decoded(decoder: InstanceType<typeof TextDecoder>, piece: Buffer | undefined, read: number): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch {
    const about = Math.floor((read + (piece?.length ?? 0)) / 1024);
    throw new Refusal(
      "file",
      `The file is not UTF-8: a byte in its first ${about + 1} KiB is none. Save it as UTF-8 (in Excel: “CSV UTF-8”).`,
    );
  }
}

function isUtf16(piece: Buffer): boolean {
  const [first, second] = piece;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
