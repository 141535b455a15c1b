// The fields of a conversion and the answers of the relay, as docs/reference/inbound.md defines them.

export type Item = {
  /** The product's id, as in your catalogues at the platforms. */
  id: string | number;
  name?: string;
  category?: string;
  brand?: string;
  /** The price of one piece, in the currency of the conversion. */
  price?: number;
  /** A whole number from 1; default 1. */
  quantity?: number;
};

type Fields = {
  /** The name of the event, such as `purchase`, `lead` or `refund`. */
  event: string;
  /** Not negative. For a refund, send an event named `refund`. */
  value?: number;
  /** ISO 4217; default `USD`. */
  currency?: string;
  /** The id of the order, deal or call. Repeats with the same id are detected for 90 days. */
  orderId?: string | number;
  /** The id of a refund, so that each partial refund of an order counts. */
  refundId?: string | number;
  /** Meta's id of a lead from one of its forms. */
  leadId?: string | number;
  /** Click ids that you know, such as `{ gclid: "…" }`; they join those of the person's visits. */
  clickIds?: Readonly<Record<string, string>>;
  /** The time of the click, in the form of `eventTime`. */
  clickTime?: string | number;
  firstName?: string;
  lastName?: string;
  /** With country code, unless the site has a country. */
  phone?: string | number;
  /** ISO 8601 or Unix seconds, at most 90 days ago. Default: the time of arrival. */
  eventTime?: string | number;
  /** At most 100. */
  items?: readonly Item[];
};

/**
 * One conversion. It needs `email`, or `hashed_email`: the SHA-256 of the trimmed, lower-cased address. A site with the setting
 * `conversions_without_email` takes a phone number or click ids in their place.
 */
export type Conversion = Fields &
  (
    | { email: string; hashed_email?: string }
    | { hashed_email: string; email?: string }
    | { phone: string | number; email?: string; hashed_email?: string }
    | { clickIds: Readonly<Record<string, string>>; email?: string; hashed_email?: string }
  );

export type PlatformResult = {
  ok: boolean;
  status?: "queued" | "skipped" | "rejected" | "parked";
  error?: string;
};

/** The relay stored the conversion, knew it already (`deduped`), or filtered it by a rule of the site (`filtered`). */
export type Accepted = {
  ok: true;
  event?: string;
  results?: Record<string, PlatformResult>;
  deduped?: true;
  filtered?: true;
};

/** The conversion was not accepted. */
export type Refused = {
  ok: false;
  /** The HTTP status; 0 if no answer arrived. */
  status: number;
  error: string;
  /** True if the cause is temporary: send the same conversion again later. A repeat is never counted twice. */
  retryable: boolean;
  /** The wait that the relay asked for, in milliseconds. */
  retryAfterMs?: number;
  /** The runtime's own error, where no answer arrived. */
  cause?: unknown;
};

export type Outcome = Accepted | Refused;
