// The filters of the sync log, as people write them.

import type { Command } from "commander";
import { deliveryStates, type DeliveryState, type Mode } from "../kernel/event.ts";
import { readEmailSha256 } from "../identity/person.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { LogFilter } from "../store/deliveries/syncLog.ts";
import type { Sha256 } from "../kernel/event.ts";

export type FilterOptions = {
  connection?: string;
  platform?: string;
  state?: string;
  event?: string;
  mode?: string;
  id?: string;
  order?: string;
  email?: string;
  from?: string;
  to?: string;
};

export function withFilters(command: Command): Command {
  return command
    .option("--connection <id>", "only of this connection")
    .option("--platform <platform>", "only to this platform")
    .option("--state <states>", `only in these states: ${deliveryStates.join(", ")}; several with commas`)
    .option("--event <name>", "only of events with this name")
    .option("--mode <mode>", "only of live or of test events")
    .option("--id <event>", "only of this event")
    .option("--order <id>", "only with this order id")
    .option("--email <email>", "only of this person (an email or its hash)")
    .option(
      "--from <time>",
      "only received since: 2026-11-15, 2026-11-15T08:00Z, or 2h, 7d for that long ago",
    )
    .option("--to <time>", "only received before");
}

/** True when nothing narrows the set: nearly all events are live. */
export const isEverything = (filter: LogFilter) => Object.keys(filter).every((name) => name === "mode");

export function readFilter(options: FilterOptions, now: number): LogFilter {
  const { connection, platform, state, event, mode, id, order, email, from, to } = options;
  const filter: LogFilter = {
    ...(connection === undefined ? {} : { connectionId: connection }),
    ...(platform === undefined ? {} : { platform }),
    ...(state === undefined ? {} : { states: readStates(state) }),
    ...(event === undefined ? {} : { eventName: event }),
    ...(mode === undefined ? {} : { mode: readMode(mode) }),
    ...(id === undefined ? {} : { eventId: id }),
    ...(order === undefined ? {} : { orderId: order }),
    ...(email === undefined ? {} : { emailSha256: readPerson(email) }),
    ...(from === undefined ? {} : { from: readTime("from", from, now) }),
    ...(to === undefined ? {} : { to: readTime("to", to, now) }),
  };
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to)
    throw new Refusal("from", "--from must be before --to.");
  return filter;
}

function readStates(text: string): DeliveryState[] {
  const words = [...new Set(text.split(",").map((word) => word.trim().toLowerCase()))].filter(Boolean);
  const states = deliveryStates.filter((state) => words.includes(state));
  if (words.length === 0 || states.length < words.length)
    throw new Refusal("state", `--state must be some of ${deliveryStates.join(", ")}.`);
  return states;
}

export function readMode(text: string): Mode {
  if (text !== "live" && text !== "test") throw new Refusal("mode", "--mode must be live or test.");
  return text;
}

function readPerson(text: string): Sha256 {
  const emailSha256 = readEmailSha256(text);
  if (!emailSha256) throw new Refusal("email", "--email is not an email address.");
  return emailSha256;
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readTime(name: string, text: string, now: number): number {
  const ago = /^(\d{1,5})([mhd])$/.exec(text);
  const at = ago ? now - Number(ago[1]) * (units[ago[2] ?? ""] ?? 0) : Date.parse(text);
  if (Number.isNaN(at) || at < 0)
    throw new Refusal(name, `--${name} must be a time like 2026-11-15, 2026-11-15T08:00Z, 2h or 7d.`);
  return at;
}

const cursorForm = /^([0-9a-f-]{36})(?:\/([0-9a-z]{1,40}))?$/;

/** EVENT/CONNECTION, or an event whose deliveries are all left out. */
export function readCursor(text: string | undefined): { eventId: string; connectionId: string } | null {
  if (text === undefined) return null;
  const [, eventId, connectionId = ""] = cursorForm.exec(text) ?? [];
  if (eventId === undefined)
    throw new Refusal("before", "--before must be an event's id, or EVENT/CONNECTION as the list prints it.");
  return { eventId, connectionId };
}
