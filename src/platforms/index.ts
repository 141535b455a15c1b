// The list of platforms, in the order in which people see them. A new one is a file and a line here.

import type { Platform } from "./platform.ts";
import { sandbox } from "./sandbox.ts";
import { webhook } from "./webhook.ts";

export const platforms: readonly Platform[] = [webhook, sandbox];

const byId = new Map(platforms.map((platform) => [platform.id, platform]));

export function platformOf(id: string): Platform | undefined {
  return byId.get(id);
}
