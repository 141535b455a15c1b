// Collects what the check finds: each kind of fault once, with the number of rows, the first of them, and what to do.

/** `example` names the first row of this kind. */
export type Inconsistency = { what: string; count: number; example: string; advice: string };

/** What an operator can do, by the consequence of the fault. */
const advice = {
  orphaned: "These rows have no effect; a backup may have what is missing here.",
  unsendable: "They are never sent: restore a backup, or report these conversions to the platforms in another way.",
  resendable: "A platform may get these conversions twice, and recognises them by their id; restore a backup if it must not.",
  uncounted: "Platforms may take them for another conversion of the same order: restore a backup, or report them in another way.",
  repeatable: "A sender that repeats these orders is not refused; restore a backup, or let no sender repeat them.",
  refusable: "New orders may be refused as duplicates until these claims expire; restore a backup, or wait.",
  unreadable: "The relay leaves these rows out; enter the values again, or restore a backup.",
  undecryptable: "Enter the values again, or restore a backup together with its encryption key.",
  miscounted: "Charts and periods show these numbers; restore a backup if they matter. Nothing is sent because of them.",
  missable: "An erasure or a purge may miss these rows: restore a backup.",
  misconfigured: "Enter this part of the configuration again, or restore a backup.",
  broken: "Stop the relay and restore a backup; the disk may be failing.",
} as const;
type Advice = keyof typeof advice;

/** Selects faulty rows, each as `example`. */
export type FaultQuery = { what: string; advice: Advice; sql: string };

export class Faults {
  readonly #found = new Map<string, Inconsistency>();

  add(what: string, kind: Advice, example: string, count = 1): void {
    const known = this.#found.get(what);
    if (known) known.count += count;
    else if (count > 0) this.#found.set(what, { what, count, example, advice: advice[kind] });
  }

  list(): Inconsistency[] {
    return [...this.#found.values()];
  }
}

/** Deleted sites, and those that are moved: rows of them may be missing here, because they are purged or not written yet. */
export const incompleteSites = `SELECT site_id FROM deleted_sites UNION SELECT site_id FROM site_moves
  WHERE state IN ('arriving', 'moved')`;
