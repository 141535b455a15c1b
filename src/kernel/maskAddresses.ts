// Masks email addresses in texts that should hold none: event names, order ids, UTM fields, the paths of pages. A mask depends
// on the address alone, so equal texts stay equal and different ones stay different, which duplicates and statistics rely on.

import { hash } from "node:crypto";

/** An @, also as addresses of pages write it, once or several times encoded. */
const encodedAt = "%(?:25)*40";
const at = `(?:@|${encodedAt})`;
const encoded = `%(?!(?:25)*40)`;
// Separators of paths and queries end the part before the @; everything else may belong to it.
const local = `(?:"[^"]{1,64}"|(?:[^\\s"(),:;<>@[\\]\\\\/?&=#|%]|${encoded}){1,64})`;
const letter = `(?:[\\p{L}\\p{N}_]|${encoded})`;
/**
 * From the @ on; what is before it is read backwards and captured. To try each character as the beginning would take sixty times as long,
 * and a request may hold many long texts with an @ and no address.
 */
const address = new RegExp(
  `(?=${at})(?<=(${local}))${at}(?:${letter}(?:-|${letter}){0,62}\\.){1,8}(?:\\p{L}|${encoded})(?:-|${letter}){1,62}`,
  "gu",
);
const mayHoldAddress = new RegExp(at);

export function maskAddresses(text: string): string {
  if (!mayHoldAddress.test(text)) return text;
  let masked = "";
  let done = 0;
  for (const { 0: domain, 1: before = "", index } of text.matchAll(address)) {
    const start = Math.max(done, index - before.length);
    if (start === index) continue;
    const end = index + domain.length;
    masked += `${text.slice(done, start)}email-${hash("sha256", text.slice(start, end)).slice(0, 16)}`;
    done = end;
  }
  return masked + text.slice(done);
}

/** The length of the longest text that is recognised as an address. */
const maxAddressLength = 700;

/** Masks a text of any length and cuts it. No more of it is searched than its beginning can depend on. */
export function maskAndCut(text: string, maxLength: number): string {
  const searched = text.slice(0, maxLength + 2 * maxAddressLength);
  const masked = maskAddresses(searched);
  // The end may be a part of an address, which is not recognised.
  const wholeLength = searched === text ? masked.length : masked.length - maxAddressLength;
  return masked.slice(0, Math.max(0, Math.min(maxLength, wholeLength)));
}

export const holdsAddress = (text: string) => maskAddresses(text) !== text;

/** Removes what masks say about their addresses. */
export const eraseMasks = (text: string) => text.replaceAll(/email-[0-9a-f]{16}/g, "email");
