// Numbers over time, and events as they arrive.

import { dayMs, hourMs } from "../../kernel/time.ts";
import { roleOn, type Actor } from "../../access/actor.ts";
import type { Answer } from "../../contract/contract.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { openStatistics, type Report } from "../../statistics/read.ts";
import { moneyOf, type Sum } from "../../statistics/aggregate.ts";
import type { Handlers } from "../call.ts";
import { openFeed } from "../feed/feed.ts";
import type { ApiParts } from "../context.ts";

type Names = "GET /sites/:site/statistics" | "GET /sites/:site/feed";
type Asked = { from: number; to: number; step: "hour" | "day" };

const maxDays = { hour: 31, day: 400 };
/** Beyond it lies nothing that anybody can mean. */
const latest = Date.UTC(2200, 0);

export function statisticsHandlers({ store, access, now }: ApiParts): Handlers<Names> {
  const statistics = openStatistics(store, now);
  const feed = openFeed(store, now);

  return {
    async "GET /sites/:site/statistics"({ site, query }) {
      checkRange(query);
      const { step } = query;
      const { timeZone } = site.settings;
      const from = Math.floor(query.from / hourMs) * hourMs;
      const to = Math.ceil(query.to / hourMs) * hourMs;
      const report = await statistics.read(site.id, { from, to, step, timeZone });
      return { from, to, step, timeZone, ...shownReport(report) };
    },
    async "GET /sites/:site/feed"({ site, actor, request }) {
      const isAllowed = async () => {
        const caller = await access.actorOf(request);
        return caller !== null && roleOn(caller, site.id) !== null;
      };
      return feed.listen(site.id, whoIs(actor), isAllowed);
    },
  };
}

const whoIs = (actor: Actor | null) => (actor ? `${actor.kind} ${actor.id}` : "");

function checkRange({ from, to, step }: Asked): void {
  if (from < 0 || from > latest) throw new Refusal("from", "The beginning is not a time.");
  if (to < 0 || to > latest) throw new Refusal("to", "The end is not a time.");
  if (from >= to) throw new Refusal("from", "The beginning must lie before the end.");
  const most = maxDays[step];
  // A day more, so that the month in which clocks are set back still fits.
  if (to - from > (most + 1) * dayMs)
    throw new Refusal("to", `Steps of one ${step} reach over at most ${most} days.`);
}

type Shown = Answer<"GET /sites/:site/statistics">;

const shownCounts = ({ conversions, values, refunds, duplicates, filtered, botEvents }: Sum) => ({
  conversions,
  values: moneyOf(values),
  refunds: moneyOf(refunds),
  duplicates,
  filtered,
  botEvents,
});

const shownSum = (sum: Sum) => ({ ...shownCounts(sum), bots: sum.visits.bots });

function shownReport({ steps, total, before, details }: Report): Omit<Shown, keyof Asked | "timeZone"> {
  const most = <Item>(items: Iterable<Item>, size: (item: Item) => number) =>
    [...items].toSorted((one, other) => size(other) - size(one));
  return {
    steps: steps.map((step) => ({ startsAt: step.startsAt, ...shownCounts(step), visits: step.visits })),
    before: shownSum(before),
    totals: { ...shownSum(total), people: total.visits.people, test: details.test },
    events: most(details.events, ([, { conversions }]) => conversions).map(
      ([name, { conversions, values }]) => ({ name, conversions, values: moneyOf(values) }),
    ),
    platforms: most(details.platforms, ([, { sent = 0 }]) => sent).map(([platform, states]) => ({
      platform,
      states,
    })),
    match: {
      conversions: total.conversions,
      identified: details.identified,
      withheld: details.withheld,
      withClickId: details.withClickId,
      clickIds: most(details.clickIds, ([, conversions]) => conversions).map(([name, conversions]) => ({
        name,
        conversions,
      })),
    },
    removed: most(details.removed, ([, { visits, events }]) => visits + events).map(([reason, counts]) => ({
      reason,
      ...counts,
    })),
  };
}
