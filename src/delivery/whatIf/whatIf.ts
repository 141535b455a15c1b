// Runs stored events through changed settings, a part at a time, and tells what would be different. Nothing is sent, stored or
// counted: it reads events and people, and calls the pure functions that judge, attribute, plan and build requests.

import { threadShare } from "../../kernel/concurrency.ts";
import { describeFilterReason, type Sha256 } from "../../kernel/event.ts";
import { timeOfId } from "../../kernel/ids.ts";
import {
  addMoney,
  maxWhatIfExamples,
  noConnection,
  noDifferences,
  noMoney,
  type Differences,
  type Money,
} from "../../contract/whatIf/differences.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { FoundPerson } from "../../store/people/people.ts";
import type { Store } from "../../store/store.ts";
import { compileLists } from "../../traffic/lists.ts";
import { fieldsOf, identityThen, outcomeOf, type Outcome, type Side, type WouldBe } from "./outcome.ts";

/** A request takes a fraction of a second, also with many connections. */
const partEvents = 200;
/** Older ones of a long period are left out. */
const maxEvents = 50_000;

type Fields = { added: string[]; removed: string[]; changed: string[] };
type WouldBeSent = { skipped: string | null; value: number | null; currency: string };
type ExampleDelivery = {
  connection: string;
  platform: string;
  /** Null for a connection that does not exist yet, and for a filtered event. */
  before: WouldBeSent | null;
  after: WouldBeSent | null;
  fields: Fields;
};
type Example = {
  event: string;
  name: string;
  orderId: string | null;
  receivedAt: number;
  value: number | null;
  currency: string;
  filtered: { before: string | null; after: string | null };
  withheld: { before: string | null; after: string | null };
  deliveries: ExampleDelivery[];
};

type Period = { from: number; to: number; cursor: { before: string; events: number } | null };
type Part = {
  differences: Differences;
  /** Events that would be different, at most ten. */
  examples: Example[];
  /** From 0 to 1. */
  progress: number;
  /** False where older events of the period are left out. */
  isComplete: boolean;
  next: { before: string; events: number } | null;
};

/** Whatever is asked: with these it can change nothing. */
type ReadStore = {
  events: Pick<Store["events"], "listPage" | "getMany">;
  people: Pick<Store["people"], "lookUp">;
};
type Sides = { before: Side; after: Side };

/** Looks at the next events of a period, newest first. Test events count for nothing, and are left out. */
export async function whatIf(store: ReadStore, siteId: string, sides: Sides, { from, to, cursor }: Period): Promise<Part> {
  const page = await store.events.listPage(
    siteId,
    { mode: "live", from, to },
    { before: cursor?.before ?? null, limit: partEvents },
  );
  const ids = page.events.map(({ id }) => id);
  const found = await store.events.getMany(siteId, ids);
  const events = ids.flatMap((id) => {
    const event = found.get(id);
    return event && event !== "damaged" ? [event] : [];
  });
  const { differences, examples } = await compareEvents(store, siteId, events, sides);
  const looked = (cursor?.events ?? 0) + events.length;
  const isComplete = page.next === null || looked < maxEvents;
  const next = page.next !== null && isComplete ? { before: page.next, events: looked } : null;
  const isOver = next === null;
  const byTime = isOver ? 1 : (to - timeOfId(next.before)) / (to - from);
  const progress = isOver ? 1 : Math.min(1, Math.max(0, byTime, looked / maxEvents));
  return { differences, examples: examples.slice(0, maxWhatIfExamples), progress, isComplete, next };
}

/** The same for one event, also a test event, which is always an example. */
export async function whatIfEvent(store: ReadStore, event: StoredEvent, sides: Sides): Promise<Part> {
  const { differences, examples } = await compareEvents(store, event.siteId, [event], sides, true);
  return { differences, examples, progress: 1, isComplete: true, next: null };
}

async function compareEvents(store: ReadStore, siteId: string, events: readonly StoredEvent[], sides: Sides, keepsAll = false) {
  const people = await readPeople(store, siteId, events);
  for (const { judgesVisits, settings } of [sides.before, sides.after]) if (judgesVisits) await compileLists(siteId, settings);
  const differences = noDifferences();
  const examples: Example[] = [];
  await threadShare.map(siteId, events, (event) => {
    if (event.isErased) {
      differences.events += 1;
      differences.erased += 1;
      return;
    }
    const person = (event.person.emailSha256 && people.get(event.person.emailSha256)) || noRecord;
    const then = identityThen(event, person);
    const before = outcomeOf(event, person, then, sides.before);
    const after = outcomeOf(event, person, then, sides.after);
    const needsRecord = sides.after.judgesVisits || (before.attribution.withheld !== null && after.attribution.withheld === null);
    if (needsRecord && !then && event.attribution.identity !== "none") differences.unknown += 1;
    const example = compareOne(differences, event, before, after, keepsAll);
    if (example && (keepsAll || examples.length < maxWhatIfExamples)) examples.push(example);
  });
  return { differences, examples };
}

const noRecord: FoundPerson = { consent: "unknown", identity: null };

/** Each person of a page is read once. One who cannot be read counts as unreadable, as for a new event. */
async function readPeople(
  { people }: ReadStore,
  siteId: string,
  events: readonly StoredEvent[],
): Promise<Map<Sha256, FoundPerson>> {
  const hashes = [...new Set(events.flatMap(({ person }) => person.emailSha256 ?? []))];
  const reading = await threadShare.map(siteId, hashes, async (hash): Promise<[Sha256, FoundPerson]> => [
    hash,
    await people.lookUp(siteId, hash).catch((): FoundPerson => ({ consent: "unreadable", identity: "unreadable" })),
  ]);
  return new Map(await Promise.all(reading));
}

const moneyOf = ({ value, currency }: { value: number | null; currency: string }): Money => ({
  events: 1,
  values: value === null ? {} : { [currency]: value },
});

function compareOne(sum: Differences, event: StoredEvent, before: Outcome, after: Outcome, keepsAll: boolean): Example | null {
  sum.events += 1;
  const money = moneyOf(event);
  const reasons = { before: reasonOf(before), after: reasonOf(after) };
  for (const side of ["before", "after"] as const) if (reasons[side] !== null) addMoney(sum.filtered[side], money);
  if (reasons.before === null && reasons.after !== null) addMoney((sum.nowFiltered[reasons.after] ??= noMoney()), money);
  if (reasons.before !== null && reasons.after === null) addMoney((sum.nowPassed[reasons.before] ??= noMoney()), money);
  const withheld = { before: before.attribution.withheld, after: after.attribution.withheld };
  for (const side of ["before", "after"] as const) if (withheld[side] !== null) sum.withheld[side] += 1;
  const deliveries = compareDeliveries(sum, event, before, after, keepsAll);
  const isSame =
    deliveries.length === 0 && (reasons.before === null) === (reasons.after === null) && withheld.before === withheld.after;
  if (isSame && !keepsAll) return null;
  const { id, name, orderId, receivedAt, value, currency } = event;
  return { event: id, name, orderId, receivedAt, value, currency, filtered: reasons, withheld, deliveries };
}

const reasonOf = ({ filtered: [first] }: Outcome): string | null => (first ? describeFilterReason(first) : null);

function compareDeliveries(
  sum: Differences,
  { receivedAt }: StoredEvent,
  before: Outcome,
  after: Outcome,
  keepsAll: boolean,
): ExampleDelivery[] {
  const all = new Map([...before.deliveries, ...after.deliveries].map(({ connection }) => [connection.id, connection]));
  const byId = (deliveries: readonly WouldBe[]) => new Map(deliveries.map((one) => [one.connection.id, one]));
  const [ofBefore, ofAfter] = [byId(before.deliveries), byId(after.deliveries)];
  const isSameEvent = JSON.stringify(before.deliveries[0]?.conversion) === JSON.stringify(after.deliveries[0]?.conversion);
  return [...all.values()].flatMap(({ id, platform }) => {
    const was = ofBefore.get(id) ?? null;
    const now = ofAfter.get(id) ?? null;
    const of = (sum.connections[id] ??= noConnection(platform));
    for (const [side, one] of [
      ["before", was],
      ["after", now],
    ] as const) {
      if (one?.skipped === null) addMoney(of[side], moneyOf(one));
      else if (one) (of.skipped[one.skipped] ??= { before: 0, after: 0 })[side] += 1;
    }
    const isSame = isSameEvent && was?.connection === now?.connection;
    const fields = isSame ? noFields : fieldsThatDiffer(was, now, receivedAt);
    const isChanged = Object.values(fields).some((paths) => paths.length > 0);
    if (isChanged) of.changed += 1;
    for (const kind of ["added", "removed", "changed"] as const)
      for (const path of fields[kind]) (of.fields[path] ??= { added: 0, removed: 0, changed: 0 })[kind] += 1;
    if (was?.skipped === now?.skipped && !isChanged && !keepsAll) return [];
    return [{ connection: id, platform, before: shown(was), after: shown(now), fields }];
  });
}

const shown = (one: WouldBe | null): WouldBeSent | null =>
  one && { skipped: one.skipped, value: one.value, currency: one.currency };

const noFields: Fields = { added: [], removed: [], changed: [] };

/** Only of what is sent either way: the whole of a request that is new would be too much. */
function fieldsThatDiffer(was: WouldBe | null, now: WouldBe | null, at: number): Fields {
  const differing: Fields = { added: [], removed: [], changed: [] };
  if (was?.skipped !== null || now?.skipped !== null) return differing;
  const [old, fresh] = [fieldsOf(was, at), fieldsOf(now, at)];
  for (const [path, value] of fresh)
    if (!old.has(path)) differing.added.push(path);
    else if (old.get(path) !== value) differing.changed.push(path);
  for (const path of old.keys()) if (!fresh.has(path)) differing.removed.push(path);
  return differing;
}
