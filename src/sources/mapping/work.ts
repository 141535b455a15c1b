// What a mapping may cost. A mapping is text of one site, it runs on the thread that accepts the events of all sites, and a request may
// have 500 entries of which each reads a text of a megabyte: so the work of a request is counted, and ends when it is too much.

/** A mapping would take too long for a request. */
export class TooMuchWork extends Error {}

/** About ten nanoseconds each. The largest request of a real sender needs a third of it. */
const maxUnits = 2_000_000;

/** For each element of a list that is looked at, for each sign of a text that is searched for parts, and for each term. */
export const unitsOf = { element: 12, part: 6, term: 5 } as const;

export class Work {
  #left = maxUnits;
  readonly #tables = new Map<string, ReadonlyMap<string, string>>();

  /** To be called before the work, where its cost is known before. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooMuchWork("a mapping takes too long");
  }

  /** Lists the names of an object's fields. Those of a large object cost far more each. */
  fieldsOf(record: Readonly<Record<string, unknown>>): string[] {
    const names = Object.keys(record);
    this.spend(names.length * (names.length > 1000 ? 30 : 2));
    return names;
  }

  /** Reads a table once for a request: each of its entries looks into the same one. */
  tableOf(text: string, read: (text: string) => ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const known = this.#tables.get(text);
    if (known) return known;
    this.spend(text.length * unitsOf.part);
    const table = read(text);
    this.#tables.set(text, table);
    return table;
  }
}
