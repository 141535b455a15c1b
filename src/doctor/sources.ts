// Checks the sources of a site: those that cannot take requests, and those whose sender is refused or silent.

import { failuresInARow } from "../alerts/sources.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs } from "../kernel/time.ts";
import { hasSettings, type Site } from "../sites/directory.ts";
import { missingSecrets } from "../sites/sources.ts";
import { kindOf } from "../sources/kinds/index.ts";
import { error, nameOf, note, timeText, warning, type AsyncFindings, type StoreContext } from "./finding.ts";

const maxRequests = 50;

export async function* checkSources(site: Site, { store, now }: StoreContext): AsyncFindings {
  if (!hasSettings(site)) return;
  const uses = await store.keyUse.sumUses(site.id, 0);
  for (const source of site.sources) {
    const { id, state, createdAt } = source;
    const name = `${nameOf(site)}: the source "${source.name}" (${id})`;
    const show = `cleancast source show ${id}`;
    if (source.unreadable || !kindOf(source.kind)) {
      yield error(
        `${name} cannot be read: its sender has to repeat every request`,
        `cleancast source rotate ${id}, then give its secrets again with cleancast source set ${id}`,
      );
      continue;
    }
    const [missing] = missingSecrets(source);
    if (missing !== undefined) {
      yield warning(
        `${name} has no ${missing} yet: its sender has to repeat every request`,
        `cleancast source set ${id} ${missing}=@file`,
      );
      continue;
    }
    if (state === "paused")
      yield note(`${name} is paused: its sender has to repeat every request`, `cleancast source resume ${id}`);
    const recent = (await store.sourceRequests.list(site.id, id, { limit: maxRequests })).filter(({ at }) => at > now - dayMs);
    const failed = failuresInARow(recent);
    const wrong = recent.filter(({ outcome }) => outcome === "refused");
    const since = failed.at(-1)?.at ?? now;
    if (failed.length > 2 && state === "active")
      yield error(`${name}: the last ${countOf(failed.length, "request")} got an error, since ${timeText(since)} UTC`, show);
    else if (wrong.length > 2)
      yield warning(
        `${name}: ${wrong.length} of the last ${countOf(recent.length, "request")} had a wrong signature`,
        `Compare its secret with the sender's. ${show}`,
      );
    if ((uses.get(id)?.lastUsedAt ?? null) === null && now - createdAt > dayMs && failed.length === 0)
      yield warning(`${name} has never received a request`, `Enter its address at the sender: ${show}`);
  }
}
