// Each site: can it receive, is anything received, and does what arrives make sense.

import { isUsable, type Site } from "../sites/directory.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { namesNoSite, stateOf } from "../sites/hosts.ts";
import { noCountryFile } from "../sites/settingNotes.ts";
import {
  dayMs,
  error,
  listed,
  nameOf,
  note,
  timeText,
  warning,
  type Finding,
  type Patient,
} from "./finding.ts";

export async function checkSites(patient: Patient): Promise<Finding[]> {
  const sites = Array.from(patient.directory.sites());
  if (sites.length === 0) return [error("there is no site", "cleancast site add shop.example.com")];
  const findings: Finding[] = [];
  for (const site of sites) {
    findings.push(
      ...intake(site, patient.now),
      ...hosts(site, patient),
      ...countries(site, patient),
      ...(await keys(site, patient)),
      ...(await events(site, patient)),
      ...(await tag(site, patient)),
      ...(await refusedCalls(site, patient)),
    );
  }
  return [...findings, ...days(sites), ...(await lockouts(sites, patient))];
}

function intake(site: Site, now: number): Finding[] {
  const name = nameOf(site);
  const usable = site.keys.filter((key) => isUsable(key, now));
  const findings: Finding[] = [];
  if (usable.length === 0) findings.push(error(`${name}: no usable key`, `cleancast key add ${name} NAME`));
  if (!site.settings.inbound)
    findings.push(
      error(
        usable.length
          ? `${name}: inbound is off although there are keys: every event gets 403`
          : `${name}: inbound is off`,
        `cleancast site set ${name} inbound=on`,
      ),
    );
  if (site.connections.length === 0)
    findings.push(error(`${name}: nothing is connected`, `cleancast connect ${name} PLATFORM name=value …`));
  return findings;
}

/** What the relay's own checks have found. */
function hosts(site: Site, { config }: Patient): Finding[] {
  const relay = config.hasUrl ? new URL(config.publicUrl).hostname : null;
  return site.hostRows.flatMap((host) => {
    const state = stateOf(host);
    const problem = problemOf(host.host, host, relay);
    if (state === "paused")
      return [
        note(`${host.host} is paused: nothing is answered there`, `cleancast host resume ${host.host}`),
      ];
    if (state === "waiting")
      return [
        warning(
          `${host.host} is not served until it is verified${problem ? `. ${problem.what}` : ""}`,
          problem?.whatToDo ?? `cleancast host verify ${host.host}`,
        ),
      ];
    return state === "failing" && problem ? [warning(problem.what, problem.whatToDo)] : [];
  });
}

function countries(site: Site, { config }: Patient): Finding[] {
  const { allowCountries, denyCountries } = site.settings;
  if (allowCountries.length + denyCountries.length === 0 || config.countryFile) return [];
  return [error(`${nameOf(site)}: rules about countries do nothing`, noCountryFile)];
}

const unusedMs = 7 * dayMs;
const soonMs = 14 * dayMs;

async function keys(site: Site, { store, now }: Patient): Promise<Finding[]> {
  const uses = await store.keyUse.sumUses(site.id, 0);
  return site.keys
    .filter((key) => isUsable(key, now))
    .flatMap((key) => {
      const name = `${nameOf(site)}: the key "${key.name}" (${key.id})`;
      if (key.expiresAt !== null && key.expiresAt - now < soonMs)
        return [
          warning(
            `${name} ends on ${timeText(key.expiresAt)} UTC`,
            `cleancast key rotate ${key.id} makes a new one; both work for a day.`,
          ),
        ];
      if (!uses.has(key.id) && now - key.createdAt > unusedMs)
        return [
          note(
            `${name} has never been used`,
            `Give it to its sender, or cleancast key revoke ${key.id}: a key that nobody uses can only be stolen.`,
          ),
        ];
      return [];
    });
}

/** From so many on it is a placeholder, and no household. */
const manyPeople = 5;

async function events(site: Site, { store }: Patient): Promise<Finding[]> {
  const name = nameOf(site);
  const findings: Finding[] = [];
  const modes = await store.doctorQueries.countModes(site.id);
  if (modes.test && !modes.live)
    findings.push(
      warning(
        `${name}: all events are tests; platforms count none of them`,
        `Let the sender use a live key: cleancast key add ${name} NAME`,
      ),
    );
  const shared = await store.doctorQueries.findSharedOrder(site.id);
  if (shared && shared.people >= manyPeople)
    findings.push(
      warning(
        `${name}: ${shared.people} people have the order id "${shared.orderId}": it looks like a placeholder`,
        "Let the sender fill orderId with the order's own id, or leave it out.",
      ),
    );
  if (
    site.settings.consentMode === "opt-in" &&
    modes.live &&
    !(await store.doctorQueries.hasConsent(site.id))
  )
    findings.push(
      warning(
        `${name}: consent_mode is opt-in and nobody has ever agreed, so every conversion goes out without identifiers`,
        "Connect the consent banner (docs/consent.md), record decisions with 'consent set', or use opt-out where it is lawful.",
      ),
    );
  return findings;
}

async function tag(site: Site, { store }: Patient): Promise<Finding[]> {
  // The site that the first start makes has no pages.
  if (site.hosts.every(namesNoSite)) return [];
  if ((await store.health.lastVisitHour(site.id)) !== null) return [];
  const name = nameOf(site);
  return [
    warning(
      `${name}: the tag has never been seen, so conversions go out without click ids`,
      `Install it: cleancast tag ${name}`,
    ),
  ];
}

const looked = 50;

/** What senders were told in the last day. */
async function refusedCalls(site: Site, { store, now }: Patient): Promise<Finding[]> {
  const name = nameOf(site);
  const calls = (await store.rejectedRequests.list(site.id, { limit: looked })).filter(
    ({ at }) => at > now - dayMs,
  );
  const findings: Finding[] = [];
  const insecure = calls.filter(({ status }) => status === 426).length;
  if (insecure)
    findings.push(
      error(
        `${name}: ${insecure} of the last ${calls.length} refused calls got 426 HTTPS required`,
        "Behind a proxy: it must set X-Forwarded-Proto, and its address must be in CLEANCAST_TRUST_PROXY. Else the sender uses http://.",
      ),
    );
  const withKey = calls.filter(({ status, keyId }) => status === 400 && keyId !== null);
  if (withKey.length >= looked / 5)
    findings.push(
      warning(
        `${name}: ${withKey.length} calls with a right key were refused for their content: "${withKey[0]?.error}"`,
        "The dashboard lists them under Events, Refused calls; docs/inbound.md has every field.",
      ),
    );
  return findings;
}

/** Days of charts. */
function days(sites: readonly Site[]): Finding[] {
  const unset = sites.filter((site) => site.settings.timeZone === "UTC" && !site.hosts.every(namesNoSite));
  if (unset.length === 0) return [];
  return [
    note(
      `${listed(unset.map(nameOf))}: the days of charts are days in UTC`,
      "cleancast site set SITE time_zone=Europe/Berlin, if that is not what its people expect.",
    ),
  ];
}

async function lockouts(sites: readonly Site[], { store, now }: Patient): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const siteId of ["", ...sites.map((site) => site.id)]) {
    for (const lockout of await store.keyUse.listLockouts(siteId, now)) {
      findings.push(
        error(
          `${lockout.host}: too many wrong keys; wrong ones get 429 until ${new Date(lockout.lockedUntil).toISOString()}`,
          "A sender may hold an old key: 'cleancast key list' shows which keys are in use. Valid keys pass meanwhile.",
        ),
      );
    }
  }
  return findings;
}
