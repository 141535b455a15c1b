// Counts how often networks, visitors, emails and click ids repeat: per node, over sliding windows, in bounded memory.

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
};

export type Hit = {
  siteId: string;
  /** Counted together with the user agent: many people may share an address. */
  network: string;
  userAgent: string;
  /** null for a browser without a cookie, which counts for its network only. */
  visitor: string | null;
  isVisit: boolean;
  emailSha256: string | null;
  clickIds: readonly string[];
  at: number;
};

const maxKeys = 20_000;
/** Far above every limit of the signals. */
const maxDistinct = 100;

export function watchFrequency(): (hit: Hit) => Frequency {
  const visits = countWithin(minuteMs);
  const emails = distinctWithin(hourMs);
  const clicks = distinctWithin(dayMs);
  return ({ siteId: site, network, userAgent, visitor, isVisit, emailSha256: email, clickIds, at }) => {
    const source = `${site} ${network} ${userAgent}`;
    const person = visitor === null ? null : `${site} ${visitor}`;
    return {
      ofNetwork: visits(source, isVisit, at),
      ofVisitor: person === null ? 0 : visits(person, isVisit, at),
      emailsOfNetwork: emails(source, email, at),
      emailsOfVisitor: person === null ? 0 : emails(person, email, at),
      visitorsOfClick: Math.max(0, ...clickIds.map((id) => clicks(`${site} ${id}`, source, at))),
    };
  };
}

/** Keeps the current and the previous window. A full window ends early, so that memory stays bounded. */
function createWindows<Entry>(windowMs: number) {
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
