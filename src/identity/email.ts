// Four forms of one address, as text. Server and browser tag share this file, so that both hash the same
// strings: it imports nothing, hashes nothing and stays small.

/** A form is undefined where its rule leaves nothing before the @: such a string would be no person's. */
export type EmailForms = {
  canonical: string;
  google: string | undefined;
  microsoft: string | undefined;
  reddit: string | undefined;
};

// Beyond ASCII everything is allowed: which letters a registry sells is not ours to know.
const letters = "[a-z0-9\\u0080-\\u{10ffff}]+";
const label = `${letters}(-+${letters})*`;
// Lone surrogates (Cs) have no UTF-8 form: two different ones would hash to the same key. The limits of SMTP and DNS come
// first: they also keep the pattern away from endless input.
const oneAddress = RegExp(
  `^(?!.*[\\s\\p{Cc}\\p{Cs}])(?=.{1,64}@[^@]{1,253}$)([^"(),:;<>@[\\]\\\\]+|"([^"\\\\]|\\\\.)+")@(${label}\\.)+${label}$`,
  "isu",
);

/** Whether the text, apart from space around it, is exactly one address that mail could be sent to. */
export function looksLikeEmail(text: string): boolean {
  return oneAddress.test(text.trim());
}

/**
 * The identity key before hashing. Senders of `hashed_email` hash exactly this, so nothing more may be folded
 * here: no Unicode normalisation, no alias domains, no dots.
 */
export function canonicalEmail(address: string): string {
  return address.trim().toLowerCase();
}

export function emailForms(address: string): EmailForms {
  const [canonical, google, microsoft, reddit] = listForms(address);
  return { canonical, google, microsoft, reddit };
}

type Form = string | undefined;
type FormList = [canonical: string, google: Form, microsoft: Form, reddit: Form];

/** The forms in the order in which the tag sends them: names would cost it bytes. */
export function listForms(address: string): FormList {
  const canonical = canonicalEmail(address);
  const at = Math.max(canonical.lastIndexOf("@"), 0);
  const local = canonical.slice(0, at);
  const atDomain = canonical.slice(at);
  const withLocal = (changed: string) => (changed ? changed + atDomain : undefined);

  const untagged = local.replace(/\+.*$/s, "");
  const undotted = withLocal(untagged.replaceAll(".", ""));
  return [
    canonical,
    // Only Gmail ignores dots and tags, and Google knows that; Microsoft removes them whatever the domain.
    /^@g(?:oogle)?mail\.com$/.test(atDomain) ? undotted : withLocal(local),
    undotted,
    // Letters of every script stay: cut down to ASCII, josé@ would become the address of somebody else.
    withLocal(untagged.replace(/[^\p{L}\p{M}\p{N}]/gu, "")),
  ];
}
