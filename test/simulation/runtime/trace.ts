// The trace of a run: one line for everything that happens, in order. Its hash tells two runs apart. The lines themselves are
// kept only when they are asked for.

export class Trace {
  readonly lines: string[] | null;
  #one = 0x811c9dc5;
  #other = 0x01000193;
  #count = 0;

  constructor(isKept: boolean) {
    this.lines = isKept ? [] : null;
  }

  add(at: number, who: string, what: string): void {
    this.#mixNumber(at * 1000);
    this.mix(who);
    this.mix(what);
    this.#count += 1;
    this.lines?.push(`${at.toFixed(3)} ${who} ${what}`);
  }

  #mixNumber(number: number): void {
    this.#one = Math.imul(this.#one ^ (number | 0), 0x01000193);
    this.#other = Math.imul(this.#other ^ (number | 0), 0x85ebca6b);
  }

  /** Lets the hash depend on a text that is no line. FNV-1a with two primes: two hashes of 32 bits. */
  mix(text: string): void {
    let [one, other] = [this.#one, this.#other];
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x85ebca6b);
    }
    this.#one = one;
    this.#other = other;
  }

  /** The number of lines and 64 bits of their hash. */
  get hash(): string {
    const hex = (bits: number) => (bits >>> 0).toString(16).padStart(8, "0");
    return `${this.#count}-${hex(this.#one)}${hex(this.#other)}`;
  }
}
