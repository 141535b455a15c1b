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
      field("email", "Email", { helpText: "Or *Hashed Email*." }),
      field("hashed_email", "Hashed Email", {
        helpText: "The SHA-256 of the trimmed, lower-cased email, where you have no address.",
      }),
      field("orderId", "Order ID", {
        required: true,
        helpText: "Must differ for each conversion. Repeats with the same id are counted once.",
      }),
      field("value", "Value", { helpText: "A number with a decimal point, such as `49.90`." }),
      field("currency", "Currency", { placeholder: "EUR" }),
      field("firstName", "First Name"),
      field("lastName", "Last Name"),
      field("phone", "Phone"),
      field("refundId", "Refund ID", { helpText: "Each partial refund of an order counts." }),
      {
        key: "items",
        label: "Items",
        children: [
          field("id", "Product ID", { required: true }),
          field("name", "Name"),
          field("price", "Price", { helpText: "Of one piece: a number such as `9.95`." }),
          field("quantity", "Quantity", { type: "integer" }),
        ],
      },
      field("eventTime", "Event Time", { type: "datetime", helpText: "Default: now." }),
    ],
    perform: async (z, bundle) => post(z, bundle, "", conversionOf(z, bundle.inputData)),
    sample: { ok: true, event: "purchase", results: { sandbox: { ok: true } } },
  },
};

/** Fields of the trigger that are empty are not sent. */
function conversionOf(z, input) {
  const fields = withoutEmpty(input);
  if (!fields.email && !fields.hashed_email) throw new z.errors.Error("Email or Hashed Email is needed.", "InvalidData", 400);
  if (fields.items !== undefined)
    fields.items = fields.items.map((item) => {
      const { price, quantity, ...rest } = withoutEmpty(item);
      return {
        ...rest,
        ...(price === undefined ? {} : { price: numberOf(z, "Price", price) }),
        ...(quantity === undefined ? {} : { quantity: Number(quantity) }),
      };
    });
  if (fields.value === undefined) return fields;
  return { ...fields, value: numberOf(z, "Value", fields.value) };
}

const withoutEmpty = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== "" && value?.length !== 0));

function numberOf(z, label, text) {
  // Zapier passes numbers as text. Number("1.234,50 €") is NaN, which JSON turns into null: stop instead.
  if (!/^\d+(\.\d+)?$/.test(String(text)))
    throw new z.errors.Error(`${label} must be a number such as 1234.50.`, "InvalidData", 400);
  return Number(text);
}

module.exports = { conversion };
