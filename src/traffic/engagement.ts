// Who of those that an advertisement brought goes on: does something on the page, opens a second one or submits a form. Known for each
// source, and for the groups over which a farm spreads its clicks: the neighbours of a network, and those who bring one click id. What
// is usual on the site is learned from the first source of each neighbourhood, with a click id of its own, so that no group can change it.

import { dayMs, secondMs } from "../kernel/time.ts";
import { countWithin, createWindows, find, maxDistinct, sumsOf } from "./slidingWindows.ts";

/** Visits of a source or group, those of them that went on, and how many usually do. */
type GoneOn = { visits: number; goneOn: number; expected: number };

export type Engagement = {
  goneOn: GoneOn | null;
  /** Those who opened a second page or submitted a form: an input is easily invented. */
  secondSteps: GoneOn | null;
  goneOnOfNeighbours: GoneOn | null;
  goneOnOfClick: GoneOn | null;
};

/** Nothing is known that differs from other visitors. */
export const usual: Engagement = { goneOn: null, secondSteps: null, goneOnOfNeighbours: null, goneOnOfClick: null };

type ClickReport = {
  siteId: string;
  source: string;
  neighbours: string;
  /** A visit of a new browser that an advertisement brought. */
  isNew: boolean;
  /** The visitor goes on, and more than by an input on the first page. */
  goesOn: boolean;
  isStep: boolean;
  /** Who goes on. */
  member: string;
  /** The click id that most sources brought, and how many. */
  click: string | null;
  visitorsOfClick: number;
};

type Visited = Pick<ClickReport, "source" | "neighbours" | "click">;

/** So many who went on are no farm's, and the others need not be kept. Inputs are easily invented. */
const maxSteps = maxDistinct;
const maxGoneOn = 4 * maxDistinct;
/** Visits of this step and the one before may still go on: the tag reports a first input up to 40 seconds later. */
const stepMs = 90 * secondMs;
/** So many of a site's visitors must be known before the share of those who go on says something. */
export const minVisitors = 30;
/** Fewer sources are no group; most networks and click ids have one. */
const minSources = 5;

type Visits = {
  visits: number;
  /** Visits of the last step and of the one before, which may still go on. */
  step: number;
  current: number;
  previous: number;
};
type OfSource = Visits & {
  goneOn: Set<string>;
  steps: Set<string>;
  hasNeighbours: boolean;
  /** It says what is usual on the site. */
  isFirst: boolean;
  click: string | null;
};
type OfGroup = Visits & { goneOn: number };

export function rememberEngagement() {
  const sources = createWindows<OfSource>(dayMs, ({ visits: weight, goneOn, steps }) => ({
    weight,
    held: 1 + goneOn.size + steps.size,
  }));
  const groups = createWindows<OfGroup>(dayMs, ({ visits: weight }) => ({ weight, held: 1 }));
  const neighbourhoods = countWithin(dayMs);
  /** The first sources, those that went on, and further. */
  const sites = sumsOf(dayMs, { clicked: 0, goneOn: 0, stepped: 0 });

  /** Returns whether this is the first time that a visitor is seen to go on. */
  function count(report: ClickReport, at: number): boolean {
    const { siteId, source, neighbours, isNew, goesOn, isStep, member, click, visitorsOfClick } = report;
    const windows = sources(at);
    const step = stepAt(at);
    // Who followed an advertisement in the window before may go on in this one.
    let entry = isNew ? windows.current.get(source) : find(windows, source);
    if (!entry && !isNew) return false;
    if (!entry) {
      const neighboursCount = neighbourhoods(neighbours, true, at);
      const isFirst = neighboursCount === 1 && visitorsOfClick <= 1;
      const hasNeighbours = neighboursCount >= minSources;
      entry = { ...noVisits(step), goneOn: new Set(), steps: new Set(), hasNeighbours, isFirst, click };
      windows.set(source, entry);
      if (isFirst) sites(siteId, at).clicked += 1;
    }
    if (isNew) {
      entry.click = click;
      addVisit(entry, step);
      if (entry.hasNeighbours) addVisit(groupOf(neighbours, at, step), step);
      if (click !== null && visitorsOfClick >= minSources) addVisit(groupOf(click, at, step), step);
    }
    if (!goesOn) return false;
    const { goneOn, steps } = entry;
    const add = (members: Set<string>, max: number, name: "goneOn" | "stepped") => {
      if (members.size >= max || members.has(member)) return false;
      if (members.size === 0 && entry.isFirst) sites(siteId, at)[name] += 1;
      members.add(member || `${members.size}`);
      windows.noteMember(source);
      return true;
    };
    const isFirstStep = isStep && add(steps, maxSteps, "stepped");
    const isFirst = add(goneOn, maxGoneOn, "goneOn");
    if (isFirst)
      for (const key of [neighbours, entry.click ?? ""]) {
        const group = find(groups(at), key);
        if (group) group.goneOn += 1;
      }
    return isFirst || isFirstStep;
  }

  function groupOf(key: string, at: number, step: number): OfGroup {
    const windows = groups(at);
    const known = windows.current.get(key) ?? { ...noVisits(step), goneOn: 0 };
    if (known.visits === 0) windows.set(key, known);
    return known;
  }

  /** `click` is the one that brought the visit: others brought visits of the same source, too. */
  function read(siteId: string, { source, neighbours, click }: Visited, at: number): Engagement {
    const entry = find(sources(at), source);
    const { clicked, goneOn, stepped } = sites(siteId, at);
    if (!entry || clicked < minVisitors) return usual;
    const step = stepAt(at);
    const compare = (of: Visits, went: number, max: number, usually: number): GoneOn | null => {
      const visits = settledVisits(of, step);
      return went >= max ? null : { visits, goneOn: went, expected: (visits * usually) / clicked };
    };
    const compareGroup = (key: string): GoneOn | null => {
      const group = find(groups(at), key);
      return group ? compare(group, group.goneOn, Infinity, goneOn) : null;
    };
    return {
      goneOn: compare(entry, entry.goneOn.size, maxGoneOn, goneOn),
      secondSteps: compare(entry, entry.steps.size, maxSteps, stepped),
      goneOnOfNeighbours: compareGroup(neighbours),
      goneOnOfClick: click === null ? null : compareGroup(click),
    };
  }

  return {
    count,
    read,
    hasGoneOn(source: string, member: string | null, at: number): boolean {
      const entry = find(sources(at), source);
      return entry !== undefined && (entry.steps.size >= maxSteps || (member !== null && entry.goneOn.has(member)));
    },
  };
}

const stepAt = (at: number) => Math.floor(at / stepMs);
const noVisits = (step: number): Visits => ({ visits: 0, step, current: 0, previous: 0 });

function addVisit(of: Visits, step: number): void {
  if (of.step !== step) {
    of.previous = of.step === step - 1 ? of.current : 0;
    of.current = 0;
    of.step = step;
  }
  of.visits += 1;
  of.current += 1;
}

function settledVisits({ visits, step: last, current, previous }: Visits, step: number): number {
  const age = step - last;
  if (age > 1) return visits;
  return visits - (age === 1 ? current : current + previous);
}
