import type { Conversion } from "../../kernel/event.ts";
import { isoTime } from "./values.ts";

/** The fields of a conversion as webhooks receive them, and as their templates name them. */
const fields: Readonly<Record<string, (conversion: Conversion) => unknown>> = {
  platformEventId: ({ platformEventId }) => platformEventId,
  event: ({ name }) => name,
  eventTime: ({ time }) => isoTime(time),
  value: ({ value }) => value,
  currency: ({ currency }) => currency,
  orderId: ({ orderId }) => orderId,
  emailSha256: ({ person }) => person?.emailSha256 ?? null,
  phoneSha256: ({ person }) => person?.phoneSha256 ?? null,
  clickIds: ({ clickIds }) => Object.fromEntries(Object.entries(clickIds).map(([name, id]) => [name, id.value])),
  utm: ({ utm }) => utm,
  consent: ({ consent }) => consent,
};

export const conversionFieldNames: readonly string[] = [...Object.keys(fields), "items"];

/** The conversion as JSON: the same keys every time, null for what is unknown or withheld. Only items may be missing. */
export function conversionJson(conversion: Conversion): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const name in fields) json[name] = fields[name]?.(conversion);
  if (conversion.items) json.items = conversion.items;
  return json;
}
