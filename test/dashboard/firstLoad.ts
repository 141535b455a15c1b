// Counts what a browser loads to show a page for the first time.

import type { Page } from "playwright-core";

type Load = { requests: number; bytes: number; paths: string[] };

/** Opens a page and returns its requests, once all of them but the endless live feed have ended. */
export async function countLoad(page: Page, open: () => Promise<void>, isShown: () => Promise<unknown>): Promise<Load> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const sizes = new Map<string, number>();
  const paths = new Map<string, string>();
  session.on("Network.requestWillBeSent", ({ requestId, request }) => paths.set(requestId, new URL(request.url).pathname));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
  const isOpen = ([id, path]: [string, string]) => !sizes.has(id) && !path.endsWith("/feed");
  await open();
  await isShown();
  while ([...paths].some(isOpen)) await page.waitForTimeout(50);
  await session.detach();
  return {
    requests: paths.size,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    paths: [...paths.values()],
  };
}
