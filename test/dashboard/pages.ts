// Every page that a signed-in user can open; dashboard/pages.ts has the list of the router.

import type { Page } from "playwright-core";

export type Shown = { event?: string; webhook?: string; visit?: string };

/** With ids, also the drawers over the lists. */
export function pagesOf(site: string, { event, webhook, visit }: Shown = {}): string[] {
  const paths = [
    "overview",
    "events",
    ...(event ? [`events/${event}`] : []),
    "integrations",
    "integrations/log",
    "integrations/webhooks",
    ...(webhook ? [`integrations/webhooks?webhook=${webhook}`] : []),
    "integrations/webhook",
    "integrations/webhook?tab=events",
    "integrations/webhook?tab=log",
    "integrations/meta?tab=mapping",
    "configuration/keys",
    "configuration/tag",
    "configuration/domains",
    "configuration/traffic",
    ...(visit ? [`configuration/traffic?visit=${visit}`] : []),
    "configuration/consent",
    "configuration/deduplication",
    "settings/api-keys",
    "settings/members",
    "settings/alerts",
    "settings/oauth-apps",
    "settings/audit",
  ];
  return ["/sites", "/account", ...paths.map((path) => `/sites/${site}/${path}`)];
}

/** Waits until nothing is loading. The live feed never ends, so an idle network is no sign. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1, h2").first().waitFor();
  await page.waitForFunction(
    () =>
      document.querySelector(
        ".mantine-Skeleton-root, [data-loading=true], [role=status][aria-label=Loading]",
      ) === null,
  );
}
