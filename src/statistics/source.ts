// Names the source and the campaign of a conversion, as reports show them.

import { isTouch } from "../identity/attribution.ts";
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

type Attributed = Pick<CountedEvent, "utm" | "newestClickId" | "path">;

/** Returns the source of the last touch. */
export const sourceOf = (event: Attributed): string => nameSource(lastTouchOf(event));

export const campaignOf = (event: Attributed): string => nameCampaign(lastTouchOf(event));

function lastTouchOf({ utm, newestClickId, path }: Attributed): Touch {
  return path?.findLast(isTouch) ?? { utmSource: utm["utm_source"], utmCampaign: utm["utm_campaign"], clickId: newestClickId };
}

type Touch = { utmSource?: string | undefined; utmCampaign?: string | undefined; clickId?: string | null };

/** Returns `utm_source`. Without it, the network of the click: auto-tagging adds a click id alone. */
export function nameSource({ utmSource, clickId }: Touch): string {
  const given = cut(utmSource);
  if (given) return given;
  const platform = clickId ? platformOf.get(clickId) : null;
  return platform ? (usualSources[platform] ?? platform) : noName;
}

export const nameCampaign = ({ utmCampaign }: Touch): string => cut(utmCampaign) || noName;

const cut = (text: string | undefined) => (text ?? "").trim().slice(0, maxLength);
