// Builds the forms of an address, as text. Server and browser tag share this file, so that both hash the same strings:
// it imports nothing, hashes nothing and stays small.

/** A form is undefined where its rule leaves nothing before the @. */
type EmailForms = {
  canonical: string;
  google: string | undefined;
  microsoft: string | undefined;
  reddit: string | undefined;
  /** Undefined also where it is the canonical one, which most addresses are. */
  amazon: string | undefined;
};

// Lone surrogates (Cs) have no UTF-8 form: two different ones would hash to the same key. The length limits of SMTP and DNS
// come first, which also bounds the work on hostile input. In domains every character beyond ASCII is allowed, because
// registries differ in what they sell.
const addressForm =
  /^(?!.*[\s\p{Cc}\p{Cs}])(?=.{1,64}@[^@]{0,252}[^@.]$)([^"(),:;<>@[\]\\]+|"([^"\\]|\\.)+")@([a-z0-9\u0080-\u{10ffff}]+(-+[a-z0-9\u0080-\u{10ffff}]+)*(\.|$)){2,}$/isu;

/** True when the trimmed text is exactly one email address. */
export const looksLikeEmail = (text: string): boolean => addressForm.test(text.trim());

/**
 * Returns the identity key before hashing. Senders of `hashed_email` hash exactly this, so nothing more may be normalised:
 * no Unicode forms, no alias domains, no dots.
 */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase();

export function emailForms(address: string): EmailForms {
  const [canonical, google, microsoft, reddit] = listForms(address);
  return { canonical, google, microsoft, reddit, amazon: amazonForm(canonical) };
}

type Form = string | undefined;
type FormList = [canonical: string, google: Form, microsoft: Form, reddit: Form];

/** Lists the forms in the order in which the tag sends them; property names would cost bytes. */
export function listForms(address: string): FormList {
  const canonical = canonicalEmail(address);
  const at = Math.max(canonical.lastIndexOf("@"), 0);
  const local = canonical.slice(0, at);
  const atDomain = canonical.slice(at);
  const withLocal = (changed: string) => (changed ? changed + atDomain : undefined);

  const untagged = local.replace(/\+.*$/s, "");
  const undotted = untagged.replaceAll(".", "");
  const plain = unaccented(undotted);
  return [
    canonical,
    // Google removes dots and tags for Gmail only, Microsoft for every domain, and accents too.
    withLocal(/^@g(oogle)?mail\.com$/.test(atDomain) ? undotted : local),
    plain ? plain + unaccented(atDomain) : undefined,
    // Letters of every script stay: reduced to ASCII, josé@ would match another person.
    withLocal(untagged.replace(/[^\p{L}\p{M}\p{N}]/gu, "")),
  ];
}

/** Amazon removes everything else. The tag has no room for this form: visitors' emails have the other ones. */
function amazonForm(canonical: string): Form {
  const ascii = canonical.replace(/[^a-z0-9.@+-]/g, "");
  // An address of which nothing is left before the @ is nobody's.
  return ascii === canonical || ascii.indexOf("@") < 1 ? undefined : ascii;
}

const unaccented = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").normalize();
