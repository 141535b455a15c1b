// Hashes an email before it leaves the page, so that it appears in no URL, history or log. On a page
// without TLS browsers offer no hash function; there the relay hashes it.

export async function hashIfEmail(text: string): Promise<string> {
  const isEmail = text.includes("@");
  if (!isEmail || !globalThis.crypto?.subtle) return text;
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.trim().toLowerCase()));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
