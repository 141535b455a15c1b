// Finds which of thousands of patterns matches a text, in one pass over it. `*` stands for anything: the parts between the stars have to
// come one after another. The parts of all patterns are in one tree, and a pattern waits for one of its parts at a time. So neither many
// patterns nor many stars are slow, whatever the text is.

/** A part of a pattern. Steps that wait for the same part, or from the same position of the text, are linked. */
type Step = { part: Branch; next: Step | null; index: number; link: Step | null };

type Branch = {
  /** What it adds to the branch before. */
  text: string;
  branches: Map<number, Branch> | null;
  /** The first steps of patterns, which wait for it in every pass. */
  first: Step | null;
  /** All steps that wait for it, if `pass` is the current one. */
  waiting: Step | null;
  pass: number;
};

const newBranch = (text: string): Branch => ({ text, branches: null, first: null, waiting: null, pass: 0 });

/** Yields after each pattern. What it returns finds the first pattern that matches a text. */
export function* compilePatterns(patterns: readonly string[]): Generator<undefined, (text: string) => string | undefined> {
  const root = newBranch("");
  for (const [index, pattern] of patterns.entries()) {
    let step: Step | null = null;
    for (const text of pattern.toLowerCase().split("*").toReversed())
      if (text !== "") step = { part: grow(root, text), next: step, index, link: null };
    if (step) {
      step.link = step.part.first;
      step.part.first = step;
    }
    yield;
  }
  const match = createMatcher(root);
  return (text) => patterns[match(text.toLowerCase())];
}

/** Returns the branch that ends with the text. */
function grow(root: Branch, text: string): Branch {
  let branch = root;
  for (let at = 0; at < text.length;) {
    const branches = (branch.branches ??= new Map());
    const code = text.charCodeAt(at);
    const next = branches.get(code) ?? newBranch(text.slice(at));
    let same = 1;
    while (same < next.text.length && next.text.charCodeAt(same) === text.charCodeAt(at + same)) same += 1;
    branch = same < next.text.length ? divide(next, same) : next;
    branches.set(code, branch);
    at += same;
  }
  return branch;
}

/** Returns a branch of the first characters, from which the other ones branch. */
function divide(branch: Branch, length: number): Branch {
  const before = newBranch(branch.text.slice(0, length));
  branch.text = branch.text.slice(length);
  before.branches = new Map([[branch.text.charCodeAt(0), branch]]);
  return before;
}

/** Returns the index of the pattern; Infinity if none matches. */
function createMatcher(root: Branch): (text: string) => number {
  let pass = 0;

  const waitingFor = (part: Branch) => (part.pass === pass ? part.waiting : part.first);
  function setWaiting(part: Branch, step: Step | null): void {
    part.pass = pass;
    part.waiting = step;
  }

  return (text) => {
    pass += 1;
    let found = Infinity;
    /** By position. */
    const waitingFrom: (Step | undefined)[] = [];
    for (let at = 0; at < text.length; at += 1) {
      for (let step = waitingFrom[at] ?? null; step;) {
        const { link, part } = step;
        step.link = waitingFor(part);
        setWaiting(part, step);
        step = link;
      }
      let part = root.branches?.get(text.charCodeAt(at));
      for (let end = at; part && text.startsWith(part.text, end); part = part.branches?.get(text.charCodeAt(end))) {
        end += part.text.length;
        for (let step = waitingFor(part); step; step = step.link) {
          const { next, index } = step;
          if (next) {
            next.link = waitingFrom[end] ?? null;
            waitingFrom[end] = next;
          } else found = Math.min(found, index);
        }
        setWaiting(part, null);
      }
    }
    return found;
  };
}
