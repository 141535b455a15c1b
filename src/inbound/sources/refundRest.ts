// Says what a refund of a source takes from its order. Senders report one repayment in several ways: a shop cancels an order, and
// reports the refund too, at once or when a person makes it weeks later; a payment service reports a sum that grows. An order is
// never refunded by more than it was worth.

import { isOrder, isRefund } from "../../delivery/corrections/find.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";

type Money = { value: number | null; currency: string };
/** Null in `value` stands for all that is left of the order. `isSum`: the value has all refunds of the order so far. */
type Refund = Money & { isSum: boolean };
type Sale = { value: number; currency: string };

/**
 * Returns the part of a refund that is not counted yet, given the events of the order. `value` is null for an order whose value is
 * not known, and which was not refunded before.
 */
export function restOfRefund(
  { value, currency, isSum }: Refund,
  order: readonly StoredEvent[],
): Money | "nothing" | "unknown order" {
  const refunds = order.filter(isRefund);
  // A refund without a value was one of everything.
  if (refunds.some((one) => one.value === null)) return "nothing";
  const refunded = (by: string) => refunds.reduce((sum, one) => (one.currency === by ? sum + (one.value ?? 0) : sum), 0);
  const sale = saleOf(order);
  const left = sale === null ? Infinity : rounded(sale.value - refunded(sale.currency));
  if (left <= 0) return "nothing";
  if (value === null) {
    if (refunds.length === 0) return sale ?? { value, currency };
    if (sale === null) return "unknown order";
    // Amounts of two currencies cannot be compared: nobody knows what is left.
    return refunds.every((one) => one.currency === sale.currency) ? { value: left, currency: sale.currency } : "nothing";
  }
  const own = isSum ? rounded(value - refunded(currency)) : value;
  const rest = sale?.currency === currency ? Math.min(own, left) : own;
  return rest > 0 ? { value: rest, currency } : "nothing";
}

/** Amounts are rounded to what every currency can hold, so that 0.1 + 0.2 leaves nothing of 0.3. */
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

/** Two people may have one order id; a sale that is known by two names, such as purchase and subscribe, is one sale. */
function saleOf(order: readonly StoredEvent[]): Sale | null {
  let greatest: Sale | null = null;
  for (const sales of Map.groupBy(order.filter(isOrder), ({ name }) => name).values()) {
    const currency = sales[0]?.currency ?? "";
    const value = sales.reduce((sum, one) => sum + (one.value ?? 0), 0);
    if (sales.some((one) => one.currency !== currency)) return null;
    if (value > (greatest?.value ?? 0)) greatest = { value, currency };
  }
  return greatest;
}
