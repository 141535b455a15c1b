// Fields of a request that are none of ours: kept only when a field mapping of the site names them.

import { looksLikeEmail } from "../identity/email.ts";
import { extraFieldsOf } from "../platforms/shared/mapping.ts";
import type { Site } from "../sites/directory.ts";
import type { Body } from "./body.ts";

const maxTextLength = 512;

/** A site is read anew when its configuration changes, so what it wants is found out once. */
const wanted = new WeakMap<Site, readonly string[]>();

function wantedBy(site: Site): readonly string[] {
  let names = wanted.get(site);
  if (!names) {
    names = [...new Set(site.connections.flatMap(({ settings }) => extraFieldsOf(settings)))];
    wanted.set(site, names);
  }
  return names;
}

export function extraIn({ fields }: Body, site: Site): Record<string, unknown> | null {
  const kept: Record<string, unknown> = {};
  for (const name of wantedBy(site)) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // An address is contact data, whatever the field is called.
    if (typeof value === "string" && looksLikeEmail(value)) continue;
    if (typeof value === "string" && value.trim() !== "") kept[name] = value.trim().slice(0, maxTextLength);
    else if (typeof value === "number" || typeof value === "boolean") kept[name] = value;
  }
  return Object.keys(kept).length ? kept : null;
}
