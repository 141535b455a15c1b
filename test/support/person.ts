// Creates people from contact data as a sender writes it.

import { hashPerson, Plain, PlainEmail } from "../../src/identity/person.ts";
import type { Person, Sha256 } from "../../src/kernel/event.ts";

type ContactText = { email: string; phone?: string; firstName?: string; lastName?: string };

export function personOf(
  { email, phone, firstName, lastName }: ContactText,
  options: { country?: string | undefined } = {},
): Person {
  const plain = (text: string | undefined) => (text === undefined ? undefined : new Plain(text));
  const contact = { phone: plain(phone), firstName: plain(firstName), lastName: plain(lastName) };
  return hashPerson({ email: new PlainEmail(email), ...contact }, options);
}

export function hashEmail(email: string): Sha256 {
  return personOf({ email }).emailSha256;
}
