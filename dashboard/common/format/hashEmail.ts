// SHA-256 in the browser. An email is hashed before it leaves the page, so that it appears in no URL, history or log.

export const hashIfEmail = async (text: string): Promise<string> =>
  text.includes("@") ? sha256Of(new TextEncoder().encode(text.trim().toLowerCase())) : text;

/** On a page without HTTPS browsers offer no hash function, and ours is loaded. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = globalThis.crypto?.subtle
    ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
    : (await import("@noble/hashes/sha2.js")).sha256(bytes);
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
