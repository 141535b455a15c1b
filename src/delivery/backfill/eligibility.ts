// Judges which past events a backfill sends: those that the platform can still take and does not have.

import { say } from "../../kernel/messages/message.ts";
import { readConsent, type ConsentMode } from "../../identity/attribution.ts";
import { isRepeatedStage } from "../../identity/leadStages.ts";
import type { Attribution, Sha256 } from "../../kernel/event.ts";
import { dayMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Platform } from "../../platforms/platform.ts";
import { skipOf } from "../../platforms/shared/skips.ts";
import type { Connection, Site } from "../../sites/directory.ts";
import type { Delivery } from "../../store/deliveries/delivery.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";
import { toConversion } from "../conversion.ts";
import { isSelected } from "../plan.ts";
import { maxAgeDaysOf } from "../expiry.ts";

type EligibilityStore = Pick<Store, "deliveries" | "events" | "people" | "configuration">;

/** An event with `leftOut` null is sent; otherwise it says why not, as people read it after a number. */
type Checked = { id: string; leftOut: string | null };

/** Reads the next events after `after` and before `end`, and judges each. Fewer than `limit` are the last ones. */
export type Eligibility = (after: string, end: string, limit: number, now: number) => Promise<Checked[]>;

export async function createEligibility(store: EligibilityStore, site: Site, connection: Connection): Promise<Eligibility> {
  const platform = platformOf(connection.platform);
  /** This connection and removed ones to the same account. */
  const toAccount = new Set([
    connection.id,
    ...(await store.configuration.listRemoved(site.id, connection.platform, connection.account)),
  ]);

  return async (after, end, limit, now) => {
    const page = await store.events.listRange(site.id, after, end, limit);
    const deliveries = await store.deliveries.listByEvents(
      site.id,
      page.map(({ id }) => id),
    );
    const consentOf = createConsents(store, site);
    const judged: Checked[] = [];
    for (const { id, event } of page) {
      const known = (deliveries.get(id) ?? []).filter((one) => toAccount.has(one.connectionId));
      const leftOut = !platform
        ? "of a platform that this version does not know"
        : event === "damaged"
          ? "damaged"
          : (whyNotSendable(event, known) ?? (await whyUnfit(platform, event, now)));
      judged.push({ id, leftOut });
    }
    return judged;

    async function whyUnfit(of: Platform, event: StoredEvent, at: number): Promise<string | null> {
      if (!isSelected(connection, event.name)) return "not selected for this connection";
      if (await isRepeatedStage(store, event)) return "of a stage that the lead has reached before";
      if (of.countsOnArrival) return say("too_late_for", { platform: of.name });
      // Age does not depend on consent, so consent is read for those that are young enough only.
      const old = ageReason(of, connection, event, at);
      if (old !== null) return old;
      const attribution = await consentOf(event);
      const conversion = toConversion(event, event.platformEventId, attribution);
      const reason = skipOf(of, conversion, connection.settings)?.reason ?? null;
      return reason !== null && attribution.withheld ? "without consent" : reason;
    }
  };
}

function whyNotSendable(event: StoredEvent, known: readonly Delivery[]): string | null {
  if (event.status === "filtered") return "filtered as bots or by a rule";
  if (event.mode === "test") return "in test mode";
  if (event.isErased) return "erased";
  if (known.some(({ state }) => state === "sent")) return "already delivered";
  if (known.some(({ state }) => state === "queued" || state === "parked")) return "already waiting";
  // The platform may have taken one whose answer could not be read, so only a person may decide to replay it.
  if (known.some(({ state }) => state === "rejected")) return "rejected by the platform before";
  return null;
}

/** Where the platform sets no limit, a past event is as good as a new one. */
function ageReason(platform: Platform, { settings }: Connection, event: StoredEvent, now: number): string | null {
  const conversion = toConversion(event, event.platformEventId, event.attribution);
  const days = maxAgeDaysOf(conversion, platform, settings);
  return days === undefined || event.time + days * dayMs > now ? null : say("too_old_for", { platform: platform.name });
}

/** Reads the present consent of each person of a page once. */
function createConsents(store: Pick<Store, "people">, { id, settings }: Site) {
  type Consent = Pick<Attribution, "consent" | "withheld">;
  const known = new Map<Sha256 | undefined, Consent>();
  const mode: ConsentMode = settings.consentMode;
  return async ({ person: { emailSha256 }, attribution }: StoredEvent): Promise<Attribution> => {
    // Ids that were withheld when the event was received stay withheld.
    if (attribution.withheld) return attribution;
    let consent = known.get(emailSha256);
    if (!consent) known.set(emailSha256, (consent = await readConsent(store.people, id, emailSha256, mode)));
    return { ...attribution, ...consent };
  };
}
