// Serves the answer to "what became of this order": reads what is stored, and lets src/delivery/trace/why.ts explain it.

import type { Answer } from "../../contract/contract.ts";
import { checkFilter } from "../../delivery/replay.ts";
import { readTrace, type Trace } from "../../delivery/trace/trace.ts";
import { explain, type Explained } from "../../delivery/trace/why.ts";
import { given } from "../../http/given.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import type { Site } from "../../sites/directory.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import { isEventOf } from "../../reconcile/classify.ts";
import { usualEventOf } from "../../platforms/shared/eventNames.ts";
import { idOfOrder } from "../../store/reconciliation/orders.ts";
import type { RunRow } from "../../store/reconciliation/runs.ts";
import type { Store } from "../../store/store.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { persistingReasons } from "../persistingReasons.ts";

/** An order with more events is a placeholder such as `test`: the newest are explained. */
const maxEvents = 10;

type Why = Answer<"GET /sites/:site/why">["answers"][number];
type Compared = Map<string, RunRow & { at: number }>;

export function whyHandlers(context: ApiContext): Handlers<"GET /sites/:site/why"> {
  const { store, directory } = context;
  return {
    async "GET /sites/:site/why"({ site, query: { id, platform } }) {
      await checkFilter({ store, directory }, [site.id], given({ platform }));
      const asked = maskAddresses(id);
      const { isOrder, events } = await findEvents(store, site.id, asked);
      const orderIds = isOrder ? [asked] : events.flatMap((one) => (one === "damaged" ? [] : (one.orderId ?? [])));
      const orders = await store.orders.find(site.id, orderIds.map(idOfOrder));
      const [listed = null] = orders.values();
      const eventIds = events.flatMap((one) => (one === "damaged" ? [] : one.id));
      const compared = await findCompared(store, site.id, orderIds.map(idOfOrder), eventIds);
      const [row] = compared.values();
      // An order that was found by its person, day and value has an event without the order id.
      if (events.length === 0 && row?.eventId) {
        const event = await store.events.get(site.id, row.eventId);
        if (event) events.push(event);
      }
      // People know the order, not our id of its event.
      const [orderId] = orderIds;
      const subject = orderId === undefined ? { eventId: asked } : { orderId };
      const about = { subject, listed, timeZone: site.settings.timeZone };
      const none = { ...about, delivery: null, platform: platform ?? null, isConnected: false };
      if (events.length === 0) return { answers: [toWhy(null, null, { ...none, event: null, compared: row ?? null })] };
      const answers: Why[] = [];
      for (const event of events)
        if (event === "damaged") answers.push(toWhy(null, null, { ...none, event, compared: null }));
        else {
          await threadShare.rest(site.id);
          const isOwn = ({ eventId, class: of }: RunRow) =>
            eventId === event.id || (of === "duplicate" && isCopyOf(event, events, eventId));
          const own = compared.get(`!${event.id}`) ?? [...compared.values()].find(isOwn) ?? null;
          const trace = await readTrace(context, event);
          answers.push(...explainEvent(context, site, trace, platform, { ...about, compared: own }));
        }
      return { answers };
    },
  };
}

/** A row of an order that was received several times names the first event, and is about the others too. */
const isCopyOf = ({ name }: StoredEvent, events: readonly (StoredEvent | "damaged")[], first: string | null) =>
  events.some((one) => one !== "damaged" && one.id === first && isEventOf(name, usualEventOf(one.name) ?? one.name));

/** Finds the events by an id of their own, else by their order id. */
async function findEvents(
  { events }: Pick<Store, "events">,
  siteId: string,
  asked: string,
): Promise<{ isOrder: boolean; events: (StoredEvent | "damaged")[] }> {
  const id = asked.toLowerCase();
  const direct = (await events.get(siteId, id)) ?? (await readClaimed({ events }, siteId, id));
  if (direct) return { isOrder: false, events: [direct] };
  return { isOrder: true, events: await events.list(siteId, { orderId: asked, limit: maxEvents }) };
}

async function readClaimed({ events }: Pick<Store, "events">, siteId: string, id: string) {
  const claimed = await events.findIdByClaim(siteId, id);
  return claimed === null ? null : events.get(siteId, claimed);
}

/** Returns the rows of the newest reconciliation that has any of these orders or events. */
async function findCompared(
  { reconciliations }: Pick<Store, "reconciliations">,
  siteId: string,
  orders: readonly string[],
  events: readonly string[],
): Promise<Compared> {
  const ids = [...orders, ...events.map((one) => `!${one}`)];
  for (const run of await reconciliations.list(siteId)) {
    const rows = run.state === "done" ? await reconciliations.findRows(run, ids) : new Map<string, RunRow>();
    if (rows.size > 0) return new Map(Array.from(rows, ([id, row]) => [id, { ...row, at: run.updatedAt }]));
  }
  return new Map();
}

function explainEvent(
  { directory, now }: ApiContext,
  site: Site,
  trace: Trace,
  platform: string | undefined,
  about: Pick<Explained, "subject" | "listed" | "compared" | "timeZone">,
): Why[] {
  const persists = persistingReasons(directory, site.id, now());
  const isWanted = (one: { platform: string }) => platform === undefined || one.platform === platform;
  const connections = site.connections.filter(isWanted);
  const common = { ...about, event: trace, isConnected: connections.length > 0 };
  const answers = trace.deliveries.filter(isWanted).map((delivery) => {
    const reasonPersists = persists({ ...delivery, event: trace.event, mode: trace.mode });
    return toWhy(trace, delivery.connectionId, {
      ...common,
      platform: delivery.platform,
      delivery: { ...delivery, reasonPersists },
    });
  });
  const isFiltered = trace.status === "filtered" && trace.releasedAt === null;
  const others = isFiltered ? [] : connections.filter(({ id }) => trace.deliveries.every((one) => one.connectionId !== id));
  for (const other of others) answers.push(toWhy(trace, other.id, { ...common, platform: other.platform, delivery: null }));
  return answers.length ? answers : [toWhy(trace, null, { ...common, platform: platform ?? null, delivery: null })];
}

function toWhy(trace: Trace | null, connection: string | null, found: Explained): Why {
  const event = trace && { id: trace.id, name: trace.event, receivedAt: trace.receivedAt };
  return { event, connection, platform: found.platform, ...explain(found) };
}
