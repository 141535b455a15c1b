// Checks each site: whether it can receive events, whether it does, and whether the events make sense.

import { hasSettings, isUsable, type Site } from "../sites/directory.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { namesNoSite, stateOf } from "../sites/hosts.ts";
import { noCountryFile } from "../sites/settingNeeds.ts";
import { allSettings } from "../store/sites/siteSettings.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs } from "../kernel/time.ts";
import {
  error,
  listNames,
  nameOf,
  note,
  warning,
  whereReached,
  type AsyncFindings,
  type Findings,
  type StoreContext,
} from "./finding.ts";
import { checkKeys } from "./keys.ts";
import { checkSources } from "./sources.ts";

export async function* checkSites(context: StoreContext): AsyncFindings {
  const sites = Array.from(context.directory.sites());
  if (sites.length === 0) {
    yield error("there is no site", "cleancast site add shop.example.com");
    return;
  }
  for (const site of sites) {
    if (site.leaving) {
      yield checkMove(site, site.leaving);
      continue;
    }
    yield* checkDamage(site);
    yield* checkInbound(site, context.now);
    yield* checkHosts(site, context);
    yield* checkCountries(site, context);
    const isReached = yield* whereReached(context, () => checkRows(site, context));
    if (!isReached)
      yield error(
        `${nameOf(site)}: events get 503, because its machine of the database does not answer`,
        "The machine is named above. When it answers, the site is served again.",
      );
  }
  yield* checkTimeZones(sites);
  yield* checkLockouts(sites, context);
}

/** The checks that read rows of the site. */
async function* checkRows(site: Site, context: StoreContext): AsyncFindings {
  yield* checkKeys(site, context);
  yield* checkSources(site, context);
  yield* checkEvents(site, context);
  yield* checkTag(site, context);
  yield* checkRejected(site, context);
}

const checkMove = (site: Site, { state, peer }: NonNullable<Site["leaving"]>) =>
  state === "moved"
    ? note(
        `${nameOf(site)}: was moved to ${peer}. Events that still come here get 503`,
        `When its hosts lead there: cleancast site remove ${nameOf(site)}`,
      )
    : error(
        `${nameOf(site)}: is read-only, because it is being moved to ${peer}. Events get 503`,
        `If no move is running, run the command that began it again, with --abort to end the move.`,
      );

function* checkDamage(site: Site): Findings {
  const name = nameOf(site);
  for (const subject of site.unreadable ?? [])
    yield subject === allSettings
      ? error(
          `${name}: its settings cannot be read: their row in the database is damaged. Events get 503`,
          `Set all of them that are not defaults: cleancast site set ${name} inbound=on consent_mode=…`,
        )
      : error(
          `${name}: the address of the alert webhook cannot be read: its value in the database is damaged`,
          `cleancast site set ${name} alert_webhook=https://…`,
        );
}

function* checkInbound(site: Site, now: number): Findings {
  const name = nameOf(site);
  const usable = site.keys.filter((key) => isUsable(key, now));
  // Sources need neither a key nor the inbound endpoint.
  const isNeeded = usable.length > 0 || site.sources.length === 0;
  if (usable.length === 0 && isNeeded) yield error(`${name}: no usable key`, `cleancast key add ${name} NAME`);
  if (!site.settings.inbound && isNeeded && hasSettings(site))
    yield error(
      usable.length ? `${name}: inbound is off although there are keys: every event gets 403` : `${name}: inbound is off`,
      `cleancast site set ${name} inbound=on`,
    );
  if (site.connections.length === 0)
    yield error(
      `${name}: nothing is connected`,
      "'cleancast platform list' shows the platforms, 'cleancast platform show meta' how to connect one.",
    );
}

/** Reports what the relay's own checks of hosts have found. */
function* checkHosts(site: Site, { config }: StoreContext): Findings {
  const relay = config.hasUrl ? new URL(config.publicUrl).hostname : null;
  for (const host of site.hostRows) {
    const state = stateOf(host);
    const problem = problemOf(host.host, host, relay);
    if (state === "paused") yield note(`${host.host} is paused and not served`, `cleancast host resume ${host.host}`);
    if (state === "waiting")
      yield warning(
        `${host.host} is not served until it is verified${problem ? `. ${problem.what}` : ""}`,
        problem?.whatToDo ?? `cleancast host verify ${host.host}`,
      );
    if (state === "failing" && problem) yield warning(problem.what, problem.whatToDo);
  }
}

function* checkCountries(site: Site, { config }: StoreContext): Findings {
  const { allowCountries, denyCountries } = site.settings;
  if (allowCountries.length + denyCountries.length === 0 || config.countryFile) return;
  yield error(`${nameOf(site)}: country rules have no effect`, noCountryFile);
}

/** An order id of this many people is a placeholder, not a household. */
const minPeople = 5;

async function* checkEvents(site: Site, { store }: StoreContext): AsyncFindings {
  const name = nameOf(site);
  const modes = await store.doctorQueries.countModes(site.id);
  if (modes.test && !modes.live)
    yield warning(
      `${name}: all events are test events, which platforms do not count`,
      `Use a live key in the sender: cleancast key add ${name} NAME`,
    );
  const shared = await store.doctorQueries.findSharedOrder(site.id);
  if (shared && shared.people >= minPeople)
    yield warning(
      `${name}: ${shared.people} people have the order id "${shared.orderId}", which looks like a placeholder`,
      "Send the id of each order as orderId, or leave orderId out.",
    );
  if (site.settings.consentMode === "opt-in" && modes.live && !(await store.doctorQueries.hasConsent(site.id)))
    yield warning(
      `${name}: consent_mode is opt-in and no consent was ever recorded, so every conversion is sent without identifiers`,
      "Connect the consent banner (docs/explanation/consent.md), record consent with 'consent set', or use opt-out where it is lawful.",
    );
}

async function* checkTag(site: Site, { store }: StoreContext): AsyncFindings {
  // The site that the first start creates has no pages.
  if (site.hosts.every(namesNoSite)) return;
  if ((await store.health.lastVisitHour(site.id)) !== null) return;
  const name = nameOf(site);
  yield warning(
    `${name}: no visit was ever reported by the tag, so conversions are sent without click ids`,
    `Install it: cleancast tag ${name}`,
  );
}

const maxRequests = 50;

/** Checks the rejected requests of the last day. */
async function* checkRejected(site: Site, { store, now }: StoreContext): AsyncFindings {
  const name = nameOf(site);
  const requests = (await store.rejectedRequests.list(site.id, { limit: maxRequests })).filter(({ at }) => at > now - dayMs);
  const insecure = requests.filter(({ status }) => status === 426).length;
  if (insecure)
    yield error(
      `${name}: ${insecure} of the last ${countOf(requests.length, "rejected request")} got 426 HTTPS required`,
      "Behind a proxy: it must set X-Forwarded-Proto, and its address must be in CLEANCAST_TRUST_PROXY. Otherwise the sender uses http://: give it an https address, or allow your private network with CLEANCAST_ALLOW_HTTP_FROM.",
    );
  const withKey = requests.filter(({ status, keyId }) => status === 400 && keyId !== null);
  if (withKey.length >= maxRequests / 5)
    yield warning(
      `${name}: ${withKey.length} requests with a valid key were rejected for their content: ${errorsText(withKey)}`,
      "The dashboard lists them under Configuration, Inbound keys, Rejected requests; docs/reference/inbound.md explains every field.",
    );
}

/** The most frequent errors first. */
function errorsText(requests: readonly { error: string }[]): string {
  const byError = [...Map.groupBy(requests, (one) => one.error)].toSorted(([, one], [, other]) => other.length - one.length);
  return listNames(byError.map(([text, some]) => `${some.length} × "${text}"`));
}

function* checkTimeZones(sites: readonly Site[]): Findings {
  const unset = sites.filter((site) => site.settings.timeZone === "UTC" && !site.hosts.every(namesNoSite));
  if (unset.length === 0) return;
  yield note(
    `${listNames(unset.map(nameOf))}: charts use UTC days`,
    "To use another time zone: cleancast site set SITE time_zone=Europe/Berlin",
  );
}

async function* checkLockouts(sites: readonly Site[], context: StoreContext): AsyncFindings {
  for (const siteId of ["", ...sites.map((site) => site.id)])
    yield* whereReached(context, async function* () {
      for (const lockout of await context.store.keyUse.listLockouts(siteId, context.now))
        yield error(
          `${lockout.host}: too many wrong keys; requests with a wrong key get 429 until ${new Date(lockout.lockedUntil).toISOString()}`,
          "A sender may use an old key: 'cleancast key list' shows which keys are in use. Valid keys still work.",
        );
    });
}
