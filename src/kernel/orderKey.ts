// Compares order ids. Two senders of one shop may spell an order differently: Shopify has the name "#1001" and the number 1001. The
// tag computes ids from the same form, so nothing is imported here.

/**
 * The form in which order ids are compared: `#A-1001`, `a-1001` and ` A-1001 ` are one order. What people and platforms see is the
 * sender's own spelling.
 */
export function orderKey(orderId: string): string {
  const key = orderId.trim().toLowerCase();
  // An id of # alone stays what it is.
  return key.replace(/^#+\s*/, "") || key;
}
