import { expect, onTestFinished, test, vi } from "vitest";
import { cpuRatio } from "../../test/support/cpuTime.ts";
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

test("ids of a text that is nested deeply are read digit by digit as well", () => {
  const deep = 30_000;
  const exact = createExactFields(`{"orderId":98765432109876543210,"x":${"[".repeat(deep)}${"]".repeat(deep)}}`);
  expect(exact()?.orderId).toBe("98765432109876543210");
});

test("only the values of ids are read so, and no text that looks like one", () => {
  const fields = {
    orderId: 'say "orderId": 5',
    'my"id': 1,
    id: -1.5e2,
    ids: 1,
    name: '\\"id":7',
    leadId: "8",
    event: "id",
    refundId: null,
  };
  const text = JSON.stringify(fields, null, 2);
  expect(createExactFields(text)()).toEqual({ ...fields, id: "-150" });
  expect(createExactFields('{"id"\n:\t-0.10E+2,"phone":+1}'.replace("+1", "1"))()).toEqual({ id: "-0.10E+2", phone: "1" });
});

test("one id that is a number costs a few times what it costs to parse the body, whatever else the body holds", () => {
  const text = `{"events":[{"orderId":1}],"rest":[${"0,".repeat(500_000)}0]}`;
  const read = () => void createExactFields(text)();
  expect(cpuRatio(read, () => JSON.parse(text))).toBeLessThan(15);
});
