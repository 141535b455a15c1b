"use strict";

const { post } = require("../relay.js");

const field = (key, label, more = {}) => ({ key, label, type: "string", required: false, ...more });

const conversion = {
  key: "conversion",
  noun: "Conversion",
  display: { label: "Send Conversion", description: "Sends a conversion to your Cleancast relay." },
  operation: {
    inputFields: [
      field("event", "Event", { required: true, default: "purchase" }),
      field("email", "Email", { required: true }),
      field("orderId", "Order ID", {
        required: true,
        helpText: "Must differ for each conversion. Repeats with the same id are counted once.",
      }),
      field("value", "Value", { helpText: "A number with a decimal point, such as `49.90`." }),
      field("currency", "Currency", { placeholder: "EUR" }),
      field("firstName", "First Name"),
      field("lastName", "Last Name"),
      field("phone", "Phone"),
      field("eventTime", "Event Time", { type: "datetime", helpText: "Default: now." }),
    ],
    perform: async (z, bundle) => post(z, bundle, "", conversionOf(z, bundle.inputData)),
    sample: { ok: true, event: "purchase", results: { sandbox: { ok: true } } },
  },
};

/** Fields of the trigger that are empty are not sent. */
function conversionOf(z, input) {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== "");
  const fields = Object.fromEntries(given);
  if (fields.value === undefined) return fields;
  // Zapier passes numbers as text. Number("1.234,50 €") is NaN, which JSON turns into null: stop instead.
  if (!/^\d+(\.\d+)?$/.test(String(fields.value)))
    throw new z.errors.Error("Value must be a number such as 1234.50.", "InvalidData", 400);
  return { ...fields, value: Number(fields.value) };
}

module.exports = { conversion };
