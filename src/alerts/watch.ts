// Looks once a minute for what needs a person, and tells them. One node at a time: its turn is a row in the store, which
// falls to another when it dies. What is told is written down before and after: a message goes out once when something
// begins, once a day while it lasts, and once when it is over; one that a channel did not take is tried at the next look.

import type { Directory, Site } from "../sites/directory.ts";
import type { Alert, Finding, Note } from "../store/statistics/alerts.ts";
import type { Store } from "../store/store.ts";
import { channelsOf, type Channel, type Means } from "./channels.ts";
import { lookAt, quietMs, type Backlogs, type Facts } from "./conditions.ts";
import { untilDown } from "./mail.ts";
import { messageOf, type Phase } from "./message.ts";

export type WatchOptions = {
  store: Facts & Pick<Store, "alerts">;
  directory: Directory;
  means: Means;
  /** This node. */
  owner: string;
  everyMs: number;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const dayMs = 86_400_000;
/** Who began to tell and was not heard of again has died. */
const tryingMs = 60_000;
/** After this time nobody needs to hear any more that something is over. */
const staleMs = dayMs;
const atOnce = 4;
/** What has not been told by then waits for the next look. */
const minTellingMs = 10_000;

/** Starts the watch; the returned function stops it and gives the turn back. */
export function startWatch(options: WatchOptions): () => Promise<void> {
  const { store, owner, everyMs, onDefect } = options;
  const watch = watchOf(options);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  function run(): void {
    looking = watch
      .look()
      .catch((error: unknown) => onDefect(error, { alerts: "look" }))
      .finally(() => {
        if (!stopped) timer = setTimeout(run, everyMs);
      });
  }

  timer = setTimeout(run, everyMs * Math.random());
  return async () => {
    stopped = true;
    watch.stop();
    clearTimeout(timer);
    await looking;
    await store.alerts.giveTurnBack(owner).catch((error: unknown) => onDefect(error, { alerts: "stop" }));
  };
}

export function watchOf(options: WatchOptions) {
  const { store, directory, means, owner, everyMs, now, onDefect } = options;
  const backlogs: Backlogs = new Map();
  let stopped = false;

  const takeTurn = () => store.alerts.takeTurn(owner, now(), now() + 3 * everyMs);

  /** One look at all sites; false when it is another node's turn. */
  async function look(): Promise<boolean> {
    let turnEnds = 0;
    const toTell: { site: Site; alert: Alert }[] = [];
    for (const site of directory.sites()) {
      if (stopped) return false;
      // Thousands of sites may take longer than a turn.
      if (now() >= turnEnds) {
        if (!(await takeTurn())) return false;
        turnEnds = now() + everyMs;
      }
      try {
        for (const alert of await settle(site)) toTell.push({ site, alert });
      } catch (error) {
        // One site whose data cannot be read must not silence the others.
        onDefect(error, { alerts: site.id });
      }
    }
    await tellAll(toTell);
    return true;
  }

  /** Writes down what begins and ends at a site; returns what somebody may have to hear of. */
  async function settle(site: Site): Promise<Alert[]> {
    const at = now();
    const known = await store.alerts.listSince(site.id, at - staleMs);
    const open = known.filter((alert) => alert.endedAt === null);
    const findings: Finding[] = [];
    for (const finding of await lookAt(store, site, open, backlogs, at))
      if (await isStillSo(site, finding)) findings.push(finding);
    if (findings.length === 0 && open.length === 0) return known;
    await store.alerts.reconcile(site.id, findings, at, quietMs);
    return store.alerts.listSince(site.id, at - staleMs);
  }

  /** What we know of a site may be a second old: a connection that somebody has just connected again needs nobody. */
  async function isStillSo(site: Site, { kind, subject }: Finding): Promise<boolean> {
    return kind !== "needs reconnection" || (await directory.connectionNow(site.id, subject))?.state === kind;
  }

  async function tellAll(toTell: { site: Site; alert: Alert }[]): Promise<void> {
    const ends = now() + Math.max(everyMs, minTellingMs);
    const ofThisLook = { ...means, mailer: means.mailer && untilDown(means.mailer) };
    const next = async (): Promise<void> => {
      for (let one = toTell.shift(); one && !stopped && now() < ends; one = toTell.shift()) {
        let { alert } = one;
        for (const channel of channelsOf(one.site, ofThisLook)) {
          const phase = dueFor(alert, alert.told[channel.name], now());
          if (phase === null) continue;
          const told = await tell(one.site, alert, channel, phase);
          if (!told) break;
          alert = told;
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, () => next()));
  }

  /** Null when another node is at it. */
  async function tell(site: Site, alert: Alert, channel: Channel, phase: Phase): Promise<Alert | null> {
    const before: Note = alert.told[channel.name] ?? neverTold;
    const trying = await store.alerts.saveNote(alert, channel.name, {
      ...before,
      triedAt: now(),
      isTrying: true,
      by: owner,
    });
    if (!trying) return null;
    const told = await channel.tell(messageOf(site, alert, phase));
    const at = now();
    const note: Note = told.ok
      ? {
          told: phase === "over" ? "over" : "began",
          toldAt: at,
          triedAt: at,
          isTrying: false,
          by: owner,
          error: null,
        }
      : { ...before, triedAt: at, isTrying: false, by: owner, error: told.error };
    return store.alerts.saveNote(trying, channel.name, note);
  }

  return {
    look: async (): Promise<void> => void (await look()),
    stop: () => {
      stopped = true;
    },
  };
}

const neverTold: Note = { told: null, toldAt: 0, triedAt: 0, isTrying: false, by: "", error: null };

/** What a channel has to be told now; null when it knows. */
export function dueFor(alert: Alert, note: Note = neverTold, now: number): Phase | null {
  if (note.isTrying && note.triedAt > now - tryingMs) return null;
  if (alert.endedAt !== null) return note.told === "began" ? "over" : null;
  if (note.told === null) return "began";
  return note.toldAt <= now - dayMs ? "reminder" : null;
}
