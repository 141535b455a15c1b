// A kind of source is one object that declares everything the relay, the dashboard and the documentation need to know of a sender:
// how it signs, what its requests look like, and which of its events become which conversion. sources/run.ts runs it.

import type { ignoreReasons, sourceCategories } from "../kernel/event.ts";
import type { BodyFormat } from "./body.ts";
import type { Scheme } from "./verify.ts";

export type KindSetting = {
  name: string;
  label: string;
  help: string;
  required?: boolean;
  /** Required unless another setting has this value. */
  requiredUnless?: { setting: string; is: string };
  /** Sealed at rest and never shown again. After a change the old value stays valid for a day. */
  secret?: boolean;
  /** You choose this secret and enter it at the sender: the relay makes one where none is given. */
  generated?: boolean;
  multiline?: boolean;
  default?: string;
  /** The only values; without it any text. */
  choices?: readonly string[];
  /** Its value is a code of ISO 4217. */
  currency?: true;
  /** Its value is written in the mapping language. */
  mapping?: "expression" | "condition";
};

/** Why authentic content is no conversion. The list is closed: the dashboard explains each. */
export type IgnoreReason = (typeof ignoreReasons)[number];

/** The fields of an event, each an expression of the mapping language. */
export const mappedFields = [
  "event",
  "email",
  "phone",
  "firstName",
  "lastName",
  "value",
  "currency",
  "orderId",
  "refundId",
  "eventTime",
] as const;
export type MappedField = (typeof mappedFields)[number];

export type RuleFields = Partial<Record<MappedField, string>> & {
  /** The sender's id of the customer: remembered with the person, and used to find the person. */
  customer?: string;
  /** Another id of the order, which later events name: remembered with the order id, and used to find it. */
  orderRef?: string;
  /**
   * Places of click ids: an object or a list of pairs that may have them, or an address with a query. A place with a name holds
   * that id itself: `gclid: properties.hs_google_click_id.value`.
   */
  clickIds?: readonly (string | readonly [name: string, place: string])[];
  /** The token that the tag added to the link to a payment page, and when that page was opened: it names the visit. */
  link?: { token: string; openedAt: string };
  items?: { from: string; id: string; name?: string; category?: string; brand?: string; price?: string; quantity?: string };
};

/**
 * Asks the sender's API for what an event does not carry: requests to fixed addresses, one after the other. It is made only where
 * neither the event nor the relay knows the person, or the order of a refund.
 */
export type LookUp = {
  /** The secret setting that holds the API key. Without a key the event is ignored. */
  key: string;
  steps: readonly LookUpStep[];
  /** Fields from the answers, which replace those of the rule. */
  fields: RuleFields;
};

type LookUpStep = {
  /** Later steps and the fields know the answer by this name. */
  name: string;
  /**
   * `{path}` stands for an id: of the fields of the rule, of `customer` or `orderRef`, or of an earlier answer. A step without its id
   * is left out.
   */
  url: string;
  /** The permission that the key needs, as the sender calls it. */
  permission: string;
};

export type Rule = {
  /** Says what the rule is about, in a few words: the documentation lists it. */
  name: string;
  when: string;
  /** Runs the fields for each element of this list. Inside, `$entry` is the entry that has the list. */
  each?: string;
  /** The rules after this one are tried too. */
  continues?: true;
  /** The name of the kind's look-up that completes the event. */
  lookUp?: string;
} & (
  | { gives: "conversion"; fields: RuleFields & { event: string } }
  /**
   * The person is found by the order where the request does not name one. With `sums` the value is what was refunded of the order so
   * far: what is counted already is taken off. With `needsOrder` it counts only where an order of its person is stored with this order
   * id, because the sale may never have been counted.
   */
  | { gives: "refund"; sums?: true; needsOrder?: true; fields: RuleFields }
  /** Only teaches whom a customer id belongs to, or by which other id a known order is called from now on. */
  | { gives: "learn"; fields: RuleFields & ({ customer: string } | { orderRef: string; orderId: string }) }
  | { gives: "ignore"; reason: IgnoreReason }
);

export type Kind = {
  id: string;
  name: string;
  category: (typeof sourceCategories)[number];
  /** One sentence for the list of kinds. */
  about: string;
  /** The sender's own page, and when it was last compared with this declaration. */
  docs: { url: string; checked: string };
  /** Of several schemes one must hold. */
  verification: readonly Scheme[];
  bodies: readonly BodyFormat[];
  /** Its rules come from the settings of the source, in which the customer maps the fields (customRules.ts). */
  isMapped?: true;
  /** Fields of a form that hold JSON. */
  jsonFields?: readonly string[];
  /** The status that makes this sender try again later. */
  busyStatus: 503 | 429;
  /** The sender switches its webhook off after so many failures in a row, or after so many hours without a success. */
  givesUp?: { failures: number } | { hours: number };
  /** The answer that this sender expects; `{"ok":true}` without it. */
  answer?: { type: string; body: string };
  /** A request that comes before anything is signed, and wants success: a form with exactly these fields. */
  unsignedPing?: readonly string[];
  /** The list of entries in a body; the body itself is the only entry without it. */
  entries?: string;
  /** The sender's id of the delivery, or of the event in it: claimed for 90 days. Absent where it has none. */
  delivery?: string;
  /**
   * When the delivery was made, where the sender says the same time in every repeat of it: claims of one time then are neighbours in the
   * database, which costs less to write.
   */
  deliveryTime?: string;
  /** The sender's name for the kind of event, for lists; absent where the customer maps it. */
  type?: string;
  /** Holds for test data, where the sender marks it. Else the source's own setting decides. */
  test?: string;
  settings: readonly KindSetting[];
  rules: readonly Rule[];
  /** By name. */
  lookUps?: Readonly<Record<string, LookUp>>;
  guide: {
    /** What to do at the sender. `ADDRESS` stands for the address of the source. */
    steps: readonly string[];
    /** What the sender does when a request fails, in short sentences. */
    retries: readonly string[];
    notes?: readonly string[];
  };
};

/** The settings that every source has. */
const commonSettings: readonly KindSetting[] = [
  {
    name: "mode",
    label: "Mode",
    help: "`live`, or `test`: conversions of a test source are sent in the platforms' test modes and never counted.",
    default: "live",
    choices: ["live", "test"],
  },
  {
    name: "keep_requests",
    label: "Keep whole requests",
    help: "`on` keeps the last ten requests for 24 hours, encrypted, to try a mapping with them. `off` keeps only the names of their fields.",
    default: "off",
    choices: ["off", "on"],
  },
];

export const settingsOf = (kind: Kind): readonly KindSetting[] => [...kind.settings, ...commonSettings];

/** The settings of a source as its kind sees them: those that were given, and the defaults of the others. */
export function withKindDefaults(kind: Kind, given: Readonly<Record<string, string>>): Record<string, string> {
  const defaults = settingsOf(kind).flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(defaults), ...given };
}
