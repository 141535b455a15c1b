// Reads the alternative origins of platforms.

import { isJsonObject } from "../http/body.ts";
import { platformOf } from "../platforms/index.ts";
import { kindOf } from "../sources/kinds/index.ts";

export function readOrigins(text: string | undefined, faults: string[]): Record<string, string> {
  const remedy = 'set it to JSON like {"meta":"https://proxy.example.com"}';
  let parsed: unknown = {};
  try {
    parsed = JSON.parse(text ?? "{}");
  } catch {
    faults.push(`CLEANCAST_PLATFORM_ORIGINS is not JSON; ${remedy}.`);
  }
  if (!isJsonObject(parsed)) {
    faults.push(`CLEANCAST_PLATFORM_ORIGINS is not a JSON object; ${remedy}.`);
    return {};
  }
  for (const [platform, origin] of Object.entries(parsed)) {
    if (!platformOf(platform) && !kindOf(platform)?.lookUps)
      faults.push(`CLEANCAST_PLATFORM_ORIGINS names "${platform}", which is not a platform.`);
    if (typeof origin !== "string" || !/^https?:\/\/[^/?#]+\/?$/.test(origin) || !URL.canParse(origin)) {
      faults.push(`CLEANCAST_PLATFORM_ORIGINS has no http(s) origin for "${platform}"; ${remedy}.`);
    }
  }
  return parsed as Record<string, string>;
}
