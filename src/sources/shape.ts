// The shape of a request: the names of its fields, their types, and values that are masked. The field picker of the dashboard
// shows it; the request itself is not kept.

import { maskAndCut } from "../kernel/maskAddresses.ts";
import { isRecord } from "./mapping/functions.ts";

export type Shape = { path: string; type: "text" | "number" | "boolean" | "null" | "list" | "object"; sample: string };

const maxFieldsShown = 300;
const maxElementsShown = 3;
const maxPathLength = 300;

const bareName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
/** Forms may use what people entered as the name of a field. */
const step = (name: string) => (bareName.test(name) ? `.${name}` : `["${maskAndCut(name.replaceAll('"', ""), maxPathLength)}"]`);

/** Lists the fields of a body in the order in which they were written, each with the path that a mapping would use. */
export function shapeOf(body: unknown): Shape[] {
  const found: Shape[] = [];
  const waiting: { path: string; value: unknown }[] = [{ path: "", value: body }];
  while (waiting.length > 0 && found.length < maxFieldsShown) {
    const { path, value } = waiting.shift() as { path: string; value: unknown };
    if (path.length > maxPathLength) continue;
    if (Array.isArray(value)) {
      if (path !== "") found.push({ path, type: "list", sample: `${value.length}` });
      waiting.unshift(...value.slice(0, maxElementsShown).map((one, i) => ({ path: `${path}[${i}]`, value: one as unknown })));
    } else if (isRecord(value)) {
      const fields = Object.entries(value).slice(0, maxFieldsShown);
      waiting.unshift(
        ...fields.map(([name, one]) => ({ path: path + (path === "" ? step(name).replace(/^\./, "") : step(name)), value: one })),
      );
    } else found.push({ path, ...describe(value, path) });
  }
  return found;
}

function describe(value: unknown, path: string): Pick<Shape, "type" | "sample"> {
  if (value === null || value === undefined) return { type: "null", sample: "" };
  if (typeof value === "number") return { type: "number", sample: maskNumber(String(value)) };
  if (typeof value === "boolean") return { type: "boolean", sample: String(value) };
  const text = typeof value === "string" ? value : "";
  return { type: "text", sample: codeField.test(path) && codeWord.test(text) ? text : maskText(text) };
}

/** An amount says nothing about a person; a phone number does. */
const maskNumber = (digits: string) => (/^-?\d{1,6}(?:\.\d{1,4})?$/.test(digits) ? digits : `${digits.slice(0, 2)}…`);

/** Fields whose values are words of the sender's code, such as the type of an event, and help to write a condition. */
const codeField = /(?:^|[._])(?:type|event|topic|status|stage|action|mode|kind|entity|currency|reason)$|Event$|Type$|Status$/i;
const codeWord = /^[A-Za-z][A-Za-z0-9._/-]{0,59}$/;

export function maskText(text: string): string {
  const value = text.trim();
  if (value === "") return "";
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return maskNumber(value);
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(value)) return `${value.slice(0, 10)}…`;
  const at = value.indexOf("@");
  if (at > 0) return `${value.slice(0, 1)}…@${value.slice(at + 1, at + 2)}…`;
  return `${Array.from(value)[0]}…`;
}
