// Names the source and the campaign of a conversion, as reports show them.

import { clickIds } from "../identity/clickIds.ts";
import type { CountedEvent } from "../store/events/eventRow.ts";

/** Stands for a conversion without a source or campaign. */
const noName = "(none)";

const maxLength = 200;

/** Names that people give these networks in `utm_source`. Other networks have the name of their platform. */
const usualSources: Readonly<Record<string, string>> = {
  google_ads: "google",
  meta: "facebook",
  microsoft_ads: "bing",
};

const platformOf = new Map(clickIds.map(({ name, platform }) => [name, platform]));

/** Returns `utm_source`. Without it, the network of the last click: auto-tagging adds a click id alone. */
export function sourceOf({ utm, newestClickId }: Pick<CountedEvent, "utm" | "newestClickId">): string {
  const given = cut(utm["utm_source"]);
  if (given) return given;
  const platform = newestClickId === null ? null : platformOf.get(newestClickId);
  return platform ? (usualSources[platform] ?? platform) : noName;
}

export const campaignOf = ({ utm }: Pick<CountedEvent, "utm">): string => cut(utm["utm_campaign"]) || noName;

const cut = (text: string | undefined) => (text ?? "").trim().slice(0, maxLength);
