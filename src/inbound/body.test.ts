import { expect, onTestFinished, test, vi } from "vitest";
import { createExactFields } from "./body.ts";

/** Counts the calls of JSON.parse until the test ends. */
function countParses() {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  return () => parse.mock.calls.length;
}

test("ids that are numbers are read digit by digit, and the text is parsed once for all events of a batch", () => {
  const exact = createExactFields('{"events":[{"orderId":98765432109876543210,"items":[{"id":1.0}],"value":1.50}]}');
  const parses = countParses();
  for (let i = 0; i < 3; i++)
    expect(exact()).toEqual({
      events: [{ orderId: "98765432109876543210", items: [{ id: "1.0" }], value: 1.5 }],
    });
  expect(parses()).toBe(1);
});

test("a text that is nested too deeply to be read so is parsed once, not for each event of a batch", () => {
  const deep = 30_000;
  const exact = createExactFields(`{"orderId":1,"x":${"[".repeat(deep)}${"]".repeat(deep)}}`);
  const parses = countParses();
  for (let i = 0; i < 3; i++) expect(exact()).toBeUndefined();
  expect(parses()).toBe(1);
});
