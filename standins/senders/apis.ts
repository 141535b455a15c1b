// The parts of HubSpot's and Stripe's APIs at which a relay looks up what their webhooks leave out. Strict: a wrong key, a missing
// permission, another method, and a parameter that the API does not know are refused as the sender documents it.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Reply = { status: number; body: unknown; headers?: Record<string, string> };

export type SenderApi = {
  origin: string;
  /** The paths of all requests, with their queries. */
  requests: string[];
  /** Answers the next requests in place of the data; "hang" never answers. Null ends it. */
  fail: (how: Reply | "hang" | null) => void;
  close: () => Promise<void>;
};

async function serve(answer: (url: URL, request: IncomingMessage) => Reply): Promise<SenderApi> {
  const requests: string[] = [];
  let failure: Reply | "hang" | null = null;
  function reply(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", "http://api");
    requests.push(url.pathname + url.search);
    if (failure === "hang") return;
    const { status, body, headers } = failure ?? answer(url, request);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  }
  const server = createServer(reply).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (how) => void (failure = how),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The permissions of each key. */
type Keys = Readonly<Record<string, readonly string[]>>;

const permissionsOf = (keys: Keys, { headers }: IncomingMessage) => {
  const [scheme, key] = (headers.authorization ?? "").split(" ");
  return scheme === "Bearer" && key !== undefined ? keys[key] : undefined;
};

type HubspotObject = { properties: Record<string, string | null>; contacts?: readonly string[] };

export type HubspotCrm = { keys: Keys; deals: Record<string, HubspotObject>; contacts: Record<string, HubspotObject> };

const hubspotError = (status: number, category: string, message: string, more: object = {}): Reply => ({
  status,
  body: { status: "error", message, correlationId: "standin", category, ...more },
});

/** GET /crm/v3/objects/{deals|contacts}/ID: only the named properties, and associations only where they are asked for. */
export const startHubspotApi = (crm: HubspotCrm): Promise<SenderApi> =>
  serve((url, request) => {
    if (request.method !== "GET") return hubspotError(405, "METHOD_NOT_ALLOWED", "method not allowed");
    const permissions = permissionsOf(crm.keys, request);
    if (!permissions) return hubspotError(401, "INVALID_AUTHENTICATION", "Authentication credentials not found.");
    const [, type, id = ""] = /^\/crm\/v3\/objects\/(deals|contacts)\/(\d+)$/.exec(url.pathname) ?? [];
    if (type !== "deals" && type !== "contacts") return hubspotError(404, "OBJECT_NOT_FOUND", "resource not found");
    const scope = `crm.objects.${type}.read`;
    if (!permissions.includes(scope))
      return hubspotError(403, "MISSING_SCOPES", "This app hasn't been granted all required scopes to make this call.", {
        errors: [{ message: "One or more of the following scopes are required.", context: { requiredGranularScopes: [scope] } }],
      });
    for (const name of url.searchParams.keys())
      if (!["properties", "associations", "archived", "idProperty", "propertiesWithHistory"].includes(name))
        return hubspotError(400, "VALIDATION_ERROR", `Unknown parameter ${name}`);
    const found = crm[type][id];
    if (!found) return hubspotError(404, "OBJECT_NOT_FOUND", "Object not found.");
    const wanted = (url.searchParams.get("properties") ?? "").split(",").filter(Boolean);
    const own = Object.fromEntries(wanted.map((name) => [name, found.properties[name] ?? null]));
    const results = (found.contacts ?? []).map((one) => ({ id: one, type: "deal_to_contact" }));
    const isAsked = url.searchParams.get("associations") === "contacts" && results.length > 0;
    return {
      status: 200,
      body: {
        id,
        properties: { ...own, hs_object_id: id },
        createdAt: "2026-11-01T10:00:00.000Z",
        updatedAt: "2026-11-02T10:00:00.000Z",
        archived: false,
        ...(isAsked && { associations: { contacts: { results } } }),
      },
    };
  });

export type StripeData = {
  keys: Keys;
  /** The invoice of each payment intent; null for one without. */
  invoices: Record<string, string | null>;
  emails: Record<string, string>;
};

const stripeError = (status: number, message: string, more: object = {}): Reply => ({
  status,
  body: { error: { type: "invalid_request_error", message, ...more } },
});

/** GET /v1/invoice_payments and /v1/payment_intents/ID, as restricted keys may read them. */
export const startStripeApi = ({ keys, invoices, emails }: StripeData): Promise<SenderApi> =>
  serve((url, request) => {
    const permissions = permissionsOf(keys, request);
    if (!permissions) return stripeError(401, "Invalid API Key provided: rk_live_*********");
    if (request.method !== "GET") return stripeError(404, `Unrecognized request URL (${request.method}: ${url.pathname}).`);
    const lacking = (permission: string) =>
      stripeError(403, `The provided key does not have the required permissions for this endpoint: '${permission}'.`, {
        code: "more_permissions_required_for_application",
      });
    const unknown = (allowed: readonly string[]) => [...url.searchParams.keys()].find((name) => !allowed.includes(name));
    if (url.pathname === "/v1/invoice_payments") {
      if (!permissions.includes("invoices")) return lacking("rak_invoice_read");
      const name = unknown(["payment[type]", "payment[payment_intent]", "invoice", "limit", "status", "starting_after"]);
      if (name !== undefined)
        return stripeError(400, `Received unknown parameter: ${name}`, { code: "parameter_unknown", param: name });
      if (url.searchParams.get("payment[type]") !== "payment_intent")
        return stripeError(400, "Missing required param: payment[type].");
      const intent = url.searchParams.get("payment[payment_intent]") ?? "";
      const invoice = invoices[intent] ?? null;
      const payment = { id: `inpay_${intent}`, object: "invoice_payment", invoice, status: "paid", is_default: true };
      const data = invoice === null ? [] : [{ ...payment, payment: { type: "payment_intent", payment_intent: intent } }];
      return { status: 200, body: { object: "list", url: url.pathname, has_more: false, data } };
    }
    const [, id] = /^\/v1\/payment_intents\/(pi_\w+)$/.exec(url.pathname) ?? [];
    if (id === undefined) return stripeError(404, `Unrecognized request URL (GET: ${url.pathname}).`);
    if (!permissions.includes("payment_intents")) return lacking("rak_payment_intent_read");
    const name = unknown(["expand[]", "client_secret"]);
    if (name !== undefined)
      return stripeError(400, `Received unknown parameter: ${name}`, { code: "parameter_unknown", param: name });
    if (!Object.hasOwn(invoices, id)) return stripeError(404, `No such payment_intent: '${id}'`, { code: "resource_missing" });
    const customer = url.searchParams.getAll("expand[]").includes("customer")
      ? { id: `cus_${id}`, object: "customer", email: emails[id] ?? null }
      : `cus_${id}`;
    return { status: 200, body: { id, object: "payment_intent", receipt_email: null, customer, status: "succeeded" } };
  });
