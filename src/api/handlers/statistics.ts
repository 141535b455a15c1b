// Serves statistics over time, and the live feed.

import { dayMs, hourMs, maxTime } from "../../kernel/time.ts";
import { actorKey, roleOn } from "../../access/actor.ts";
import type { Answer } from "../../contract/contract.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { platformOf } from "../../platforms/index.ts";
import { createStatistics, type Report } from "../../statistics/read.ts";
import { stageOf } from "../../identity/leadStages.ts";
import { defaultStages, readLadder } from "../../statistics/leadStages.ts";
import { partsOfOne } from "../../statistics/models.ts";
import { moneyOf, sumConfirmations, type Details, type Sum } from "../../statistics/aggregate.ts";
import type { ConfirmationCount } from "../../store/confirmations/confirmations.ts";
import { segmentKinds, type Segment, type SegmentKind } from "../../store/statistics/statistics.ts";
import type { Handlers } from "../call.ts";
import { createFeed } from "../feed.ts";
import type { ApiContext } from "../context.ts";

type Names = "GET /sites/:site/statistics" | "GET /sites/:site/lead-stages" | "GET /sites/:site/feed";
type Range = { from: number; to: number; step: "hour" | "day" };

const maxDays = { hour: 31, day: 400 };

export function statisticsHandlers(context: ApiContext): Handlers<Names> {
  const { store, access, now } = context;
  const statistics = createStatistics(store, now);
  const feed = createFeed(context);

  return {
    async "GET /sites/:site/statistics"({ site, query }) {
      checkRange(query);
      const { step } = query;
      const { timeZone } = site.settings;
      const from = Math.floor(query.from / hourMs) * hourMs;
      const to = Math.ceil(query.to / hourMs) * hourMs;
      const segment = segmentOf(query);
      const report = await statistics.read(site.id, { from, to, step, timeZone, segment, model: query.model });
      return { from, to, step, timeZone, ...toStatistics(report) };
    },
    async "GET /sites/:site/lead-stages"({ site, query: { stages: given, days } }) {
      const stages = readStages(given);
      return { stages: [...stages], days, ...(await readLadder(store, site.id, { stages, days, now: now() })) };
    },
    async "GET /sites/:site/feed"({ site, actor, request }) {
      const isAllowed = async () => {
        const caller = await access.actorOf(request);
        return caller !== null && roleOn(caller, site.id) !== null;
      };
      return feed.listen(site.id, actor ? actorKey(actor) : "", isAllowed);
    },
  };
}

const maxStages = 12;

/** The default without any; names that are the same event stand once. */
function readStages(text: string | undefined): readonly string[] {
  const names = (text ?? "").split(",").map((name) => name.trim());
  const stages = [...new Map(names.filter(Boolean).map((name) => [stageOf(name), name])).values()];
  if (stages.length > maxStages) throw new Refusal("stages", say("must_be_at_most_targets", { max: maxStages }));
  return stages.length ? stages : defaultStages;
}

function checkRange({ from, to, step }: Range): void {
  if (from < 0 || from > maxTime) throw new Refusal("from", say("start_invalid"));
  if (to < 0 || to > maxTime) throw new Refusal("to", say("end_invalid"));
  if (from >= to) throw new Refusal("from", say("start_after_end"));
  const max = maxDays[step];
  // One day more, so that a month in which clocks are set back still fits.
  if (to - from > (max + 1) * dayMs) throw new Refusal("to", say("period_too_long", { step, max }));
}

/** The figures of a segment are kept, but not those of two segments together. */
function segmentOf(query: Partial<Record<SegmentKind, string | undefined>>): Segment | undefined {
  const [chosen, ...others] = segmentKinds.flatMap((segment) => {
    const name = query[segment];
    return name === undefined ? [] : [{ segment, name }];
  });
  const [other] = others;
  if (other) throw new Refusal(other.segment, say("one_dimension"));
  if (chosen?.segment === "platform" && !platformOf(chosen.name))
    throw new Refusal("platform", say("unknown_platform", { id: chosen.name }));
  return chosen;
}

type Statistics = Answer<"GET /sites/:site/statistics">;

const toCounts = ({ conversions, values, refunds, duplicates, filtered, botEvents, withClickId, due, sent }: Sum) => ({
  conversions,
  values: moneyOf(values),
  refunds: moneyOf(refunds),
  duplicates,
  filtered,
  botEvents,
  withClickId,
  due,
  sent,
});

const toSums = (sum: Sum) => ({ ...toCounts(sum), bots: sum.visits.bots });

const toEarlier = ({ startsAt, conversions, values, duplicates, botEvents, visits }: Report["steps"][number]["before"]) => ({
  startsAt,
  conversions,
  values: moneyOf(values),
  duplicates,
  botEvents,
  bots: visits.bots,
});

function confirmationsOf(platform: string, counts: readonly ConfirmationCount[], sent: number) {
  const coversAll = platformOf(platform)?.confirmations?.coversAll === true;
  return coversAll || counts.length ? sumConfirmations(counts, coversAll ? sent : null) : null;
}

function toStatistics({ steps, total, before, details }: Report): Omit<Statistics, keyof Range | "timeZone"> {
  const sortBySize = <Item>(items: Iterable<Item>, size: (item: Item) => number) =>
    [...items].toSorted((one, other) => size(other) - size(one));
  const toNamed = (sums: Details["events"]) =>
    sortBySize(sums, ([, { conversions }]) => conversions).map(([name, { conversions, values }]) => ({
      name,
      conversions,
      values: moneyOf(values),
    }));
  /** A model may have moved everything away from a name. */
  const toTouched = (sums: Details["sources"]) =>
    toNamed(sums)
      .filter(({ conversions }) => conversions > 0)
      .map((one) => ({
        ...one,
        conversions: one.conversions / partsOfOne,
      }));
  return {
    steps: steps.map((step) => ({
      startsAt: step.startsAt,
      ...toCounts(step),
      before: toEarlier(step.before),
      visits: step.visits,
      suspicious: step.suspicious,
    })),
    before: toSums(before),
    totals: { ...toSums(total), people: total.visits.people, test: details.test },
    events: toNamed(details.events),
    sources: toTouched(details.sources),
    campaigns: toTouched(details.campaigns),
    platforms: sortBySize(details.platforms, ([, { sent = 0 }]) => sent).map(([platform, states]) => ({
      platform,
      states,
      conversions: details.delivered.get(platform)?.conversions ?? 0,
      values: moneyOf(details.delivered.get(platform)?.values ?? new Map()),
      confirmations: confirmationsOf(platform, details.confirmations.get(platform) ?? [], states.sent ?? 0),
    })),
    match: {
      conversions: total.conversions,
      identified: details.identified,
      withheld: details.withheld,
      withClickId: total.withClickId,
      clickIds: sortBySize(details.clickIds, ([, conversions]) => conversions).map(([name, conversions]) => ({
        name,
        conversions,
      })),
    },
    removed: sortBySize(details.removed, ([, { visits, events }]) => visits + events).map(([reason, counts]) => ({
      reason,
      ...counts,
    })),
  };
}
