import { expect, test } from "vitest";
import { changeTexts, english, inEnglish, say, toJson, withoutMarks, withoutMarksInJson } from "./message.ts";

const packed = (json: string) => `\u0001${json}\u0002`;

test.each([
  "",
  "null",
  "[]",
  "{",
  '{"code":"no_such_code"}',
  '{"code":"constructor"}',
  '{"code":"needs_reconnection","parameters":null}',
  '{"code":"needs_reconnection","parameters":{"reason":null}}',
  '{"code":"needs_reconnection","parameters":{"reason":{"a":1}}}',
  '{"code":"needs_reconnection","parameters":{"reason":[1]}}',
])("a sender's text that only has the marks, around %j, stays as it is", (json) => {
  const text = `before ${packed(json)} after`;
  expect(english(text)).toBe(text);
  expect(JSON.parse(toJson({ name: text }))).toEqual({ name: text });
  expect(inEnglish({ name: text })).toEqual({ name: text });
  expect(changeTexts(text, (part) => part.toUpperCase())).toBe(text);
});

test("a message is written as a sentence, also as a parameter of another one", () => {
  const inner = say("needs_reconnection", { reason: "HTTP 401" });
  expect(english(`now: ${say("needs_reconnection", { reason: inner })}`)).toBe(
    "now: needs reconnection: needs reconnection: HTTP 401",
  );
});

test("a foreign text cannot be a message once its marks are removed", () => {
  const forged = say("needs_reconnection", { reason: "forged" });
  expect(withoutMarks(`a ${forged} b`)).toBe('a {"code":"needs_reconnection","parameters":{"reason":"forged"}} b');
  for (const json of [JSON.stringify({ error: forged }), `{"error":"${forged.replaceAll('"', "'")}"}`]) {
    const { error } = JSON.parse(withoutMarksInJson(json)) as { error: string };
    expect(english(error)).toBe(error);
    expect(withoutMarks(error)).toBe(error);
  }
  // A backslash that is itself escaped is followed by ordinary letters.
  expect(JSON.parse(withoutMarksInJson('"a\\\\u0001"'))).toBe("a\\u0020");
});
