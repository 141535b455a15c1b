// An email is hashed before it leaves the page, so that it stands in no address, history or log. Only where the page came
// without TLS there is nothing to hash with: then the relay does it.

export async function hashEmails(text: string): Promise<string> {
  const isEmail = text.includes("@");
  if (!isEmail || !globalThis.crypto?.subtle) return text;
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.trim().toLowerCase()));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
