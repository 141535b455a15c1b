import { describe, expect, test } from "vitest";
import { googleAds } from "./index.ts";
import { bearer, get, post, runStandin } from "../shared/testCalls.ts";

const { known } = googleAds;
const { handle: google } = await runStandin("google_ads");
const { origin } = google;
const headers = { ...bearer(known.accessToken), "developer-token": known.developerToken };

const search = (query: string, more: Record<string, string> = { "login-customer-id": known.managerId }) =>
  post(`${origin}/v25/customers/${known.customerId}/googleAds:searchStream`, { query }, { ...headers, ...more });

describe("the pickers of Google Ads", () => {
  test("the accounts with direct access are listed", async () => {
    const { body } = await get(`${origin}/v25/customers:listAccessibleCustomers`, headers);
    expect(body).toEqual({
      resourceNames: [`customers/${known.managerId}`, `customers/${known.directCustomerId}`],
    });
  });

  test("the manager lists the accounts below it", async () => {
    const { body } = await post(
      `${origin}/v25/customers/${known.managerId}/googleAds:searchStream`,
      {
        query:
          "SELECT customer_client.id, customer_client.descriptive_name FROM customer_client WHERE customer_client.manager = FALSE",
      },
      headers,
    );
    expect(body).toMatchObject([{ results: [{ customerClient: { id: known.customerId, descriptiveName: "Example Shop" } }] }]);
  });

  test("conversion actions are found by type and status", async () => {
    const { body } = await search(
      "SELECT conversion_action.id, conversion_action.name FROM conversion_action " +
        "WHERE conversion_action.type = 'UPLOAD_CLICKS' AND conversion_action.status = 'ENABLED'",
    );
    expect(body).toMatchObject([
      {
        results: [
          { conversionAction: { id: known.conversionActionId, name: "Purchase (upload)" } },
          { conversionAction: { id: known.onePerClickActionId, name: "Lead (upload)" } },
          { conversionAction: { id: known.secondActionId, name: "Order (upload)" } },
        ],
      },
    ]);
  });

  test.each([
    ["a field that does not exist", "SELECT conversion_action.colour FROM conversion_action"],
    ["a resource that does not exist", "SELECT shop.id FROM shop"],
    ["no query", ""],
  ])("%s is rejected", async (_, query) => {
    const { status, text } = await search(query);
    expect([status, text]).toEqual([400, expect.stringContaining("UNRECOGNIZED_FIELD")]);
  });

  test("an account below a manager cannot be accessed without it", async () => {
    const { status, text } = await search("SELECT customer.id FROM customer", {});
    expect([status, text]).toEqual([403, expect.stringContaining("USER_PERMISSION_DENIED")]);
  });

  test("a missing or wrong developer token and a retired version are rejected", async () => {
    const url = `${origin}/v25/customers:listAccessibleCustomers`;
    const { authorization } = headers;
    expect((await get(url, { authorization })).text).toContain("DEVELOPER_TOKEN_PARAMETER_MISSING");
    expect((await get(url, { authorization, "developer-token": "x" })).status).toBe(403);
    expect((await get(url.replace("v25", "v22"), headers)).text).toContain("UNSUPPORTED_VERSION");
  });

  test("an expired token is distinguished from a revoked one", async () => {
    const ask = async (token: string) =>
      (await get(`${origin}/v25/customers:listAccessibleCustomers`, { ...headers, ...bearer(token) })).text;
    expect(await ask(known.expiredToken)).toContain("OAUTH_TOKEN_EXPIRED");
    expect(await ask(known.revokedToken)).toContain("OAUTH_TOKEN_REVOKED");
    google.fault({ kind: "revoked_token", on: "listing" });
    expect(await ask(known.accessToken)).toContain("OAUTH_TOKEN_REVOKED");
  });

  test("the old upload is disabled for this developer token", async () => {
    const url = `${origin}/v25/customers/${known.customerId}:uploadClickConversions`;
    const { status, text } = await post(url, { conversions: [{}], partialFailure: true }, headers);
    expect([status, text]).toEqual([200, expect.stringContaining("CUSTOMER_NOT_ALLOWLISTED_FOR_THIS_FEATURE")]);
    expect(google.accepted).toEqual([]);
  });
});
