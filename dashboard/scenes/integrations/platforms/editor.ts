// The state that the tabs of a platform's page share: a connection, or a new one, and its unsaved changes.

import { useState } from "react";
import { useUnsaved, type Place } from "../../../common/forms/unsaved.ts";
import type { Connection, Platform } from "../connections.tsx";

export type Editor = {
  site: string;
  platform: Platform;
  /** Null until it is connected. */
  connection: Connection | null;
  draft: Draft;
  /** A finished sign-in that is not saved yet. */
  signIn: string | null;
  mayChange: boolean;
  /** What is wrong with a setting, by its name. */
  fault: (name: string) => string | null;
};

export type Changes = Record<string, string>;

type Draft = {
  changes: Changes;
  /** Null selects every event; undefined leaves the saved selection. */
  events: string[] | null | undefined;
  isChanged: boolean;
  /** The value after saving; blank for secrets, which are never shown. */
  valueOf: (name: string) => string;
  set: (name: string, value: string) => void;
  /** Removes a setting whose value is hidden: an empty field means unchanged. */
  remove: (name: string) => void;
  /** Leaves a setting as saved. */
  keep: (name: string) => void;
  setEvents: (events: string[] | null) => void;
  discard: () => void;
};

/** All tabs of a connection share its draft. */
const isSameConnection = (from: Place, to: Place) => {
  const connectionOf = ({ search }: Place) => (search as { connection?: string }).connection;
  return to.pathname.startsWith(from.pathname) && connectionOf(from) === connectionOf(to);
};

export function useDraft(platform: Platform, connection: Connection | null, initial: Changes): Draft {
  const [changes, setChanges] = useState(initial);
  const [events, setEvents] = useState<string[] | null | undefined>(undefined);
  const declared = (name: string) => platform.settings.find((one) => one.name === name);
  const isHidden = (name: string) => declared(name)?.secret === true || declared(name)?.address === true;
  const before = (name: string) => (isHidden(name) ? "" : (connection?.settings[name] ?? declared(name)?.default ?? ""));
  const isChanged = Object.keys(changes).length > 0 || events !== undefined;
  const forget = useUnsaved(isChanged, isSameConnection);
  return {
    changes,
    events,
    isChanged,
    valueOf: (name) => changes[name] ?? before(name),
    set: (name, value) => setChanges((all) => (value === before(name) ? without(all, name) : { ...all, [name]: value })),
    remove: (name) => setChanges((all) => ({ ...all, [name]: "" })),
    keep: (name) => setChanges((all) => without(all, name)),
    setEvents: (next) => setEvents(isSame(next, connection?.events ?? null) ? undefined : next),
    discard: () => {
      forget();
      setChanges({});
      setEvents(undefined);
    },
  };
}

const without = (changes: Changes, name: string): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([one]) => one !== name));

const isSame = (one: readonly string[] | null, other: readonly string[] | null) => JSON.stringify(one) === JSON.stringify(other);

/** Replaces names of settings in a message by their labels. */
export function withLabels(message: string, { settings }: Platform): string {
  const labels = new Map(settings.map(({ name, label }) => [name, label]));
  return message.replace(/\b[a-z0-9_]+\b/g, (word) =>
    word.includes("_") || message.startsWith(`${word} `) ? (labels.get(word) ?? word) : word,
  );
}

/** The setting that the relay's name of a field means. */
export const settingOf = (field: string): string => field.replace(/^settings\./, "");

/** The tab with the field of a setting; null if there is none. */
export function tabOf(name: string, platform: Platform): string | null {
  if (name === "events" || name.startsWith("event.") || name.startsWith("value.")) return "events";
  if (name.startsWith("map.")) return "mapping";
  return platform.settings.some((one) => one.name === name) ? "connection" : null;
}
