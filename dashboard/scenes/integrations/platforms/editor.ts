// The state that the tabs of a platform's page share: a connection, or a new one, and its unsaved changes.

import { useState } from "react";
import type { ApiError } from "../../../common/api/api.ts";
import { fieldError } from "../../../common/fields.ts";
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
  /** The error of the last save. */
  error: ApiError | null;
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

export function useDraft(platform: Platform, connection: Connection | null, initial: Changes): Draft {
  const [changes, setChanges] = useState(initial);
  const [events, setEvents] = useState<string[] | null | undefined>(undefined);
  const declared = (name: string) => platform.settings.find((one) => one.name === name);
  const isHidden = (name: string) => declared(name)?.secret === true || declared(name)?.address === true;
  const before = (name: string) => (isHidden(name) ? "" : (connection?.settings[name] ?? declared(name)?.default ?? ""));
  return {
    changes,
    events,
    isChanged: Object.keys(changes).length > 0 || events !== undefined,
    valueOf: (name) => changes[name] ?? before(name),
    set: (name, value) => setChanges((all) => (value === before(name) ? without(all, name) : { ...all, [name]: value })),
    remove: (name) => setChanges((all) => ({ ...all, [name]: "" })),
    keep: (name) => setChanges((all) => without(all, name)),
    setEvents: (next) => setEvents(isSame(next, connection?.events ?? null) ? undefined : next),
    discard: () => {
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

/** The error of one setting. */
export function settingFault(error: ApiError | null, name: string, platform: Platform): string | null {
  const fault = fieldError(error, name, `settings.${name}`);
  return fault === null ? null : withLabels(error?.message ?? fault, platform);
}

/** The tab with the field that an error names; null if there is none. */
export function tabOfFault({ field }: ApiError, platform: Platform): string | null {
  const name = (field ?? "").replace(/^settings\./, "");
  if (name === "events" || name.startsWith("event.") || name.startsWith("value.")) return "events";
  if (name.startsWith("map.")) return "mapping";
  return platform.settings.some((one) => one.name === name) ? "connection" : null;
}
