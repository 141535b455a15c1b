// The relay's memory of traffic: how often networks, visitors, emails and click ids repeat, who fetched the tag, and which
// visitors of an advertisement went on. Over sliding windows, in bounded memory: what does not fit is forgotten, and forgotten
// evidence makes nobody a bot. A *source* is a network with a user agent: one person, or many behind one address. Ad clicks and
// submits are shared by nodes, as hashes (collect/sharedTraffic.ts); the rest is known to each node by itself.

import { hash } from "node:crypto";
import { minVisitors, rememberEngagement, usual, type Engagement } from "./engagement.ts";
import { countWithin, createWindows, distinctWithin, find, ownerLength, sumsOf } from "./slidingWindows.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../kernel/time.ts";

export type Frequency = Engagement & {
  /** Visits within a minute from one network with one user agent. */
  ofNetwork: number;
  /** Visits within a minute of one visitor. */
  ofVisitor: number;
  /** Different emails within an hour: from one network with one user agent, and by one visitor. */
  emailsOfNetwork: number;
  emailsOfVisitor: number;
  /** Those that no hand submitted, of one visitor, or of the visitors of one source who have no cookie; 0 unless they are nearly all. */
  emailsWithoutHands: number;
  /** Networks with user agents that brought the same click id within a day: one person is one, with or without a cookie. */
  visitorsOfClick: number;
  /** Different click ids that one source brought within a day, and its share of those of its network. */
  clickIdsOfSource: number;
  shareOfSource: number;
  /** The source fetched the tag; null where that says nothing, because not nearly all visitors of the site are seen to. */
  hasFetchedTag: boolean | null;
  /** The page got a visitor cookie before, and reports without it. */
  isCookieLost: boolean;
  /** The same report came before, too long ago for a repeated request. */
  isCopy: boolean;
  /** For most visitors of this form a script of the page submits it. */
  isScriptedForm: boolean;
};

export type Source = {
  siteId: string;
  /** Of one customer. Counted together with the user agent: many people may share an address. */
  network: string;
  userAgent: string;
};

/** The hashes under which the memory knows a source. Its neighbours have addresses that differ in the last part only. */
export type SourceKeys = { siteId: string; source: string; network: string; neighbours: string };

type EarlierVisit = Pick<Hit, "visitor" | "clickIds">;

export type Hit = Source & {
  /** null for a browser without a cookie, which counts for its network only. */
  visitor: string | null;
  /** The id that the page proposes for itself. */
  pageId: string | null;
  isVisit: boolean;
  /** The visitor did something on the page: a report of the tag's second part. */
  isInput: boolean;
  emailSha256: string | null;
  clickIds: readonly string[];
  /** A hash of a submit; null for other reports, which may repeat. */
  submitDigest: string | null;
  /** The page of a submit, whether a script made it, and whether it came without a key, touch or click. */
  form: { page: string; isScripted: boolean; isUntouched: boolean } | null;
  /** The visitor refused: nothing about the report leaves this process. */
  hasRefused: boolean;
  at: number;
};

/** What a report says about ad clicks and submits, in hashes: for this memory, and for those of other nodes. */
export type ClickNews = [
  siteId: string,
  source: string,
  network: string,
  neighbours: string,
  /** 1: a visit; 2: a visit of a new browser; 4: the visitor goes on; 8: by an input on the first page. */
  flags: number,
  /** Who goes on: the beginning of a random id. */
  member: string,
  clickIds: string[],
  submit: string | null,
];

const nearlyAll = 0.95;
const maxKnownKeys = 2000;
/** Reports of one network that say what is usual on the site: a program could invent many. */
const maxOfNetwork = 5;
/** A repeated request follows at once; the network may have changed meanwhile, or have several addresses. */
const repeatMs = minuteMs;
const retryMs = 10 * secondMs;
const minSubmitters = 10;
const mostly = 0.9;

export type TrafficMemory = ReturnType<typeof createTrafficMemory>;

type ClickFacts = Pick<Frequency, "visitorsOfClick" | "clickIdsOfSource" | "shareOfSource" | "isCopy"> & {
  engagement: Engagement;
  /** Other nodes should know. */
  isNews: boolean;
};

type MemoryOptions = {
  /** Makes the hashes, which nodes share; addresses could be guessed without it. */
  secret?: string;
  /** Gets what other nodes should know. */
  onNews?: (news: ClickNews) => void;
};

export function createTrafficMemory({ secret = "", onNews }: MemoryOptions = {}) {
  const visits = countWithin(minuteMs);
  const emails = distinctWithin(hourMs);
  const emailsWithoutHands = distinctWithin(hourMs);
  const clickSources = distinctWithin(dayMs);
  const clickIds = distinctWithin(dayMs);
  const clickVisits = countWithin(dayMs);
  const fetches = createWindows<true>(dayMs);
  const cookies = createWindows<number>(hourMs);
  const submits = createWindows<{ source: string; at: number }>(dayMs);
  const engagement = rememberEngagement();
  /** Reports with a cookie, and those of a source that fetched the tag. */
  const sites = sumsOf(dayMs, { known: 0, fetched: 0 });
  const forms = createWindows<{ submitters: number; scripted: number }>(dayMs, ({ submitters: weight }) => ({ weight, held: 1 }));
  const submitters = createWindows<true>(dayMs);
  /** The first reports with a cookie of each network. */
  const firstReports = countWithin(dayMs);

  const digest = (text: string) => hash("sha256", `${secret}\n${text}`, "base64url").slice(0, 11);
  /** A visitor sends several reports, and hashes take the most time of each. */
  const knownKeys = new Map<string, SourceKeys>();

  function keysOf(source: Source): SourceKeys {
    const text = `${source.siteId} ${source.network} ${source.userAgent}`;
    let keys = knownKeys.get(text);
    if (!keys) {
      if (knownKeys.size >= maxKnownKeys) knownKeys.clear();
      knownKeys.set(text, (keys = makeKeys(source)));
    }
    return keys;
  }

  function makeKeys({ siteId, network: name, userAgent }: Source): SourceKeys {
    const network = digest(`${siteId} ${name}`);
    const block = neighbourhoodOf(name);
    return {
      siteId,
      // Begins with its network, which has its share of the memory and no more.
      source: network.slice(0, ownerLength) + digest(`${siteId} ${name} ${userAgent}`),
      network,
      neighbours: block === name ? network : digest(`${siteId} ${block}`),
    };
  }

  function newsOf(hit: Hit, { source, network, neighbours }: SourceKeys): ClickNews {
    const { visitor, pageId, isVisit, isInput, submitDigest } = hit;
    // Only visits of new browsers: a person who comes back has gone on.
    const isNew = isVisit && visitor === null && hit.clickIds.length > 0;
    const flags = (isVisit ? 1 : 0) | (isNew ? 2 : 0) | (visitor !== null || isInput ? 4 : 0) | (isInput ? 8 : 0);
    const member = memberOf(visitor ?? pageId);
    return [hit.siteId, source, network, neighbours, flags, member, hit.clickIds.map(digest), submitDigest?.slice(0, 16) ?? null];
  }

  /** Takes in a report of this node, or of another one. */
  function learn(news: ClickNews, at: number): ClickFacts {
    const [siteId, source, network, neighbours, flags, member, ids, submit] = news;
    let clickIdsOfSource = clickIds(source, ids[0] ?? null, at);
    for (const id of ids.slice(1)) clickIdsOfSource = clickIds(source, id, at);
    const { click, visitorsOfClick } = findClick(siteId, ids, source, at);
    const goesOn = (flags & 4) > 0;
    const isNew = (flags & 2) > 0;
    const report = { siteId, source, neighbours, isNew, goesOn, isStep: (flags & 8) === 0, member, click, visitorsOfClick };
    const isNews = engagement.count(report, at) || ids.length > 0 || submit !== null;
    return {
      visitorsOfClick,
      clickIdsOfSource,
      shareOfSource: clickIdsOfSource === 0 ? 0 : shareOf(source, network, (flags & 1) > 0 && ids.length > 0, at),
      // Whoever goes on is none of those who do not, whatever the neighbours do.
      engagement: goesOn ? usual : engagement.read(siteId, { source, neighbours, click }, at),
      isCopy: submit !== null && isCopy(`${submit} ${siteId}`, source, at),
      isNews,
    };
  }

  /** Finds the click id that most sources brought; `source` is counted with them. */
  function findClick(siteId: string, ids: readonly string[], source: string | null, at: number) {
    let [click, visitorsOfClick] = [null as string | null, 0];
    for (const id of ids) {
      const visitors = clickSources(`${id} ${siteId}`, source, at);
      if (visitors > visitorsOfClick) [click, visitorsOfClick] = [`${id} ${siteId}`, visitors];
    }
    return { click, visitorsOfClick };
  }

  function hasFetched({ siteId, visitor, at }: Hit, { source, network }: SourceKeys): boolean | null {
    const site = sites(siteId, at);
    const windows = fetches(at);
    const person = visitor === null ? null : `${visitor} ${siteId}`;
    // A browser keeps the file, and its next report may come from another network: from home, then from the road.
    const fetched = find(windows, source) ?? (person !== null && (find(windows, person) ?? false));
    // Programs seldom keep cookies, so those who do tell what is usual on this site.
    if (person !== null) {
      if (fetched) windows.set(person, true);
      if (firstReports(network, true, at) <= maxOfNetwork) {
        site.known += 1;
        if (fetched) site.fetched += 1;
      }
    }
    return site.known >= minVisitors && site.fetched >= site.known * nearlyAll ? fetched : null;
  }

  function isCopy(key: string, source: string, at: number): boolean {
    const windows = submits(at);
    const before = find(windows, key);
    if (!before) windows.set(key, { source, at });
    return before !== undefined && at - before.at > (before.source === source ? repeatMs : retryMs);
  }

  /** Each source counts once: a robot does not make the form that it submits a scripted one. */
  function isScriptedForm({ form, siteId, at }: Hit, source: string): boolean {
    if (!form) return false;
    const [windows, known] = [forms(at), submitters(at)];
    const key = digest(`${siteId} ${form.page}`);
    const { submitters: count, scripted } = find(windows, key) ?? { submitters: 0, scripted: 0 };
    if (!find(known, `${source} ${key}`)) {
      known.set(`${source} ${key}`, true);
      windows.set(key, { submitters: count + 1, scripted: scripted + Number(form.isScripted) });
    }
    return count >= minSubmitters && scripted > count / 2;
  }

  function shareOf(source: string, network: string, adds: boolean, at: number): number {
    const [ofSource, ofNetwork] = [clickVisits(source, adds, at), clickVisits(network, adds, at)];
    return ofNetwork === 0 ? 0 : ofSource / ofNetwork;
  }

  return {
    /** The tag was fetched. */
    noteFetch(source: Source, at: number): void {
      fetches(at).set(keysOf(source).source, true);
    },
    /** A visitor cookie was sent to a page. */
    noteCookie(siteId: string, pageId: string, at: number): void {
      cookies(at).set(`${pageId} ${siteId}`, at);
    },
    observe(hit: Hit): Frequency {
      const { siteId: site, visitor, pageId, isVisit, emailSha256: email, at } = hit;
      const keys = keysOf(hit);
      const { source } = keys;
      const person = visitor === null ? null : `${visitor} ${site}`;
      const news = newsOf(hit, keys);
      const facts = learn(news, at);
      if (facts.isNews && !hit.hasRefused) onNews?.(news);
      const isScripted = isScriptedForm(hit, source);
      const emailsOfNetwork = emails(source, email, at);
      const emailsOfVisitor = person === null ? 0 : emails(person, email, at);
      const withoutHands = emailsWithoutHands(person ?? source, isWithoutHands(hit, isScripted) ? email : null, at);
      const cookieAt = pageId === null || visitor !== null ? undefined : find(cookies(at), `${pageId} ${site}`);
      // Written out, because copies of objects are slow, and every report comes here.
      return {
        visitorsOfClick: facts.visitorsOfClick,
        clickIdsOfSource: facts.clickIdsOfSource,
        shareOfSource: facts.shareOfSource,
        goneOn: facts.engagement.goneOn,
        secondSteps: facts.engagement.secondSteps,
        goneOnOfNeighbours: facts.engagement.goneOnOfNeighbours,
        goneOnOfClick: facts.engagement.goneOnOfClick,
        isCopy: facts.isCopy,
        ofNetwork: visits(source, isVisit, at),
        ofVisitor: person === null ? 0 : visits(person, isVisit, at),
        emailsOfNetwork,
        emailsOfVisitor,
        hasFetchedTag: hasFetched(hit, keys),
        isCookieLost: cookieAt !== undefined && at - cookieAt > cookieMs,
        emailsWithoutHands: withoutHands >= (emailsOfVisitor || emailsOfNetwork) * mostly ? withoutHands : 0,
        isScriptedForm: isScripted,
      };
    },
    /** Takes in what another node observed. */
    learn(news: ClickNews, at: number): void {
      learn(news, at);
    },
    /**
     * What is known now about the source of an earlier visit, and the clicks that brought it, for a second judgement. Nothing, if the
     * visitor went on: neighbours did the rest.
     */
    recall({ siteId, source, network, neighbours }: SourceKeys, { visitor, clickIds: ids }: EarlierVisit, at: number): Frequency {
      if (engagement.hasGoneOn(source, visitor === null ? null : memberOf(visitor), at)) return quiet;
      const { click, visitorsOfClick } = findClick(siteId, ids.map(digest), null, at);
      return {
        ...quiet,
        visitorsOfClick,
        clickIdsOfSource: clickIds(source, null, at),
        shareOfSource: shareOf(source, network, false, at),
        ...engagement.read(siteId, { source, neighbours, click }, at),
      };
    },
    keysOf,
  };
}

/** Who refused has no cookie, and is not one of a source's robots for that. */
const isWithoutHands = ({ form, hasRefused }: Hit, isScriptedForm: boolean) =>
  form !== null && !hasRefused && (form.isUntouched || (form.isScripted && !isScriptedForm));

/** Enough to tell the visitors of one source apart. */
const memberOf = (id: string | null) => (id ?? "").slice(0, 8);

/** The answer that sets a cookie must have reached the page before its next report. */
const cookieMs = 1000;

/** 192.0.2.7 is one of 192.0.2. A customer with IPv6 has a whole network already. */
const neighbourhoodOf = (network: string) => (network.includes(":") ? network : network.replace(/\.\d+$/, ""));

/** Nothing that repeats. */
export const quiet: Frequency = {
  ofNetwork: 0,
  ofVisitor: 0,
  emailsOfNetwork: 0,
  emailsOfVisitor: 0,
  emailsWithoutHands: 0,
  visitorsOfClick: 0,
  clickIdsOfSource: 0,
  shareOfSource: 0,
  ...usual,
  hasFetchedTag: null,
  isCookieLost: false,
  isCopy: false,
  isScriptedForm: false,
};
