// The alerts of the demo's history, found by the relay's own conditions.

import { channelNames } from "../../src/alerts/channels.ts";
import { checkSite, newCheckMemory, quietMs } from "../../src/alerts/conditions.ts";
import type { AlertKind } from "../../src/kernel/event.ts";
import { minuteMs } from "../../src/kernel/time.ts";
import { findSite, type SiteContext } from "../../src/sites/manage.ts";
import type { CreatedSite, ScheduledAction } from "./sites.ts";

/** Returns actions that raise and resolve one alert, and raise another that stays open. */
export function alertActions(
  context: SiteContext,
  { siteId }: CreatedSite,
  outage: { from: number; to: number },
  revokedAt: number,
): ScheduledAction[] {
  const { store } = context;
  const raise = (at: number, kind: AlertKind): ScheduledAction => ({
    at,
    async act() {
      const findings = await checkSite({ facts: store, site: findSite(context, siteId), memory: newCheckMemory(), now: at }, []);
      await store.alerts.reconcile(
        siteId,
        findings.filter((one) => one.kind === kind),
        at,
        quietMs,
      );
      for (const alert of await store.alerts.listSince(siteId, at))
        await store.alerts.saveNotification(alert, channelNames[1], {
          notified: "began",
          notifiedAt: at,
          triedAt: at,
          isTrying: false,
          by: "demo",
          error: null,
        });
    },
  });
  return [
    raise(outage.from + 40 * minuteMs, "success rate"),
    {
      at: outage.to + 35 * minuteMs,
      act: () => store.alerts.reconcile(siteId, [], outage.to + 35 * minuteMs, quietMs),
    },
    raise(revokedAt + 90 * minuteMs, "needs reconnection"),
  ];
}
