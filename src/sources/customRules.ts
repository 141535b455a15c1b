// The mapping that a customer writes: settings in the mapping language, which become the rules of the source.

import type { Kind, KindSetting, Rule, RuleFields } from "./kind.ts";
import { currencySetting } from "./kinds/shared.ts";

const expression = (name: string, label: string, help: string, rest: Partial<KindSetting> = {}): KindSetting => ({
  name,
  label,
  help,
  mapping: "expression",
  ...rest,
});

export const mappingSettings: readonly KindSetting[] = [
  {
    name: "when",
    label: "Counts when",
    help: 'The condition of a conversion, such as `status = "paid"`. Without it every request is one.',
    mapping: "condition",
  },
  { name: "event", label: "Event", help: "The name of the event.", default: "purchase" },
  expression(
    "event_from",
    "Event from",
    "Where the name of the event is, if requests carry one. `lookup` turns the sender's names into yours.",
  ),
  expression("email", "Email from", "Where the email address is, such as `customer.email`."),
  expression("phone", "Phone from", "Where the phone number is."),
  expression("first_name", "First name from", "Where the first name is; `name words(first)` takes it from a whole name."),
  expression("last_name", "Last name from", "Where the last name is."),
  expression("value", "Value from", "Where the value is; `amount cents(currency)` for an amount in cents."),
  currencySetting("The currency of all values."),
  expression("currency_from", "Currency from", "Where the currency is, if requests carry one."),
  expression("order_id", "Order id from", "Where the order id is. It recognises repeats, and refunds find their order by it."),
  expression("event_time", "Time from", "Where the time is; `created seconds` for Unix seconds. The time of receipt without it."),
  expression("customer_id", "Customer id from", "Where the sender's customer id is: events that carry it alone find the person."),
  {
    name: "click_ids",
    label: "Click ids from",
    help: "Objects or addresses that may hold click ids, separated by semicolons.",
    multiline: true,
  },
  expression("items", "Items from", "The list of the order's lines."),
  expression("item_id", "Item id", "In a line: the product id.", { default: "id" }),
  expression("item_name", "Item name", "In a line: the name.", { default: "name" }),
  expression("item_price", "Item price", "In a line: the price of one piece.", { default: "price" }),
  expression("item_quantity", "Item quantity", "In a line: the number of pieces.", { default: "quantity" }),
  { name: "refund_when", label: "Refund when", help: "The condition of a refund. It is checked first.", mapping: "condition" },
  expression("refund_id", "Refund id from", "Where the id of a refund is: each partial refund of an order counts."),
  expression("delivery_id", "Delivery id from", "Where the sender's id of the request is: repeats of it are not counted."),
  expression("type", "Kind of event from", "Where the sender's name for the kind of event is, for lists."),
  { name: "test_when", label: "Test when", help: "The condition of test data.", mapping: "condition" },
  expression("entries", "Entries from", "The list of entries, where one request carries several."),
];

/** Holds for every request. */
const always = "@ exists";

/** Returns the kind with the rules of a source. Settings that were not given are absent. */
export function withMapping(kind: Kind, settings: Readonly<Record<string, string>>): Kind {
  if (!kind.isMapped) return kind;
  const fields = fieldsOf(settings);
  const rules: Rule[] = [];
  if (settings.refund_when !== undefined) {
    const { event: _event, ...others } = fields;
    const refundId = settings.refund_id === undefined ? {} : { refundId: settings.refund_id };
    rules.push({ name: "refund", when: settings.refund_when, gives: "refund", fields: { ...others, ...refundId } });
  }
  rules.push({ name: "conversion", when: settings.when ?? always, gives: "conversion", fields });
  if (settings.when !== undefined) rules.push({ name: "condition not met", when: always, gives: "ignore", reason: "not chosen" });
  const { entries, delivery_id: delivery = kind.delivery, type = kind.type, test_when: test } = settings;
  return {
    ...kind,
    rules,
    ...(entries !== undefined && { entries }),
    ...(delivery !== undefined && { delivery }),
    ...(type !== undefined && { type }),
    ...(test !== undefined && { test }),
  };
}

/** The text of a setting, or a fixed one, as an expression. */
const either = (from: string | undefined, setting: string) =>
  from === undefined ? `$settings.${setting}` : `${from} | $settings.${setting}`;

function fieldsOf(settings: Readonly<Record<string, string>>): RuleFields & { event: string } {
  const { email, phone, first_name: firstName, last_name: lastName, value, order_id: orderId, event_time: eventTime } = settings;
  const { customer_id: customer, items } = settings;
  const given = { email, phone, firstName, lastName, value, orderId, eventTime, customer };
  const clickIds = (settings.click_ids ?? "")
    .split(/[;\n]/)
    .map((place) => place.trim())
    .filter((place) => place !== "");
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined)),
    event: either(settings.event_from, "event"),
    currency: either(settings.currency_from, "currency"),
    ...(clickIds.length > 0 && { clickIds }),
    ...(items !== undefined && {
      items: {
        from: items,
        id: settings.item_id ?? "id",
        name: settings.item_name ?? "name",
        price: settings.item_price ?? "price",
        quantity: settings.item_quantity ?? "quantity",
      },
    }),
  };
}
