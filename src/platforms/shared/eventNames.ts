// The name under which an event goes to a platform: the connection's choice, else the platform's standard name for it, else
// the connection's default target, else what the platform does with other events. Senders' names match without regard to case, spaces, dashes and underscores,
// and by the other names of the usual events (usualEvents.ts): `MQL` and `Lead Qualified` are one custom event too. The dashboard uses this file too.

import { say } from "../../kernel/messages/message.ts";
import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames } from "../platform.ts";
import { fitName, nameRuleFault } from "./customNames.ts";
import { usualEvents } from "./usualEvents.ts";

/** `AddToCart`, `add-to-cart` and `add_to_cart` are one event. */
export function foldName(name: string): string {
  let folded = foldedNames.get(name);
  if (folded === undefined) {
    folded = name.toLowerCase().replace(/[\s_/\p{Pd}]+/gu, "");
    // Senders choose the names: a new one with every event must not fill the memory.
    if (foldedNames.size >= maxNames) foldedNames.clear();
    foldedNames.set(name, folded);
  }
  return folded;
}

/** Every platform folds the name of every conversion several times, and there are few names. */
const foldedNames = new Map<string, string>();
const maxNames = 1000;

/** The usual events by each of their folded names. */
const usualByName = new Map(
  Object.entries(usualEvents).flatMap(([usual, others]) => [usual, ...others].map((name) => [foldName(name), usual] as const)),
);

/** Returns the usual event that a name stands for: `purchase` for `Order Completed`; null for other names. */
export function usualEventOf(name: string): string | null {
  return usualByName.get(foldName(name)) ?? null;
}

const foldedStandards = new WeakMap<EventNames["standard"], Map<string, string>>();

function standardName(name: string, { standard }: EventNames): string | undefined {
  let names = foldedStandards.get(standard);
  if (!names) {
    names = new Map(Object.entries(standard).map(([ours, theirs]) => [foldName(ours), theirs]));
    foldedStandards.set(standard, names);
  }
  return names.get(foldName(name));
}

export const nameSetting = (event: string) => `event.${foldName(event)}`;

/**
 * Returns the setting that chooses the name of an event: its own, else that of the usual event. So `event.lead` applies to
 * `generate_lead` too, unless there is an `event.generate_lead`.
 */
export function chosenSetting(event: string, settings: ConnectionSettings): string | null {
  const own = nameSetting(event);
  if (settings[own] !== undefined) return own;
  const usual = usualEventOf(event);
  const shared = usual === null ? own : nameSetting(usual);
  return settings[shared] === undefined ? null : shared;
}

export type ResolvedName = {
  /** The names or targets at the platform; none where the event has no name there. */
  names: readonly string[];
  /**
   * `choice`: of the connection, for this event. `default`: the connection's targets for all other events. `custom`: a name
   * that is not one of the platform's own.
   */
  by: "choice" | "standard" | "default" | "custom" | "none";
  /** The usual event that the name was taken for, where it is another one. */
  usual: string | null;
};

/** Finds the platform's name for an event, and says why it is that one. */
export function resolveName(name: string, settings: ConnectionSettings, names: EventNames): ResolvedName {
  const own = name.trim();
  const known = usualEventOf(own);
  const usual = known === null || foldName(known) === foldName(own) ? null : known;
  const setting = chosenSetting(own, settings);
  if (setting !== null)
    return {
      names: splitTargets(settings[setting] ?? "", names),
      by: "choice",
      usual: setting === nameSetting(own) ? null : usual,
    };
  const ofOwnName = standardName(own, names);
  if (ofOwnName !== undefined) return { names: [ofOwnName], by: "standard", usual: null };
  const ofUsual = usual === null ? undefined : standardName(usual, names);
  if (ofUsual !== undefined) return { names: [ofUsual], by: "standard", usual };
  const targets = splitTargets(settings[names.defaultSetting ?? ""] ?? "", names);
  if (targets.length > 0) return { names: targets, by: "default", usual: null };
  if (names.others === "not sent") return { names: [], by: "none", usual: null };
  if (names.others !== "own name") return { names: [names.others.name], by: "custom", usual: null };
  return { names: [fitName(known ?? own, names.customNames)], by: "custom", usual };
}

/** `7001, 7002` is two targets, where the platform has several for an event. */
function splitTargets(chosen: string, { several }: EventNames): string[] {
  const targets = several ? chosen.split(",").map((one) => one.trim()) : [chosen];
  return [...new Set(targets.filter(Boolean))];
}

/** Says in one sentence under which name an event is sent, and why. */
export function describeName(name: string, { names, by, usual }: ResolvedName, platform: string): string {
  const list = names.join(" and ");
  const event = name.trim();
  if (by === "none") return say("event_without_name", { platform, event });
  const reasons = {
    choice: usual ? say("name_chosen_for", { usual }) : "the connection's choice",
    standard: usual ? say("name_of_platform_for", { platform, usual }) : say("name_of_platform", { platform }),
    default: "the connection's default",
    custom: say(usual ? "name_usual" : "name_custom", { platform }),
  };
  return say("event_sent_as", { event, names: list, reason: reasons[by] });
}

type KnownNames = { of: EventNames; names: Map<string, readonly string[]> };
const namesBySettings = new WeakMap<ConnectionSettings, KnownNames>();

/** Returns the platform's names or targets for an event; none when the platform has no name and the connection chose none. */
export function eventNamesOf(
  { name }: Pick<Conversion, "name">,
  settings: ConnectionSettings,
  names: EventNames,
): readonly string[] {
  let known = namesBySettings.get(settings);
  if (known?.of !== names) {
    known = { of: names, names: new Map() };
    namesBySettings.set(settings, known);
  }
  let found = known.names.get(name);
  if (found === undefined) {
    found = resolveName(name, settings, names).names;
    if (known.names.size >= maxNames) known.names.clear();
    known.names.set(name, found);
  }
  return found;
}

/** Returns the platform's only name for an event; null when the platform has none and the connection chose none. */
export function eventNameOf(
  conversion: Pick<Conversion, "name">,
  settings: ConnectionSettings,
  names: EventNames,
): string | null {
  return eventNamesOf(conversion, settings, names)[0] ?? null;
}

const maxTargets = 5;

/** Says what is wrong with a connection's choice of a name; null when it is fine. */
export function nameFault(chosen: string, names: EventNames): string | null {
  const { choices, customNames, check } = names;
  const targets = splitTargets(chosen, names);
  if (targets.length === 0) return "must be at least one name";
  if (targets.length > maxTargets) return say("must_be_at_most_targets", { max: maxTargets });
  for (const one of targets) {
    if (choices && !choices.includes(one)) return say("must_be_one_of", { known: choices.join(", ") });
    const fault = check?.(one) ?? nameRuleFault(one, customNames);
    if (fault) return fault;
  }
  return null;
}
