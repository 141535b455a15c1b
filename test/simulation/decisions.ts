// The decisions of the code for delivery and consent: guards that must have been the reason for something, or the seeds prove nothing
// about them. Each is recorded when its guard is met, by a change of the module's text when it is loaded; no file is changed.

import { replaceOnce } from "./runtime/text.ts";

type Decision = {
  /** What follows when the guard is met. */
  what: string;
  /** The path below `src/`. */
  file: string;
  /** A text that occurs in the file exactly once. The guard is in ⟦…⟧; one that is met when it is false begins with ¬. */
  text: string;
  /** Why no seed meets it. */
  beyond?: string;
  /** Fewer than one of a thousand seeds meets it, so a run of the tests may miss it. */
  isRare?: boolean;
};

const noRemoval = "no connection is removed, and no site";
const noDamage = "no row is damaged";
const tooShort = "a seed is far shorter than any age limit";

const inFile = (file: string, decisions: readonly Omit<Decision, "file">[]): Decision[] =>
  decisions.map((decision) => ({ ...decision, file }));

export const decisions: readonly Decision[] = [
  ...inFile("pipeline.ts", [
    { what: "a duplicate is answered as one", text: "if (⟦acceptance.duplicate⟧) {" },
    { what: "a filtered event is not sent", text: 'if (⟦reasons.length⟧) return { exit: "filtered", reasons };' },
    { what: "an event without a confirmed commit is abandoned", text: "⟦openEvent⟧?.abandon();" },
    { what: "an event goes out under another id than planned", text: "= ⟦¬conversion.platformEventId === platformEventId⟧ ?" },
  ]),
  ...inFile("delivery/dispatch.ts", [
    { what: "a job that waits is taken back at the deadline", text: "if (⟦job && results[i] === null⟧) lanes.withdraw(job);" },
  ]),
  ...inFile("delivery/plan.ts", [
    { what: "an unreadable connection gets no event", text: "if (⟦connection.unreadable⟧) return", beyond: noDamage },
    {
      what: "an event that is not selected is skipped",
      text: "if (⟦!isSelected(connection, conversion.name)⟧) return",
      beyond: "no connection selects events",
    },
    { what: "an event that is too old is skipped", text: "if (⟦expiresAt <= now⟧) return", beyond: tooShort },
    { what: "an event that is not fit for a platform is skipped", text: "if (⟦unfit⟧) return unsent" },
    { what: "an event for an inactive connection is parked", text: 'if (⟦connection.state !== "active"⟧) return unsent' },
  ]),
  ...inFile("delivery/recheck.ts", [
    { what: "what another one owns is not sent after a wait", text: "(⟦!isOwned⟧ ||" },
    { what: "consent that was withdrawn counts after a wait", text: "(⟦await isConsentWithdrawn(job)⟧)" },
  ]),
  ...inFile("delivery/lanes/deliver.ts", [
    { what: "a batch that waited is looked at again", text: "if (⟦hasWaited(left)⟧) left = await" },
    { what: "jobs of a removed connection are skipped", text: "if (⟦!platform⟧) return settleUntried", beyond: noRemoval },
    { what: "jobs of an inactive connection are parked", text: 'if (⟦connection.state !== "active"⟧)\n' },
    { what: "jobs that are too old expire", text: "if (⟦late.length⟧) await settleUntried", beyond: tooShort },
    { what: "jobs without a lease are not sent", text: "return ⟦lost.length⟧ ? batch.filter((one) => !isLost(one))" },
    { what: "a job of an open event is given back with a row", text: 'if (⟦one.job.ownership.by === "node"⟧) void settle(' },
    { what: "an open breaker keeps jobs back", text: "if (⟦blockedMs > 0⟧) {" },
    {
      what: "a rejected batch is halved",
      text: 'if (⟦!misread && sent.length > 1 && readings.every((reading) => reading.kind === "rejected")⟧) {',
    },
    {
      what: "conversions that a rejected batch does not blame are sent again",
      text: "if (⟦resendable.length⟧) {",
      beyond: "the simulated platforms reject whole requests",
    },
    { what: "a refused token marks the connection", text: "if (⟦unauthorised⟧) {" },
    { what: "a platform that asks for a pause gets it", text: "if (⟦seconds > 0⟧) breaker.recordRetryAfter" },
  ]),
  ...inFile("delivery/lanes/lanes.ts", [
    { what: "a batch waits for quota", text: "if (⟦waitMs > 0⟧) {" },
    { what: "a job that is being sent is not taken back", text: "if (⟦!queue || !one⟧) return false;" },
    {
      what: "a backfill leaves lanes to live events",
      text: "queue.busyBackfills += ⟦backfills⟧;",
      beyond: "nothing is backfilled",
    },
    {
      what: "a relay that stops gives back what waits for quota",
      text: "if (⟦isClosing && queue.quotaUntil > options.elapsed()⟧) for",
    },
    {
      what: "nothing is claimed for a platform that is not to be called",
      text: "if (⟦options.breaker.blockedMs(key, at) > 0 || (queue && queue.quotaUntil > at)⟧) return 0;",
    },
    { what: "one job is claimed for a probe", text: "const lanes = ⟦options.breaker.isHalfOpen(key, at)⟧ ?" },
  ]),
  ...inFile("delivery/lanes/breaker.ts", [
    { what: "others wait while a call probes", text: "return ⟦state.isProbing⟧ ? probeMs" },
    { what: "failures of calls that were in flight do not count again", text: "if (⟦!counts⟧ ||" },
  ]),
  ...inFile("delivery/due/claim.ts", [
    {
      what: "nothing is claimed for a site that does not work",
      text: "if (⟦site && !isWorking(site)⟧) return",
      beyond: noRemoval,
    },
    { what: "a node whose clock is off does not claim", text: "if (⟦time.isOff⟧) return false;", isRare: true },
    { what: "what waits for an inactive connection is parked", text: 'if (⟦connection?.state !== "active"⟧) {' },
    { what: "nothing is claimed without capacity", text: "if (⟦limit === 0⟧) return true;" },
    { what: "a delivery that is in hand is not sent again", text: "!⟦inHand.has(eventId)⟧" },
    { what: "a damaged event is rejected", text: 'if (⟦event === "damaged"⟧) return', beyond: noDamage },
    { what: "a delivery that is not fit any more is skipped", text: "if (⟦unfit⟧) return settleUnsent" },
  ]),
  ...inFile("delivery/due/worker.ts", [
    { what: "a node whose clock is off does not poll", text: "if (⟦time.isOff⟧) return;" },
    { what: "what was parked too late is released", text: "if (⟦released > 0⟧) dueWork.note" },
  ]),
  ...inFile("delivery/openEvents/openEvents.ts", [
    { what: "results that were not written are written again", text: "filter((attempts) => ⟦attempts.hasFailed()⟧)" },
    { what: "abandoned events are queued", text: "=> ⟦elapsed() - since >= leaseMs⟧)" },
    { what: "without a lease each delivery gets a row", text: "|| ⟦lease.leftMs() < maxOpenMs⟧)" },
    { what: "a lease that ended covers nothing from before", text: "(⟦¬lease.lapses() === lapses⟧ ?" },
    { what: "a node that stops with open events keeps its row", text: "if (⟦¬events.isEmpty() && recovery.isDone()⟧) await" },
  ]),
  ...inFile("delivery/openEvents/firstAttempts.ts", [
    {
      what: "an attempt is settled once",
      text: "if (⟦arrived.has(position)⟧) return writing;",
      beyond: "no simulated platform has tokens that are renewed during a call",
    },
    {
      what: "an owner finds its event taken over",
      text: "!(⟦¬await settle({ siteId, eventId, number: settled, settlements })⟧)",
    },
    { what: "an owner finds it after a promotion", text: "!(⟦¬await settle({ siteId, eventId, ...row })⟧)", isRare: true },
  ]),
  ...inFile("delivery/openEvents/recovery.ts", [
    { what: "a promotion is noticed", text: "if (!⟦isPromoted()⟧) return;" },
    { what: "outcomes are written again after a promotion", text: "if (!⟦due⟧) return;" },
  ]),
  ...inFile("delivery/openEvents/takeover.ts", [
    { what: "a dead node is taken over", text: "if (⟦endedMs >= 0⟧) return true;" },
    {
      what: "a lease too far ahead is watched",
      text: "if (⟦known?.until === until⟧) return",
      beyond: "the clock of the simulated database is right",
    },
    { what: "a takeover is not repeated", text: "(⟦takenOver.get(node.owner) === node.until && endedMs < keepRowMs⟧)" },
    {
      what: "a takeover during a promotion is repeated",
      text: "|| ⟦store.nodes.promotions() !== promotions⟧) continue;",
      isRare: true,
    },
    { what: "a node that came back may die again", text: "if (⟦¬isAmong(dead, one)⟧) continue;" },
  ]),
  ...inFile("delivery/release.ts", [
    { what: "a person who was erased is not released", text: "if (⟦event.isErased⟧) throw" },
    { what: "an event is released once", text: "if (⟦!released⟧) throw" },
  ]),
  ...inFile("delivery/replay.ts", [
    { what: "a person who was erased is not replayed", text: "if (⟦line.erased⟧) return" },
    { what: "what changes during a replay is left alone", text: "if (⟦changed < fit.length⟧) leave" },
  ]),
  ...inFile("identity/attribution.ts", [
    { what: "what was withheld at the receipt stays withheld", text: "if (⟦attribution.withheld⟧) return attribution;" },
    { what: "a refusal withholds identifiers", text: 'return ⟦"opted out"⟧;' },
    { what: "unreadable consent withholds identifiers", text: 'return ⟦"consent unreadable"⟧;' },
    { what: "a person is looked up for too long", text: "lookUp.catch(() => ⟦unreadable⟧)" },
    {
      what: "without a decision an opt-in site withholds identifiers",
      text: 'return ⟦mode === "opt-in"⟧ ?',
      beyond: "the sites are opt-out; src/identity/attribution.test.ts has both modes",
    },
    { what: "ids of a bot's visit are not used", text: "(⟦!isTrusted && isBotVisit(visit, identity)⟧) ||" },
  ]),
  ...inFile("store/people/people.ts", [
    { what: "consent is read where the record cannot be", text: "consent: ⟦await readConsent(siteId, emailSha256)⟧, identity" },
  ]),
  ...inFile("inbound/sources/route.ts", [
    {
      what: "a source that cannot store a request asks for it again",
      text: 'observer.addPostponed(source, "unavailable", receivedAt);\n    return ⟦busy(kind, "unavailable")⟧;',
    },
    { what: "a paused source takes nothing", text: 'if (⟦source.state === "paused"⟧) return', beyond: "no source is paused" },
    {
      what: "a wrong signature is refused",
      text: "if (⟦fault⟧) {",
      beyond: "all senders sign rightly; test/contract/sources.test.ts has those that do not",
    },
  ]),
  ...inFile("inbound/sources/relayOutcomes.ts", [
    { what: "an entry that is not durable fails its request", text: 'if (⟦acceptance?.status !== "fulfilled"⟧) throw' },
    {
      what: "an entry without a person is ignored",
      text: 'if (⟦read.message === "email or hashed_email required"⟧)',
      beyond: "all orders of the senders name a person",
    },
  ]),
  ...inFile("store/events/claims.ts", [
    { what: "a delivery that a sender repeats is a duplicate", text: "!item.delivery || ⟦¬holders.has(item)⟧);" },
    { what: "of equal events in one transaction one is taken", text: "if (!⟦first.has(key)⟧)" },
    { what: "an email that has its own id is a duplicate", text: "if (⟦own && own.eventId !== item.event.id⟧) continue;" },
    { what: "a repeated transaction finds the order's id again", text: "if (⟦holder?.eventId === item.event.id⟧) holding" },
    { what: "another email of an order gets its own id", text: "else if (⟦holder.personRef !== item.personRef⟧)" },
    {
      what: "a filtered event hands its order over",
      text: "if (!(⟦await isFiltered(tx, items, item.event.siteId, holder.eventId)⟧)) continue;",
    },
  ]),
  ...inFile("store/events/events.ts", [
    { what: "the row of a node comes with its events", text: "if (⟦nodes.mayLackRows()⟧) await" },
    { what: "an event of a repeated transaction counts once", text: "accepted.filter((_item, i) => ⟦¬written[i]⟧)" },
    { what: "the hour of a late event is counted again", text: "=> ⟦ownership.at - timeOfId(event.id) > closedAfterMs⟧)" },
    { what: "a released event is not released again", text: "if (⟦!row⟧) return (await wasReleasedAt" },
  ]),
  ...inFile("store/deliveries/deliveries.ts", [
    { what: "a settlement without its lease writes nothing", text: "item.attempt && ⟦¬settled[i]⟧ ?" },
  ]),
  ...inFile("store/deliveries/outcomes.ts", [
    { what: "a repeated settlement finds its own row", text: "inserted[i] = ⟦row?.results === results⟧;" },
    { what: "two takeovers meet at a gap", text: "if (⟦(await tx.change(insertOutcomes, gaps)).includes(false)⟧) continue;" },
    { what: "a damaged outcome is not repeated", text: "= ⟦damaged.has(id)⟧ ? []", beyond: noDamage },
  ]),
  ...inFile("store/deliveries/nodes.ts", [
    { what: "a mark from before a promotion is refused", text: "if (⟦db.promotions() !== promotions⟧) throw" },
    { what: "what a node has in hand is left to it", text: "!⟦isInHand(String(row.id))⟧" },
    { what: "an event of an unknown commit that is not there ends", text: "if (⟦error instanceof NotAccepted⟧) return 0;" },
    { what: "a takeover ends when its node came back", text: "if (⟦await cameBack(node)⟧) return count;" },
    { what: "a takeover reads a second page", text: "if (⟦¬rows.length < step || !last⟧) return;" },
  ]),
  ...inFile("store/maintenance/dueTimes.ts", [
    { what: "due times of a wrong clock are corrected", text: "if (⟦ahead.length⟧) corrected" },
  ]),
  ...inFile("background/sharedClock.ts", [
    { what: "a slow answer does not tell the time", text: "if (⟦tookMs > maxReadMs⟧) throw" },
  ]),
];

/** The decisions that seeds should meet. */
export const reachable: readonly string[] = decisions.flatMap(({ what, beyond }) => (beyond === undefined ? what : []));

export const rare: readonly string[] = decisions.flatMap(({ what, isRare }) => (isRare ? what : []));

export const decisionsIn = (file: string): Decision[] => decisions.filter((decision) => decision.file === file);

const open = "simulationDecided(";

/** The text of a module that records the decisions in it. */
export function watchDecisions(text: string, some: readonly Decision[]): string {
  if (some.length === 0) return text;
  const watched = some.reduce((changed, { what, file, text: marked }) => {
    const replaced = marked.replace(/⟦(¬?)([^]*)⟧/, (_all, not: string, guard: string) =>
      [open, JSON.stringify(what), `, ${guard}, `, String(not === ""), ")"].join(""),
    );
    return replaceOnce(changed, marked.replace(/⟦¬?|⟧/g, ""), replaced, file);
  }, text);
  return `import { decided as simulationDecided } from ${JSON.stringify(import.meta.url)};\n${watched}`;
}

let met = new Set<string>();

/** Records a decision whose guard is met, and passes the guard on. */
export function decided<T>(what: string, guard: T, isMet: boolean): T {
  if (Boolean(guard) === isMet) met.add(what);
  return guard;
}

/** The decisions since the last call. */
export function takeDecisions(): string[] {
  const taken = [...met];
  met = new Set();
  return taken;
}
