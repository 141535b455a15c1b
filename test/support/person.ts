// Creates people from contact data as a sender writes it, and identity records of all kinds.

import { hashPerson, Plain, PlainEmail, type EmailPerson } from "../../src/identity/person.ts";
import type { Identity, Sha256, Visit } from "../../src/kernel/event.ts";

type ContactText = { email: string; phone?: string; firstName?: string; lastName?: string };

export function personOf(
  { email, phone, firstName, lastName }: ContactText,
  options: { country?: string | undefined } = {},
): EmailPerson {
  const plain = (text: string | undefined) => (text === undefined ? undefined : new Plain(text));
  const contact = { phone: plain(phone), firstName: plain(firstName), lastName: plain(lastName) };
  return hashPerson({ email: new PlainEmail(email), ...contact }, options);
}

export function hashEmail(email: string): Sha256 {
  return personOf({ email }).emailSha256;
}

const agents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  "curl/8.0",
  "",
];
const texts = ["https://www.google.com/", "a b", "\u0001\t\n\\", "=", "tab\there", "\ud800", "Ünï", "fb.1.2.3", "GA1.1.5"];

/** Makes an identity record; each seed gives another one. Visits are up to 200 days older than `newest`. */
export function generateIdentity(seed: number, newest: number, emailSha256: Sha256): Identity {
  let state = seed + 1;
  // Park and Miller's generator: the same records on every run.
  const random = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
  const pick = <T>(choices: readonly T[]) => choices[random(choices.length)] as T;
  const some = <T>(names: readonly string[], make: () => T) =>
    Object.fromEntries(names.filter(() => random(3) === 0).map((name) => [name, make()]));
  const text = () => (random(3) ? `id-${random(1000)}` : pick(texts));
  const utm = () => (random(2) ? some(["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_id"], text) : {});
  let seenAt = newest;
  const visits = Array.from({ length: random(8) }, (): Visit => {
    seenAt -= random(25 * 86_400_000);
    return {
      visitorId: pick([null, "0123456789abcdefABCDEF", emailSha256]),
      seenAt,
      browser: random(3)
        ? {
            page: text(),
            referrer: pick(["", "https://facebook.com"]),
            address: text(),
            userAgent: pick(agents),
          }
        : null,
      clickIds: some(["gclid", "fbclid", "ScCid", "twclid", "odd"], () => ({
        value: text(),
        seenAt: random(2) ? seenAt : seenAt - random(50 * 86_400_000),
      })),
      browserIds: some(["_fbp", "_fbc", "_ga", "_ttp", "_ga_ABC"], text),
      utm: utm(),
      ...(random(3) === 0 && {
        verdict: {
          bot: random(3) > 0,
          score: random(101),
          reasons: [text(), text()].slice(random(3)),
          rules: 1,
        },
      }),
    };
  });
  const hash = () => (random(2) ? emailSha256 : (String(random(9)).repeat(64) as Sha256));
  const forms = some(["emailGoogleSha256", "emailMicrosoftSha256", "emailRedditSha256"], hash);
  return { visits, firstUtm: utm(), forms };
}
