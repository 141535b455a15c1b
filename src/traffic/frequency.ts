// How often the same things come by: counted by this node, over sliding windows, in bounded memory.

export type Frequency = {
  /** Visits within a minute from one network with one user agent. */
  ofNetwork: number;
  /** Visits within a minute of one visitor. */
  ofVisitor: number;
  /** Different emails within an hour: from one network with one user agent, and by one visitor. */
  emailsOfNetwork: number;
  emailsOfVisitor: number;
  /** Networks with their user agents that brought one and the same click id within a day: a person is one, cookie or not. */
  visitorsOfClick: number;
};

export type Hit = {
  siteId: string;
  /** The network and the user agent: an address alone may be a whole town's. */
  network: string;
  userAgent: string;
  /** null for a browser that keeps no cookie: what it does is its network's alone. */
  visitor: string | null;
  isVisit: boolean;
  emailSha256: string | null;
  clickIds: readonly string[];
  at: number;
};

const minute = 60_000;
const hour = 60 * minute;
const maxKeys = 20_000;
/** More different ones than this make no difference any more. */
const maxDistinct = 100;

export function watchFrequency(): (hit: Hit) => Frequency {
  const visits = countWithin(minute);
  const emails = distinctWithin(hour);
  const clicks = distinctWithin(24 * hour);
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

/** This window and the one before it. A window that is full ends early, so that memory stays bounded. */
function generations<Entry>(windowMs: number) {
  let since = 0;
  let current = new Map<string, Entry>();
  let previous = new Map<string, Entry>();
  return (at: number) => {
    if (at - since >= windowMs || current.size >= maxKeys) {
      previous = at - since >= 2 * windowMs ? new Map() : current;
      current = new Map();
      since = at;
    }
    return { current, previous, isOver: Math.min(1, (at - since) / windowMs) };
  };
}

/** The count of a key within the window, the part of the last one that still lies in it taken as even. */
function countWithin(windowMs: number): (key: string, adds: boolean, at: number) => number {
  const turn = generations<number>(windowMs);
  return (key, adds, at) => {
    const { current, previous, isOver } = turn(at);
    const count = (current.get(key) ?? 0) + (adds ? 1 : 0);
    if (adds) current.set(key, count);
    return Math.round(count + (previous.get(key) ?? 0) * (1 - isOver));
  };
}

/** How many different members a key has had within the window, or a little longer. */
function distinctWithin(windowMs: number): (key: string, member: string | null, at: number) => number {
  // Most keys have one member, and a set is a hundred times as large.
  const turn = generations<string | Set<string>>(windowMs);
  return (key, member, at) => {
    const { current, previous } = turn(at);
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

const nobody: ReadonlySet<string> = new Set();

function membersOf(entry: string | Set<string> | undefined): ReadonlySet<string> {
  if (entry === undefined) return nobody;
  return typeof entry === "string" ? new Set([entry]) : entry;
}
