// Says what the schema finds wrong with a file, in sentences for people, with what was probably meant.

import { z } from "zod";
import { didYouMean, findNearest } from "../kernel/text.ts";
import { maxFaults, type FileFault, type Path } from "./document.ts";
import type { Planning } from "./planning.ts";

export type Issue = {
  issue: z.core.$ZodIssue;
  path: Path;
  /** The fields that are known where the issue is about unknown ones. */
  known: readonly string[];
};

/** Reads a value, and lists what is wrong with it. */
export async function findIssues<T>(
  schema: z.ZodType<T>,
  value: unknown,
  rest: Planning["rest"],
): Promise<{ data: T } | { issues: Issue[] }> {
  const knownFields = new WeakMap<object, readonly string[]>();
  const result = schema.safeParse(value, {
    // An issue does not name the known fields; its schema does, which is gone afterwards.
    error({ code, input, inst }) {
      if (code === "unrecognized_keys" && inst instanceof z.ZodObject && typeof input === "object" && input !== null)
        knownFields.set(input, Object.keys(inst.shape));
      return undefined;
    },
  });
  await rest();
  if (result.success) return { data: result.data };
  return {
    // More are not read. Of a part that has so many, misspelled fields may be named as missing ones.
    issues: result.error.issues
      .slice(0, maxFaults)
      .flatMap(narrow)
      .map((issue) => {
        const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
        const node = valueAt(value, path);
        return { issue, path, known: (isContainer(node) && knownFields.get(node)) || [] };
      }),
  };
}

/** A value that may have several forms: says what is wrong with the form that it has. */
function narrow(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const isOtherForm = ({ code, path }: z.core.$ZodIssue) => path.length === 0 && code !== "unrecognized_keys";
  const forms = issue.errors.filter((found) => !found.some(isOtherForm));
  const [form] = forms;
  if (!form || forms.length > 1) return [issue];
  return form.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(narrow);
}

type Container = Record<string, unknown> | unknown[];
export const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((node, part) => (isContainer(node) && Object.hasOwn(node, part) ? Reflect.get(node, part) : undefined), value);

/** A file of thousands of unknown names is no file with misspelled ones. */
export const maxSuggestions = 100;

/** Returns the faults of an issue. `meant` is the field that a misspelled one probably is. */
export function faultsOf({ issue, path, known }: Issue, value: unknown): (FileFault & { meant?: Path })[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key, i) => {
      // One that is there already was not misspelled.
      const absent = known.filter((one) => !isContainer(value) || !Object.hasOwn(value, one));
      const meant = i < maxSuggestions ? findNearest(key, absent) : null;
      return {
        path: [...path, key],
        message: ["is not a known field.", didYouMean(meant)].filter(Boolean).join(" "),
        ...(meant !== null && { meant: [...path, meant] }),
      };
    });
  return [{ path, message: [sentenceOf(issue), didYouMean(meantChoice(issue, value))].filter(Boolean).join(" ") }];
}

/** Returns the one of a closed set of values that a wrong one probably is. */
export function meantChoice(issue: z.core.$ZodIssue, value: unknown): string | null {
  const choices = choicesOf(issue);
  return choices && typeof value === "string" && value !== "" ? findNearest(value, choices) : null;
}

function choicesOf(issue: z.core.$ZodIssue): string[] | null {
  if (issue.code === "invalid_value") return issue.values.map(String);
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options)) return issue.options.map(String);
  return null;
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (message.endsWith("received undefined")) return "is required.";
  const isOurs = !/^(?:Invalid|Too|Unrecognized) /.test(message);
  return `${isOurs ? message : describe(issue)}.`;
}

/** Names the forms of values as people write them. A field without a value is an empty text. */
const forms: Readonly<Record<string, string>> = {
  array: "must be a list; write [] for an empty one",
  object: "must have fields of its own; write {} for none",
  record: "must have fields of its own; write {} for none",
  string: "must be a single text",
};

function describe(issue: z.core.$ZodIssue): string {
  const choices = choicesOf(issue);
  if (choices) return `must be one of ${choices.join(", ")}`;
  if (issue.code === "invalid_type") return forms[issue.expected] ?? `must be a ${issue.expected}`;
  const unit = "origin" in issue && issue.origin === "array" ? "entries" : "characters";
  if (issue.code === "too_small")
    return issue.minimum === 1
      ? unit === "entries"
        ? "must have at least one entry"
        : "must not be empty"
      : `must have at least ${issue.minimum} ${unit}`;
  if (issue.code === "too_big") return `must have at most ${issue.maximum} ${unit}`;
  return issue.message;
}
