// Reads the bodies that senders write: JSON with long ids kept exact, forms, multipart forms, and SOAP messages. Every reader is
// bounded, and gives plain objects, lists and texts.

import { isUtf8 } from "node:buffer";
import { SaxesParser } from "saxes";

export type BodyFormat = "json" | "form" | "multipart" | "soap";

export const maxSourceBytes = 1024 * 1024;
const maxFields = 2000;
const maxDepth = 100;

/** `null` where the body cannot be read; only of a multipart form a promise. `jsonFields` are fields of a form that hold JSON. */
export function readSourceBody(
  bytes: Buffer,
  contentType: string,
  formats: readonly BodyFormat[],
  jsonFields: readonly string[] = [],
): unknown {
  const format = formatOf(contentType, formats);
  if (format === null || !isUtf8(bytes)) return null;
  const all = bytes.toString("utf8");
  const text = all.startsWith("\uFEFF") ? all.slice(1) : all;
  switch (format) {
    case "json":
      return readJson(text);
    case "form":
      return withJson(readForm(text), jsonFields);
    case "multipart":
      return readMultipart(bytes, contentType).then((fields) => withJson(fields, jsonFields));
    case "soap":
      return readXml(text);
  }
}

/** A sender that says nothing, or something vague, uses its first format. */
function formatOf(contentType: string, formats: readonly BodyFormat[]): BodyFormat | null {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const named: BodyFormat | null =
    type === "application/json" || type.endsWith("+json")
      ? "json"
      : type === "application/x-www-form-urlencoded"
        ? "form"
        : type === "multipart/form-data"
          ? "multipart"
          : type === "text/xml" || type.endsWith("/xml") || type.endsWith("+xml")
            ? "soap"
            : null;
  if (named !== null) return formats.includes(named) ? named : null;
  return type === "" || type === "text/plain" || type === "application/octet-stream" ? (formats[0] ?? null) : null;
}

/** Numbers of so many digits are rounded by JSON.parse. */
const longDigits = 16;
/** Outside of strings: whole numbers, and not the digits of others. */
const longIntegers = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** Of so many digits in a row one is at every sixteenth place, so that few characters need to be looked at. */
function hasLongNumber(text: string): boolean {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(text, at)) continue;
    let first = at;
    while (isDigit(text, first - 1)) first -= 1;
    while (isDigit(text, at + 1)) at += 1;
    if (at - first + 1 >= longDigits) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/**
 * Two orders whose ids are rounded to the same number would count as one, so that long integers stay texts. Reading them costs
 * six times as much, and few bodies have any.
 */
export function readJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return hasLongNumber(text) ? JSON.parse(quoteLongNumbers(text)) : value;
  } catch {
    return null;
  }
}

/** Puts quotes around long integers. Those within strings stay as they are. */
function quoteLongNumbers(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    if (end - at >= longDigits) {
      const outside = text.slice(at, end);
      parts.push(text.slice(done, at), outside.replace(longIntegers, '"$&"'));
      done = end;
    }
    at = quote < 0 ? end : endOfString(text, quote);
  }
  parts.push(text.slice(done));
  return parts.join("");
}

/** `begin` is the place of its first quote. A quote after an odd number of backslashes belongs to the string. */
function endOfString(text: string, begin: number): number {
  for (let quote = text.indexOf('"', begin + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === "\\") first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Objects without a prototype: a field may have any name, also `__proto__`. */
const newFields = () => Object.create(null) as Record<string, unknown>;

function addField(fields: Record<string, unknown>, name: string, value: string): void {
  const known = fields[name];
  if (known === undefined) fields[name] = value;
  else if (Array.isArray(known)) known.push(value);
  else fields[name] = [known, value];
}

function readForm(text: string): Record<string, unknown> | null {
  const fields = newFields();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if ((count += 1) > maxFields) return null;
    addField(fields, name, value);
  }
  return count > 0 ? fields : null;
}

async function readMultipart(bytes: Buffer, contentType: string): Promise<Record<string, unknown> | null> {
  const [, quoted, bare] = /boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined || countOf(bytes, `--${boundary}`) > maxFields) return null;
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData();
    const fields = newFields();
    // Files are of no use here.
    for (const [name, value] of form) if (typeof value === "string") addField(fields, name, value);
    return fields;
  } catch {
    return null;
  }
}

function countOf(bytes: Buffer, mark: string): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0 && count <= maxFields; at = bytes.indexOf(mark, at + mark.length)) count += 1;
  return count;
}

function withJson(fields: Record<string, unknown> | null, names: readonly string[]): Record<string, unknown> | null {
  for (const name of fields ? names : []) {
    const text = fields?.[name];
    if (fields && typeof text === "string") fields[name] = readJson(text) ?? text;
  }
  return fields;
}

/**
 * Reads XML as objects: an element with children becomes an object, one without its text, and repeated elements a list. Prefixes
 * of names are left out. A document type, with which a short text could stand for a long one, is refused.
 */
export function readXml(text: string): Record<string, unknown> | null {
  const parser = new SaxesParser({ fragment: false });
  type Element = { name: string; children: Record<string, unknown> | null; text: string };
  const top: Element = { name: "", children: null, text: "" };
  const open: Element[] = [top];
  let count = 0;
  const refuse = (why: string) => {
    throw new Error(why);
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("doctype", () => refuse("document type"));
  parser.on("opentag", ({ name }) => {
    if ((count += 1) > maxFields * 5 || open.length > maxDepth) refuse("too large");
    open.push({ name: name.slice(name.indexOf(":") + 1), children: null, text: "" });
  });
  const addText = (part: string) => {
    const element = open.at(-1);
    if (element) element.text += part;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    const closed = open.pop();
    const parent = open.at(-1);
    if (!closed || !parent) return;
    parent.children ??= newFields();
    const value = closed.children ?? closed.text;
    const known = parent.children[closed.name];
    if (known === undefined) parent.children[closed.name] = value;
    else if (Array.isArray(known)) known.push(value);
    else parent.children[closed.name] = [known, value];
  });
  try {
    parser.write(text).close();
  } catch {
    return null;
  }
  return top.children;
}
