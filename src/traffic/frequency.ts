// The relay's memory of traffic: how often networks, visitors, emails and click ids repeat, who fetched the tag, and which
// visitors of an advertisement went on. Per node, over sliding windows, in bounded memory: what does not fit is forgotten, and
// forgotten evidence makes nobody a bot. A *source* is a network with a user agent: one person, or many behind one address.

import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";

export type Frequency = {
  /** Visits within a minute from one network with one user agent. */
  ofNetwork: number;
  /** Visits within a minute of one visitor. */
  ofVisitor: number;
  /** Different emails within an hour: from one network with one user agent, and by one visitor. */
  emailsOfNetwork: number;
  emailsOfVisitor: number;
  /** Networks with user agents that brought the same click id within a day: one person is one, with or without a cookie. */
  visitorsOfClick: number;
  /** Different click ids that one source brought within a day, and its share of those of its network. */
  clickIdsOfSource: number;
  shareOfSource: number;
  /** Visits of this source that an advertisement brought, those of them that went on, and how many usually do; null if unknown. */
  goneOn: { visits: number; goneOn: number; expected: number } | null;
  /** The source fetched the tag; null where that says nothing, because not nearly all visitors of the site are seen to. */
  hasFetchedTag: boolean | null;
  /** The page got a visitor cookie before, and reports without it. */
  isCookieLost: boolean;
  /** The same report came before, too long ago for a repeated request. */
  isCopy: boolean;
  /** Most submits of this form are made by a script of the page. */
  isScriptedForm: boolean;
};

export type Source = {
  siteId: string;
  /** Counted together with the user agent: many people may share an address. */
  network: string;
  userAgent: string;
};

export type Hit = Source & {
  /** null for a browser without a cookie, which counts for its network only. */
  visitor: string | null;
  /** The id that the page proposes for itself. */
  pageId: string | null;
  isVisit: boolean;
  /** The visitor did something on the page: a report of the tag's second part, or a submit. */
  isInput: boolean;
  emailSha256: string | null;
  clickIds: readonly string[];
  /** A hash of a submit; null for other reports, which may repeat. */
  submitDigest: string | null;
  /** The page of a submit, and whether a script made it. */
  form: { page: string; isScripted: boolean } | null;
  at: number;
};

const maxKeys = 20_000;
/** Far above every limit of the signals. */
const maxDistinct = 100;
/** Visits of the last two minutes may still go on. */
const settledMinutes = 2;
/** So many sites' visitors must be known before the share of those who go on, or fetch the tag, says something. */
const minVisitors = 30;
const nearlyAll = 0.95;
/** A repeated request follows at once. */
const repeatMs = minuteMs;
const minSubmits = 10;

export type TrafficMemory = ReturnType<typeof createTrafficMemory>;

type Clicks = {
  visits: number;
  /** Visits of this minute and of the one before, which may still go on. */
  minute: number;
  current: number;
  previous: number;
  goneOn: Set<string>;
};

export function createTrafficMemory() {
  const visits = countWithin(minuteMs);
  const emails = distinctWithin(hourMs);
  const clickSources = distinctWithin(dayMs);
  const clickIds = distinctWithin(dayMs);
  const clickVisits = countWithin(dayMs);
  const fetches = createWindows<true>(dayMs);
  const cookies = createWindows<number>(hourMs);
  const submits = createWindows<{ source: string; at: number }>(dayMs);
  const clicks = createWindows<Clicks>(dayMs);
  /** By site: sources with a click, those of them that went on, reports with a cookie, and those of a source that fetched the tag. */
  const sites = createWindows<{ clicked: number; goneOn: number; known: number; fetched: number }>(dayMs);
  const forms = createWindows<{ submits: number; scripted: number }>(dayMs);

  const sourceOf = ({ siteId, network, userAgent }: Source) => `${siteId} ${network} ${userAgent}`;
  const has = (windows: Windows<unknown>, key: string) => windows.current.has(key) || windows.previous.has(key);

  function countClicks(hit: Hit, source: string): void {
    const { visitor, isVisit, isInput, at } = hit;
    const { current } = clicks(at);
    const minute = Math.floor(at / minuteMs);
    let entry = current.get(source);
    // Only visits of new browsers: a person who comes back has gone on.
    const isNew = isVisit && visitor === null && hit.clickIds.length > 0;
    if (!entry && !isNew) return;
    const site = siteAt(hit.siteId, at);
    if (!entry) {
      current.set(source, (entry = { visits: 0, minute, current: 0, previous: 0, goneOn: new Set() }));
      site.clicked += 1;
    }
    if (entry.minute !== minute) {
      entry.previous = entry.minute === minute - 1 ? entry.current : 0;
      entry.current = 0;
      entry.minute = minute;
    }
    if (isNew) {
      entry.visits += 1;
      entry.current += 1;
    }
    if ((visitor !== null || isInput) && entry.goneOn.size < maxDistinct) {
      if (entry.goneOn.size === 0) site.goneOn += 1;
      entry.goneOn.add(visitor ?? hit.pageId ?? `${entry.goneOn.size}`);
    }
  }

  function siteAt(siteId: string, at: number) {
    const { current, previous } = sites(at);
    let site = current.get(siteId);
    // The day before is worth half, so that a new day does not begin without knowledge.
    if (!site) {
      const { clicked = 0, goneOn = 0, known = 0, fetched = 0 } = previous.get(siteId) ?? {};
      current.set(siteId, (site = { clicked: clicked / 2, goneOn: goneOn / 2, known: known / 2, fetched: fetched / 2 }));
    }
    return site;
  }

  function readGoneOn(siteId: string, source: string, at: number): Frequency["goneOn"] {
    const { current, previous } = clicks(at);
    const entry = current.get(source) ?? previous.get(source);
    const { clicked, goneOn } = siteAt(siteId, at);
    if (!entry || clicked < minVisitors || entry.goneOn.size >= maxDistinct) return null;
    const age = Math.floor(at / minuteMs) - entry.minute;
    const unsettled = age >= settledMinutes ? 0 : age === 1 ? entry.current : entry.current + entry.previous;
    const settled = entry.visits - unsettled;
    return { visits: settled, goneOn: entry.goneOn.size, expected: (settled * goneOn) / clicked };
  }

  function hasFetched(hit: Hit, source: string): boolean | null {
    const site = siteAt(hit.siteId, hit.at);
    const fetched = has(fetches(hit.at), source);
    // Programs seldom keep cookies, so those who do tell what is usual on this site.
    if (hit.visitor !== null) {
      site.known += 1;
      if (fetched) site.fetched += 1;
    }
    return site.known >= minVisitors && site.fetched >= site.known * nearlyAll ? fetched : null;
  }

  function isCopy({ submitDigest, siteId, at }: Hit, source: string): boolean {
    if (submitDigest === null) return false;
    const { current, previous } = submits(at);
    const key = `${siteId} ${submitDigest}`;
    const before = current.get(key) ?? previous.get(key);
    if (!before) current.set(key, { source, at });
    return before !== undefined && (before.source !== source || at - before.at > repeatMs);
  }

  function isScriptedForm({ form, siteId, at }: Hit): boolean {
    if (!form) return false;
    const { current, previous } = forms(at);
    const key = `${siteId} ${form.page}`;
    const { submits: count, scripted } = current.get(key) ?? previous.get(key) ?? { submits: 0, scripted: 0 };
    current.set(key, { submits: count + 1, scripted: scripted + Number(form.isScripted) });
    return count >= minSubmits && scripted > count / 2;
  }

  function shareOf(source: string, network: string, adds: boolean, at: number): number {
    const [ofSource, ofNetwork] = [clickVisits(source, adds, at), clickVisits(network, adds, at)];
    return ofNetwork === 0 ? 0 : ofSource / ofNetwork;
  }

  return {
    /** The tag was fetched. */
    noteFetch(source: Source, at: number): void {
      fetches(at).current.set(sourceOf(source), true);
    },
    /** A visitor cookie was sent to a page. */
    noteCookie(siteId: string, pageId: string, at: number): void {
      cookies(at).current.set(`${siteId} ${pageId}`, at);
    },
    observe(hit: Hit): Frequency {
      const { siteId: site, network, visitor, pageId, isVisit, emailSha256: email, at } = hit;
      const source = sourceOf(hit);
      const person = visitor === null ? null : `${site} ${visitor}`;
      countClicks(hit, source);
      let ofSource = clickIds(source, null, at);
      for (const id of hit.clickIds) ofSource = clickIds(source, id, at);
      const { current, previous } = cookies(at);
      const cookieAt =
        pageId === null || visitor !== null ? undefined : (current.get(`${site} ${pageId}`) ?? previous.get(`${site} ${pageId}`));
      return {
        ofNetwork: visits(source, isVisit, at),
        ofVisitor: person === null ? 0 : visits(person, isVisit, at),
        emailsOfNetwork: emails(source, email, at),
        emailsOfVisitor: person === null ? 0 : emails(person, email, at),
        visitorsOfClick: Math.max(0, ...hit.clickIds.map((id) => clickSources(`${site} ${id}`, source, at))),
        clickIdsOfSource: ofSource,
        shareOfSource: shareOf(source, `${site} ${network}`, isVisit && hit.clickIds.length > 0, at),
        goneOn: readGoneOn(site, source, at),
        hasFetchedTag: hasFetched(hit, source),
        isCookieLost: cookieAt !== undefined && at - cookieAt > cookieMs,
        isCopy: isCopy(hit, source),
        isScriptedForm: isScriptedForm(hit),
      };
    },
    /** What is known now about the source of an earlier visit, for a second judgement. */
    recall(source: Source, at: number): Frequency {
      const key = sourceOf(source);
      return {
        ...quiet,
        clickIdsOfSource: clickIds(key, null, at),
        shareOfSource: shareOf(key, `${source.siteId} ${source.network}`, false, at),
        goneOn: readGoneOn(source.siteId, key, at),
      };
    },
  };
}

/** The answer that sets a cookie must have reached the page before its next report. */
const cookieMs = 1000;

/** Nothing that repeats. */
export const quiet: Frequency = {
  ofNetwork: 0,
  ofVisitor: 0,
  emailsOfNetwork: 0,
  emailsOfVisitor: 0,
  visitorsOfClick: 0,
  clickIdsOfSource: 0,
  shareOfSource: 0,
  goneOn: null,
  hasFetchedTag: null,
  isCookieLost: false,
  isCopy: false,
  isScriptedForm: false,
};

type Windows<Entry> = { current: Map<string, Entry>; previous: Map<string, Entry>; elapsed: number };

/** Keeps the current and the previous window. A full window ends early, so that memory stays bounded. */
function createWindows<Entry>(windowMs: number): (at: number) => Windows<Entry> {
  let since = 0;
  let current = new Map<string, Entry>();
  let previous = new Map<string, Entry>();
  return (at: number) => {
    if (at - since >= windowMs || current.size >= maxKeys) {
      previous = at - since >= 2 * windowMs ? new Map() : current;
      current = new Map();
      since = at;
    }
    return { current, previous, elapsed: Math.min(1, (at - since) / windowMs) };
  };
}

/** Counts a key within a sliding window; the previous window counts by the share that still overlaps. */
function countWithin(windowMs: number): (key: string, adds: boolean, at: number) => number {
  const windows = createWindows<number>(windowMs);
  return (key, adds, at) => {
    const { current, previous, elapsed } = windows(at);
    const count = (current.get(key) ?? 0) + (adds ? 1 : 0);
    if (adds) current.set(key, count);
    return Math.round(count + (previous.get(key) ?? 0) * (1 - elapsed));
  };
}

/** Counts the different members of a key within one to two windows. */
function distinctWithin(windowMs: number): (key: string, member: string | null, at: number) => number {
  // Most keys have one member, and a set takes a hundred times the memory.
  const windows = createWindows<string | Set<string>>(windowMs);
  return (key, member, at) => {
    const { current, previous } = windows(at);
    if (member !== null) add(current, key, member);
    const members = membersOf(current.get(key));
    const earlier = membersOf(previous.get(key));
    return earlier.size === 0 ? members.size : earlier.union(members).size;
  };
}

function add(members: Map<string, string | Set<string>>, key: string, member: string): void {
  const known = members.get(key);
  if (known === undefined) members.set(key, member);
  else if (typeof known !== "string") {
    if (known.size < maxDistinct) known.add(member);
  } else if (known !== member) members.set(key, new Set([known, member]));
}

const noMembers: ReadonlySet<string> = new Set();

function membersOf(entry: string | Set<string> | undefined): ReadonlySet<string> {
  if (entry === undefined) return noMembers;
  return typeof entry === "string" ? new Set([entry]) : entry;
}
