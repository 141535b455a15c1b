// Shows what the value rules of a connection would have sent for the last conversions of the site.

import type { Conversion } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import { amountOf } from "../platforms/shared/values.ts";
import { skipOf } from "../platforms/shared/skips.ts";
import { ruledValue, type RuledValue } from "../platforms/valueRules.ts";
import type { Connection } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import { toConversion } from "./conversion.ts";
import { isSelected } from "./plan.ts";

const maxConversions = 100;
const maxExamples = 10;
/** Events that are looked at: most of them may be of other names. */
const pageSize = 200;
const maxPages = 5;

type Previewed = { id: string; conversion: Conversion; ruled: RuledValue | null };

export async function previewValues({ events }: Pick<Store, "events">, connection: Connection) {
  const found: Previewed[] = [];
  let before: string | undefined;
  for (let page = 0; page < maxPages && found.length < maxConversions; page++) {
    const listed = await events.list(connection.siteId, {
      mode: "live",
      status: "accepted",
      limit: pageSize,
      ...(before !== undefined && { before }),
    });
    for (const event of listed) {
      if (event.isErased || !isSelected(connection, event.name)) continue;
      const conversion = toConversion(event, event.platformEventId, event.attribution);
      if (isSent(connection, conversion))
        found.push({ id: event.id, conversion, ruled: ruledValue(conversion, connection.settings) });
    }
    before = listed.at(-1)?.id;
    if (listed.length < pageSize) break;
  }
  const last = found.slice(0, maxConversions);
  const changed = last.filter(({ conversion, ruled }) => ruled && ruled.value !== conversion.value);
  return {
    conversions: last.length,
    changed: changed.length,
    totals: totalsOf(last),
    examples: changed.slice(0, maxExamples).map(({ id, conversion: { name, orderId, value, currency }, ruled }) => ({
      event: id,
      name,
      orderId,
      value,
      currency,
      sentValue: ruled?.value ?? value,
      sentCurrency: ruled?.currency ?? currency,
      rule: ruled?.rule ?? "",
    })),
  };
}

function isSent({ platform: id, settings }: Connection, conversion: Conversion): boolean {
  const platform = platformOf(id);
  return platform !== undefined && skipOf(platform, conversion, settings) === null;
}

/** A fixed value may have another currency than the event. */
function totalsOf(previewed: readonly Previewed[]) {
  const totals = new Map<string, { value: number; sentValue: number }>();
  const add = (currency: string, part: "value" | "sentValue", amount: number | null) => {
    const total = totals.get(currency) ?? { value: 0, sentValue: 0 };
    total[part] = amountOf(total[part] + (amount ?? 0), currency);
    totals.set(currency, total);
  };
  for (const { conversion, ruled } of previewed) {
    if (conversion.value !== null) add(conversion.currency, "value", conversion.value);
    const sent = ruled ?? conversion;
    if (sent.value !== null) add(sent.currency, "sentValue", sent.value);
  }
  return Array.from(totals, ([currency, total]) => ({ currency, ...total }));
}
