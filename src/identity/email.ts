// Four forms of one address, as text. Server and browser tag share this file, so that both hash the same
// strings: it imports nothing, hashes nothing and stays small.

/** A form is undefined where its rule leaves nothing before the @: such a string would be no person's. */
export type EmailForms = {
  canonical: string;
  google: string | undefined;
  microsoft: string | undefined;
  reddit: string | undefined;
};

// Lone surrogates (Cs) have no UTF-8 form: two different ones would hash to the same key.
const unusable = /[\s\p{Cc}\p{Cs}]/u;
const plainLocal = /^[^"(),:;<>@[\\\]]+$/;
const quotedLocal = /^"(?:[^"\\]|\\.)+"$/;
// Beyond ASCII everything is allowed: which letters a registry sells is not ours to know.
const domainLabel = /^[a-z0-9\u0080-\uffff](?:[a-z0-9\u0080-\uffff-]*[a-z0-9\u0080-\uffff])?$/i;

/** Whether the text, apart from space around it, is exactly one address that mail could be sent to. */
export function looksLikeEmail(text: string): boolean {
  const address = text.trim();
  const at = address.lastIndexOf("@");
  const local = address.slice(0, Math.max(at, 0));
  const domain = address.slice(at + 1);
  // The limits of SMTP and DNS come first: they also keep the patterns away from endless input.
  if (local.length > 64 || domain.length > 253 || unusable.test(address)) return false;
  if (!plainLocal.test(local) && !quotedLocal.test(local)) return false;
  const labels = domain.split(".");
  return labels.length > 1 && labels.every((label) => domainLabel.test(label));
}

/**
 * The identity key before hashing. Senders of `hashed_email` hash exactly this, so nothing more may be folded
 * here: no Unicode normalisation, no alias domains, no dots.
 */
export function canonicalEmail(address: string): string {
  return address.trim().toLowerCase();
}

export function emailForms(address: string): EmailForms {
  const canonical = canonicalEmail(address);
  const at = Math.max(canonical.lastIndexOf("@"), 0);
  const local = canonical.slice(0, at);
  const atDomain = canonical.slice(at);
  const withLocal = (changed: string) => (changed === "" ? undefined : changed + atDomain);

  const untagged = local.replace(/\+.*$/s, "");
  const undotted = withLocal(untagged.replaceAll(".", ""));
  const isGmail = atDomain === "@gmail.com" || atDomain === "@googlemail.com";
  return {
    canonical,
    // Only Gmail ignores dots and tags, and Google knows that; Microsoft removes them whatever the domain.
    google: isGmail ? undotted : withLocal(local),
    microsoft: undotted,
    // Letters of every script stay: cut down to ASCII, josé@ would become the address of somebody else.
    reddit: withLocal(untagged.replace(/[^\p{L}\p{M}\p{N}]/gu, "")),
  };
}
