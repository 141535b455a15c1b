import { describe, expect, test } from "vitest";
import { Refusal } from "../kernel/refusal.ts";
import { chooseColumns, suggestFields } from "./columns.ts";

function refusal(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

describe("columns of conversions", () => {
  test("columns match fields by name, ignoring case, spaces and signs", () => {
    const columns = [
      "Order ID",
      "email_address",
      "Conversion Value",
      "CONVERSION CURRENCY",
      "Conversion Time",
      "Conversion-Name",
    ];
    expect(chooseColumns("conversions", columns, {}, [])).toEqual({
      mapping: {
        orderId: "Order ID",
        email: "email_address",
        value: "Conversion Value",
        currency: "CONVERSION CURRENCY",
        eventTime: "Conversion Time",
        event: "Conversion-Name",
      },
      unused: [],
    });
  });

  test("items are found by exactly their name, because similar columns hold counts and texts", () => {
    const columns = ["email", "event", "time", "Items", "line items", "item count"];
    expect(chooseColumns("conversions", columns, {}, [])).toMatchObject({
      mapping: { items: "Items" },
      unused: ["line items", "item count"],
    });
  });

  test("lead ids of a CRM are left out, and suggested to nobody", () => {
    const columns = ["email", "event", "time", "Lead ID", "lead_id"];
    expect(chooseColumns("conversions", columns, {}, []).unused).toEqual(["Lead ID", "lead_id"]);
    expect(chooseColumns("conversions", columns, { orderId: "Lead ID" }, []).mapping).not.toHaveProperty("leadId");
    const suggested = (all: readonly string[]) => suggestFields("conversions", all).find(({ name }) => name === "leadId");
    expect(suggested(columns)).toEqual({ name: "leadId", column: null });
    expect(suggested([...columns, "Meta lead ID"])).toEqual({ name: "leadId", column: "Meta lead ID" });
    expect(suggested([...columns, "leadId"])).toEqual({ name: "leadId", column: "leadId" });
    expect(chooseColumns("conversions", [...columns, "leadId"], { orderId: "leadId" }, []).mapping).not.toHaveProperty("leadId");
    expect(() => chooseColumns("identities", ["email", "gclid", "seen at"], {}, [])).not.toThrow();
  });

  test("--map overrides the guess and reserves its column; an empty column leaves a field out", () => {
    const columns = ["email", "total", "net", "time", "event", "phone"];
    const { mapping, unused } = chooseColumns("conversions", columns, { value: "Net", phone: "" }, []);
    expect(mapping).toMatchObject({ value: "net", email: "email" });
    expect(mapping).not.toHaveProperty("phone");
    expect(unused).toEqual(["total", "phone"]);
    // "date" would be guessed as the time, had it not been named as the order id.
    expect(() => chooseColumns("conversions", ["email", "event", "date"], { orderId: "date" }, [])).toThrow(/eventTime/);
  });

  test("a column named like the field wins over its aliases", () => {
    expect(chooseColumns("conversions", ["email", "mail", "event", "eventTime", "date"], {}, []).mapping).toMatchObject({
      email: "email",
      eventTime: "eventTime",
    });
  });

  test("two columns that could be the same field are refused by name", () => {
    const { field, message } = refusal(() => chooseColumns("conversions", ["email", "event", "Created at", "Paid at"], {}, []));
    expect(field).toBe("eventTime");
    expect(message).toBe("More than one column could be eventTime: Created at, Paid at. Choose one with --map eventTime=COLUMN.");
  });

  test("a missing field is named, with the columns of the file", () => {
    expect(refusal(() => chooseColumns("conversions", ["foo", "bar"], {}, [])).message).toBe(
      "No column was found for email (or hashed_email), event (or --event NAME for all rows), eventTime. " +
        "The file's columns: foo, bar. Name it with --map FIELD=COLUMN.",
    );
    expect(() => chooseColumns("conversions", ["hashed email", "date"], {}, ["event"])).not.toThrow();
  });

  test("unknown fields and columns of --map are refused by name", () => {
    expect(refusal(() => chooseColumns("conversions", ["email"], { price: "x" }, [])).message).toMatch(
      /^price is not a field of conversions\. Fields: email, hashed_email, event,/,
    );
    expect(refusal(() => chooseColumns("conversions", ["email"], { value: "x" }, [])).message).toBe(
      'The column "x" for value is not in the file. Its columns: email.',
    );
    expect(refusal(() => chooseColumns("conversions", ["a", "a"], { value: "a" }, [])).message).toMatch(/more than once/);
  });
});

test("click ids, UTM fields and browser ids are columns of an identity import", () => {
  const columns = ["E-Mail", "GCLID", "utm source", "_fbp", "ScCid", "li_fat_id", "click time", "Consent"];
  expect(chooseColumns("identities", columns, {}, []).mapping).toEqual({
    email: "E-Mail",
    gclid: "GCLID",
    utm_source: "utm source",
    _fbp: "_fbp",
    ScCid: "ScCid",
    li_fat_id: "li_fat_id",
    seenAt: "click time",
    consent: "Consent",
  });
});

test("a visit needs a time, consent needs none, and a file needs columns for at least one of both", () => {
  expect(chooseColumns("identities", ["email", "consent"], {}, []).mapping).toEqual({
    email: "email",
    consent: "consent",
  });
  expect(() => chooseColumns("identities", ["email", "consent", "date"], { seenAt: "" }, [])).not.toThrow();
  expect(refusal(() => chooseColumns("identities", ["email", "consent", "gclid"], {}, [])).message).toMatch(
    /^No column was found for seenAt\. /,
  );
  expect(refusal(() => chooseColumns("identities", ["email", "date"], {}, [])).message).toMatch(
    /^No column was found for a click id, a UTM field, a browser id or consent\. /,
  );
});
