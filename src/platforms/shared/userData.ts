// The `user_data` that Meta defined and Snapchat and Pinterest adopted: contact hashes, the browser, and mapped fields.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, Field } from "../platform.ts";
import { hashedList, textField } from "./mapping.ts";
import { placeForms } from "./places.ts";
import { isLimited } from "./settings.ts";
import { type Body, browserOf, listOf } from "./values.ts";

/** The fields of `user_data` that all have. Platforms add their own click and browser ids. */
export function userDataOf(conversion: Conversion): Body {
  const { person } = conversion;
  const { address, userAgent } = browserOf(conversion);
  return {
    em: listOf(person?.emailSha256),
    ph: listOf(person?.phoneDigitsSha256),
    fn: listOf(person?.firstNameSha256),
    ln: listOf(person?.lastNameSha256),
    client_ip_address: address || undefined,
    client_user_agent: userAgent || undefined,
  };
}

export const externalIdField: Field = textField(
  "user_data.external_id",
  "Your own id of the person, as your pixel has it; hashed before it is sent.",
  hashedList((text) => text),
);

/** The person's place of residence. */
export const placeFields: readonly Field[] = [
  textField("user_data.ct", "City; hashed before it is sent.", hashedList(placeForms.city)),
  textField(
    "user_data.st",
    "State or province: the name or the code in the United States and Canada; hashed before it is sent.",
    hashedList(placeForms.state),
  ),
  textField("user_data.zp", "Postal code; hashed before it is sent.", hashedList(placeForms.zip)),
  textField(
    "user_data.country",
    "Country: its English name or two letters (Germany, DE); hashed before it is sent.",
    hashedList(placeForms.country),
  ),
];

/**
 * Meta's and Snapchat's "limited data use". Country 0 and state 0 let the platform locate the person by IP address. Without
 * an address, and after an opt-out, California is sent, because the limits apply there.
 */
export function processingOptions(conversion: Conversion, settings: ConnectionSettings): Body | undefined {
  if (!isLimited(conversion, settings)) return undefined;
  const isLocated = conversion.consent !== "denied" && !!conversion.browser?.address;
  return {
    data_processing_options: ["LDU"],
    data_processing_options_country: isLocated ? 0 : 1,
    data_processing_options_state: isLocated ? 0 : 1000,
  };
}
