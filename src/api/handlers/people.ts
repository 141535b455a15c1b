// Serves requests about a person: find, export, record consent, erase. Each leaves an audit line that does not name them.

import type { peopleRoutes } from "../../contract/people.ts";
import type { Visit } from "../../kernel/event.ts";
import {
  newPersonRequest,
  setConsent,
  erasePerson,
  exportPerson,
  findPerson,
  type PersonRequest,
} from "../../identity/people.ts";
import type { Site } from "../../sites/directory.ts";
import type { By } from "../../kernel/refusal.ts";
import type { Handlers } from "../call.ts";
import { withDeliveries } from "./events.ts";
import type { ApiContext } from "../context.ts";
import { readPersonHash } from "./search.ts";

const maxEvents = 100;

const toRequest = (site: Site, { email }: { email: string }, { actor, now }: By): PersonRequest =>
  newPersonRequest(site, readPersonHash(email), { actor, now });

export function peopleHandlers(context: ApiContext): Handlers<keyof typeof peopleRoutes> {
  const { store } = context;
  return {
    async "POST /sites/:site/people/find"({ site, body, by }) {
      const person = toRequest(site, body, by);
      const { identity, consent, decisions } = await findPerson(store, person);
      const filter = { emailSha256: person.emailSha256 };
      const { events } = await store.events.listPage(site.id, filter, { before: null, limit: maxEvents });
      return {
        emailSha256: person.emailSha256,
        consent,
        firstUtm: identity?.firstUtm ?? {},
        decisions: decisions.map(({ givenBy, state, decidedAt }) => ({ givenBy, state, decidedAt })),
        visits: (identity?.visits ?? []).map(toVisit),
        events: await withDeliveries(context, site.id, events),
      };
    },
    "POST /sites/:site/people/export": ({ site, body, by }) => exportPerson(store, toRequest(site, body, by)),
    async "POST /sites/:site/people/consent"({ site, body, by }) {
      await setConsent(store, toRequest(site, body, by), body.decision);
      return {};
    },
    async "POST /sites/:site/people/erase"({ site, body, by }) {
      const person = toRequest(site, body, by);
      return { emailSha256: person.emailSha256, ...(await erasePerson(store, person)) };
    },
  };
}

function toVisit({ seenAt, browser, clickIds, browserIds, utm, verdict }: Visit) {
  return {
    seenAt,
    page: browser?.page || null,
    clickIds: Object.fromEntries(Object.entries(clickIds).map(([name, id]) => [name, id.value])),
    browserIds,
    utm,
    isBot: verdict?.bot ?? false,
    reason: verdict?.reasons[0] ?? null,
  };
}
