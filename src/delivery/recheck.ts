// Looks again at jobs that waited in a lane. While a platform is slow they may wait for seconds, and what they were made from
// may have changed: the person was erased, consent was withdrawn, or another node took the event over.

import { readConsent } from "../identity/attribution.ts";
import type { Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { Job } from "./job.ts";

/** A batch whose jobs all waited for less is sent as it is, so that most jobs cost no query. */
export const recheckAfterMs = 1000;

/** Returns those of the jobs that must not be sent as they are. The jobs are of one connection. */
export type Recheck = (waiting: readonly Job[]) => Promise<ReadonlySet<Job>>;

type Context = {
  store: Pick<Store, "deliveries" | "people">;
  directory: Pick<Directory, "site">;
};

export function recheckWith({ store, directory }: Context): Recheck {
  async function isConsentWithdrawn({ siteId, conversion: { person } }: Job): Promise<boolean> {
    // Nothing of the person is in a conversion without consent.
    if (!person) return false;
    const mode = directory.site(siteId)?.settings.consentMode ?? "opt-in";
    return (await readConsent(store.people, siteId, person.emailSha256, mode)).withheld !== null;
  }

  return async (waiting) => {
    const outdated = new Set<Job>();
    const [first] = waiting;
    if (!first) return outdated;
    const ids = waiting.map(({ eventId }) => eventId);
    const owners = await store.deliveries.findOwners(first, ids);
    await Promise.all(
      waiting.map(async (job) => {
        const { by, owner } = owners.get(job.eventId) ?? {};
        const isOwned = by === job.ownership.by && owner === job.ownership.owner;
        if (!isOwned || (await isConsentWithdrawn(job))) outdated.add(job);
      }),
    );
    return outdated;
  };
}
