import { describe, expect, test } from "vitest";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import { restOfRefund } from "./refundRest.ts";

const event = (name: string, value: number | null, currency = "EUR") => ({ name, value, currency }) as StoredEvent;
const sale = event("purchase", 49.9);
const refund = (value: number | null, currency = "EUR") => event("refund", value, currency);
const rest = (value: number | null, order: readonly StoredEvent[], { currency = "EUR", isSum = false } = {}) => {
  const found = restOfRefund({ value, currency, isSum }, order);
  return typeof found === "string" ? found : found.value;
};

describe("of a refund counts", () => {
  test.each<[string, number | null, StoredEvent[], ReturnType<typeof rest>]>([
    ["its amount", 10, [sale], 10],
    ["no more than is left of the order", 40, [sale, refund(10), refund(0.1)], 39.8],
    ["nothing where all of it was refunded", 49.9, [sale, refund(10), refund(39.9)], "nothing"],
    ["nothing after a refund of the whole", 5, [sale, refund(null)], "nothing"],
    ["its amount where the order is not known", 40, [refund(40)], 40],
    ["its amount where the order has no value", 40, [event("schedule", null)], 40],
    ["its amount where the value of the order is 0", 40, [event("purchase", 0)], 40],
    ["its amount where the order has another currency", 40, [event("purchase", 30, "USD"), refund(10, "USD")], 40],
    ["nothing where all of another currency was refunded", 40, [event("purchase", 30, "USD"), refund(30, "USD")], "nothing"],
    ["its part of two people's orders with one id", 60, [sale, event("purchase", 20)], 60],
    ["its part of an order with two names, once", 60, [sale, event("subscribe", 20)], 49.9],
    ["its amount where people paid in two currencies", 60, [sale, event("purchase", 20, "USD")], 60],
  ])("%s", (_, value, order, expected) => expect(rest(value, order)).toBe(expected));

  test("of a sum what is not counted yet, and no more than is left", () => {
    expect(rest(15, [sale, refund(10)], { isSum: true })).toBe(5);
    expect(rest(10, [sale, refund(10)], { isSum: true })).toBe("nothing");
    expect(rest(99, [sale, refund(10)], { isSum: true })).toBe(39.9);
    expect(rest(15, [refund(10)], { isSum: true })).toBe(5);
    expect(rest(15, [refund(10, "USD")], { isSum: true })).toBe(15);
  });

  test("of a cancellation all that is left", () => {
    expect(restOfRefund({ value: null, currency: "USD", isSum: false }, [sale, refund(10)])).toEqual({
      value: 39.9,
      currency: "EUR",
    });
    expect(restOfRefund({ value: null, currency: "USD", isSum: false }, [sale])).toEqual({ value: 49.9, currency: "EUR" });
    expect(rest(null, [])).toBeNull();
    expect(rest(null, [event("schedule", null)])).toBeNull();
    expect(rest(null, [refund(10)])).toBe("unknown order");
    expect(rest(null, [sale, refund(10, "USD")])).toBe("nothing");
    expect(rest(null, [sale, refund(49.9)])).toBe("nothing");
  });
});
