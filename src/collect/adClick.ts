// Finds the click on an advertisement that brought a visit.

import { clickNameOf } from "../identity/clickIds.ts";
import { eraseMasks } from "../kernel/maskAddresses.ts";
import type { Payload } from "./payload.ts";

export type AdClick = {
  /** The name of the click id. */
  name: string;
  value: string;
  /** Empty if the page's address names none. */
  campaign: string;
};

const maxCampaignLength = 100;

export function adClickOf({ clickIds: found, utm }: Pick<Payload, "clickIds" | "utm">): AdClick | null {
  const name = clickNameOf(found);
  if (name === undefined) return null;
  const campaign = utm.utm_campaign || found.gad_campaignid?.value || utm.utm_id || "";
  // Counts by campaign are found by no person, so the erasure of one would leave the mask of an address in them.
  return { name, value: found[name]?.value ?? "", campaign: eraseMasks(campaign).slice(0, maxCampaignLength) };
}
