// Defines a planned change, and what the parts of a comparison share.

import { hash, timingSafeEqual } from "node:crypto";
import type { Access } from "../access/access.ts";
import type { AllowList } from "../delivery/addresses.ts";
import type { threadShare } from "../kernel/concurrency.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { english } from "../kernel/messages/message.ts";
import { didYouMean, findNearest } from "../kernel/text.ts";
import type { Site } from "../sites/directory.ts";
import type { SiteContext } from "../sites/manage.ts";
import { maxFaults, type FileFault, type Path } from "./document.ts";

/** The parts of a file that a caller may see and change besides settings, connections and webhooks. */
export type FileRights = { keys: boolean; members: boolean; siteDeletion: boolean };

/** The command line and a start with a file: access to the server counts as owner of the installation. */
export const operatorRights: FileRights = { keys: true, members: true, siteDeletion: true };

export type ConfigurationContext = SiteContext & {
  access: Pick<Access, "members" | "invitations">;
  allowPrivate: AllowList;
  exportFolder: string | null;
  rights: FileRights;
  /** The stored configuration is not known: what is only a fault with another one is none. */
  isOffline?: true | undefined;
  /** Throws a refusal for a host that must not belong to a site. */
  checkHost?: (host: string) => void;
  by: By;
};

/** A value before and after a change, as it may be shown; null where there is none. */
export type ChangedLine = { name: string; before: string | null; after: string | null };

export type Change = {
  kind: "add" | "change" | "remove";
  /** The thing that changes, such as `connection meta 123 of shop.example.com`. */
  what: string;
  lines?: ChangedLine[];
  /** What the change deletes for good, as a sentence. */
  loss?: string | null;
  /** Makes the change. `say` gets what has to be shown once, such as the link of an invitation. */
  run: (say: (note: string) => void) => Promise<unknown>;
};

export type Plan = {
  changes: Change[];
  /** What exists and is not in the file. It stays, unless `prune` removes it. */
  unlisted: string[];
  /** What the file says and stays otherwise, as sentences with the reason. */
  notes: string[];
};

/** Carries the faults and findings of one comparison through its parts. */
export type Planning = {
  context: ConfigurationContext;
  prune: boolean;
  faults: FileFault[];
  unlisted: string[];
  notes: string[];
  isReference: (path: Path) => boolean;
  /** Lets others use the thread; called between two things of a list. */
  rest: ReturnType<typeof threadShare.begin>;
};

/**
 * A site of the file: `site` is null where it does not exist yet, or where its hosts do not say which one it is. `by` adds it and
 * its hosts.
 */
export type PlannedSite = { site: Site | null; isUnidentified: boolean; host: string; path: Path; by: By };

/** True where the file is refused with what was found: nobody reads more. */
export const hasManyFaults = ({ faults }: Pick<Planning, "faults">) => faults.length >= maxFaults;

type Removal = Pick<Change, "what" | "run"> & { loss: () => string | Promise<string> };

/** Two lists of one kind of things, each with a key that is equal for the same thing. */
type Comparison<Wanted, Existing> = {
  wanted: Iterable<readonly [key: string, Wanted]>;
  existing: Iterable<readonly [key: string, Existing]>;
  /** Plans to add what does not exist, or to change what differs. */
  plan: (wanted: Wanted, existing: Existing | undefined) => Change[] | Promise<Change[]>;
  remove: (existing: Existing) => Removal;
  /** How many there may be, and the field of the file that lists them. */
  limit?: { max: number; path: Path };
};

/** Plans what makes the existing things equal to the wanted ones. What is not wanted stays, unless the caller prunes. */
export async function reconcile<Wanted, Existing>(
  planning: Planning,
  { wanted, existing, plan, remove, limit }: Comparison<Wanted, Existing>,
): Promise<Change[]> {
  const { prune, faults, unlisted, rest } = planning;
  const changes: Change[] = [];
  const known = [...existing];
  // The first of two with the same key counts.
  const present = new Map(known.toReversed());
  const listed = new Set<string>();
  for (const [key, one] of wanted) {
    await rest();
    if (hasManyFaults(planning)) return changes;
    listed.add(key);
    changes.push(...(await plan(one, present.get(key))));
  }
  for (const [key, one] of known) {
    await rest();
    if (listed.has(key)) continue;
    const { what, loss, run } = remove(one);
    if (prune) changes.push({ kind: "remove", what, loss: await loss(), run });
    else unlisted.push(what);
  }
  // Nothing is removed before everything else is there.
  const count = known.length + listed.difference(present).size;
  if (limit && count > Math.max(limit.max, known.length))
    faults.push({
      path: limit.path,
      message: `would make ${count} together with those that exist: a site has at most ${limit.max}. Remove some first.`,
    });
  return changes;
}

export const mustBeReference =
  'is a secret: write it as a reference, ${NAME} for a variable or "@file" for the content of a file.';

/** A value and all those that it may have. */
type Choice = { given: string; choices: readonly string[] };

/** Runs a check that refuses bad values, and turns a refusal into a fault of the file, with the value that was probably meant. */
export function check<T>(
  { faults }: Pick<Planning, "faults">,
  place: Path | ((field: string) => Path),
  work: () => T,
  choiceOf?: (field: string) => Choice,
): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const { field, message: said } of error.faults ?? [{ field: error.field, message: error.said }]) {
      const path = typeof place === "function" ? place(field) : place;
      const message = english(said);
      // The place names the field already.
      const isNamed = path.at(-1) === (field.split(".").at(-1) ?? field) && message.startsWith(`${field} `);
      const sentence = isNamed ? message.slice(field.length + 1) : message;
      const { given, choices } = choiceOf?.(field) ?? { given: "", choices: [] };
      faults.push({ path, message: [sentence, didYouMean(findNearest(given, choices))].filter(Boolean).join(" ") });
    }
    return null;
  }
}

/** Compares secrets in a time that does not depend on their contents. */
export const isSameSecret = (one: string, other: string) =>
  timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));

export const shownSecret = "(secret)";
