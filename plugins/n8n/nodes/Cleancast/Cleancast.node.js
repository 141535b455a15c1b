"use strict";

/** @typedef {import("n8n-workflow").INodeType} INodeType */

// Sends the incoming items as conversions, up to 500 in one request. It repeats what failed temporarily; repeats are safe
// because the relay answers an order that it has already with `deduped`.

const maxBatchEvents = 500;
const maxAttempts = 5;
const maxWaitMs = 30_000;

/**
 * @typedef {{ ok: boolean; status?: number; error?: string }} Outcome
 * @typedef {Record<string, unknown>} Conversion
 */

/**
 * @param {string} displayName
 * @param {string} name
 * @param {Partial<import("n8n-workflow").INodeProperties>} [extra]
 * @returns {import("n8n-workflow").INodeProperties}
 */
const field = (displayName, name, extra = {}) => ({
  displayName,
  name,
  type: "string",
  default: "",
  ...extra,
});

/** @implements {INodeType} */
class Cleancast {
  constructor() {
    /** @type {import("n8n-workflow").INodeTypeDescription} */
    this.description = {
      displayName: "Cleancast",
      name: "cleancast",
      icon: "file:cleancast.svg",
      group: ["output"],
      version: 1,
      subtitle: '={{$parameter["event"]}}',
      description: "Sends conversions to a Cleancast relay",
      defaults: { name: "Cleancast" },
      inputs: ["main"],
      outputs: ["main"],
      credentials: [{ name: "cleancastApi", required: true }],
      properties: [
        field("Event", "event", { default: "purchase", required: true }),
        field("Email", "email", { placeholder: "ada@example.com", description: "Or Hashed Email, under More Fields" }),
        field("Order ID", "orderId", {
          description: "The id of the order, deal or call. Repeats with the same id are counted once.",
        }),
        field("Value", "value", { description: "A number with a decimal point, such as 49.90" }),
        field("Currency", "currency", { placeholder: "EUR" }),
        {
          displayName: "More Fields",
          name: "more",
          type: "collection",
          placeholder: "Add Field",
          default: {},
          options: [
            field("Hashed Email", "hashed_email", {
              description: "The SHA-256 of the trimmed, lower-cased email, where you have no address",
            }),
            field("Items", "items", {
              type: "json",
              default: "[]",
              description: 'A list such as [{"id": "SKU-1", "price": 9.95, "quantity": 2}]',
            }),
            field("Refund ID", "refundId", { description: "Each partial refund of an order counts" }),
            field("First Name", "firstName"),
            field("Last Name", "lastName"),
            field("Phone", "phone"),
            field("Event Time", "eventTime", { description: "ISO 8601; default: now" }),
          ],
        },
      ],
    };
  }

  /**
   * @this {import("n8n-workflow").IExecuteFunctions}
   * @returns {Promise<import("n8n-workflow").INodeExecutionData[][]>}
   */
  async execute() {
    const items = this.getInputData();
    const conversions = items.map((_, i) => conversionOf(this, i));
    const { url } = await this.getCredentials("cleancastApi");
    /** @type {Outcome[]} */
    const outcomes = [];
    for (let start = 0; start < conversions.length; start += maxBatchEvents)
      outcomes.push(...(await deliver(this, String(url), conversions.slice(start, start + maxBatchEvents))));
    const failed = outcomes.findIndex(({ ok }) => !ok);
    const { status, error } = outcomes[failed] ?? {};
    // The whole node fails, so that n8n shows it and can run it again; accepted conversions are then answered with deduped.
    if (failed >= 0 && !this.continueOnFail()) throw new Error(`Cleancast, item ${failed}: ${status} ${error}`);
    return [outcomes.map((json, item) => ({ json, pairedItem: { item } }))];
  }
}

/**
 * @param {import("n8n-workflow").IExecuteFunctions} node
 * @param {number} i
 * @returns {Conversion}
 */
function conversionOf(node, i) {
  /** @param {string} name */
  const get = (name) => node.getNodeParameter(name, i, "");
  const more = /** @type {Conversion} */ (node.getNodeParameter("more", i, {}));
  /** @type {Conversion} */
  const conversion = { event: get("event"), ...more };
  if (more.items !== undefined) conversion.items = itemsOf(more.items, i);
  for (const name of ["email", "orderId", "currency"]) if (get(name) !== "") conversion[name] = get(name);
  const value = get("value");
  if (value !== "") {
    conversion.value = Number(value);
    if (!Number.isFinite(conversion.value)) throw new Error(`Cleancast, item ${i}: Value must be a number such as 49.90`);
  }
  return conversion;
}

/**
 * n8n gives a JSON field as text, or as a value where an expression made it.
 *
 * @param {unknown} given
 * @param {number} i
 */
function itemsOf(given, i) {
  try {
    const items = typeof given === "string" ? JSON.parse(given) : given;
    if (Array.isArray(items)) return items;
  } catch {
    // The message below says it.
  }
  throw new Error(`Cleancast, item ${i}: Items must be a list such as [{"id": "SKU-1", "price": 9.95, "quantity": 2}]`);
}

/**
 * Returns one outcome for each conversion, in order.
 *
 * @param {import("n8n-workflow").IExecuteFunctions} node
 * @param {string} url
 * @param {Conversion[]} conversions
 */
async function deliver(node, url, conversions) {
  /** @type {Outcome[]} */
  const outcomes = [];
  let open = conversions.map((_, i) => i);
  for (let attempt = 1; ; attempt++) {
    const { status, body, retryAfter, why } = await post(
      node,
      url,
      open.map((i) => conversions[i]),
    );
    const isAnswer = status === 200 && body?.ok === true && body.results?.length === open.length;
    for (const [at, i] of open.entries())
      outcomes[i] = isAnswer
        ? body.results[at]
        : { ok: false, status, error: body?.error ?? why ?? "the answer is not the relay's" };
    open = open.filter((i) => !outcomes[i]?.ok && isTemporary(outcomes[i]?.status ?? 0));
    const waitMs = Math.max(Number(retryAfter) * 1000 || 0, 1000 * 2 ** (attempt - 1));
    if (open.length === 0 || attempt === maxAttempts || waitMs > maxWaitMs) return outcomes;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/**
 * A 200 without an answer of the relay comes from a proxy in between.
 *
 * @param {number} status
 */
const isTemporary = (status) => [0, 200, 429].includes(status) || status >= 500;

/**
 * @param {import("n8n-workflow").IExecuteFunctions} node
 * @param {string} url
 * @param {(Conversion | undefined)[]} events
 */
async function post(node, url, events) {
  try {
    const { statusCode, body, headers } = await node.helpers.httpRequestWithAuthentication.call(node, "cleancastApi", {
      method: "POST",
      url: `${url.replace(/\/+$/, "").replace(/\/__cc\/inbound$/, "")}/__cc/inbound/batch`,
      body: { events },
      json: true,
      timeout: 15_000,
      // A redirect would send the key to another address.
      disableFollowRedirect: true,
      ignoreHttpStatusErrors: true,
      returnFullResponse: true,
    });
    return { status: statusCode, body, retryAfter: headers["retry-after"], why: undefined };
  } catch (error) {
    return { status: 0, body: null, retryAfter: undefined, why: `no answer: ${describe(error)}` };
  }
}

/**
 * Names the cause by its code. The error itself may contain the request with its key, so it is not passed on.
 *
 * @param {any} error
 */
function describe(error) {
  const code = String(error?.code ?? error?.cause?.code ?? "");
  if (/^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return "the host name was not found";
  if (code === "ECONNREFUSED") return "connection refused";
  if (/^(?:ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/.test(code)) return "nothing within 15 seconds";
  if (/CERT|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME|EPROTO/.test(code)) return `TLS failed (${code})`;
  if (/^(?:ECONNRESET|EPIPE)$/.test(code)) return "the connection was closed";
  return /^[A-Z_]{3,40}$/.test(code) ? code : "the request failed";
}

module.exports = { Cleancast };
