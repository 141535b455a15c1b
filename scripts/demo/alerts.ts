// What needed a person in the demo's past, found by the relay's own conditions.

import { channelNames } from "../../src/alerts/channels.ts";
import { checkSite, quietMs } from "../../src/alerts/conditions.ts";
import type { AlertKind } from "../../src/kernel/event.ts";
import { findSite } from "../../src/sites/manage.ts";
import type { Desk, Moment, Opened } from "./sites.ts";

const minuteMs = 60_000;

/** One alert that came and went, and one that is open. */
export function alertMoments(
  desk: Desk,
  { siteId }: Opened,
  outage: { from: number; to: number },
  revokedAt: number,
): Moment[] {
  const { store } = desk;
  const begin = (at: number, kind: AlertKind): Moment => ({
    at,
    async act() {
      const findings = await checkSite(store, findSite(desk, siteId), [], new Map(), at);
      await store.alerts.reconcile(
        siteId,
        findings.filter((one) => one.kind === kind),
        at,
        quietMs,
      );
      for (const alert of await store.alerts.listSince(siteId, at))
        await store.alerts.saveNote(alert, channelNames[1], {
          told: "began",
          toldAt: at,
          triedAt: at,
          isTrying: false,
          by: "demo",
          error: null,
        });
    },
  });
  return [
    begin(outage.from + 40 * minuteMs, "success rate"),
    {
      at: outage.to + 35 * minuteMs,
      act: () => store.alerts.reconcile(siteId, [], outage.to + 35 * minuteMs, quietMs),
    },
    begin(revokedAt + 90 * minuteMs, "needs reconnection"),
  ];
}
