// node:crypto with random values of the simulated process.

import type { UUID } from "node:crypto";
import { callingProcess } from "../runtime/world.ts";

export * from "node:crypto";

export function randomFillSync<T extends ArrayBufferView>(view: T): T {
  callingProcess().random.fillBytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return view;
}

export const randomBytes = (size: number): Buffer => randomFillSync(Buffer.alloc(size));

export function randomUUID(): UUID {
  const hex = randomBytes(16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
