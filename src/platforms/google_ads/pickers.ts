// Google Ads' own lists, through the Google Ads API: events go through Data Manager, which has none.

import { bearer } from "../shared/oauth.ts";
import type { ConnectionSettings, Picker, PlatformRequest } from "../platform.ts";
import { listAt, parseJson, textAt } from "../shared/readResponse.ts";

/** Checked 2026-11-15; v22 ended on 2026-10-07. */
const googleAdsApi = "https://googleads.googleapis.com/v25";

/** Customer ids as Google's APIs want them: people write them with hyphens. */
export const bareId = (customerId: string | undefined) => (customerId ?? "").replaceAll("-", "");
const hyphened = (id: string) => id.replace(/^(\d{3})(\d{3})(\d{4})$/, "$1-$2-$3");

export const googleAdsPickers: readonly Picker[] = [
  {
    setting: "customer_id",
    needs: ["access_token", "developer_token"],
    // Google names only the accounts that one may enter directly; those below a manager are asked of the manager.
    toRequest: (settings) =>
      settings.login_customer_id
        ? search(
            settings,
            settings.login_customer_id,
            "SELECT customer_client.id, customer_client.descriptive_name FROM customer_client " +
              "WHERE customer_client.manager = FALSE",
          )
        : {
            method: "GET",
            url: `${googleAdsApi}/customers:listAccessibleCustomers`,
            headers: headersOf(settings),
            body: "",
          },
    read: (body) => [
      ...listAt(parseJson(body), "resourceNames").flatMap((name) => {
        const value = /^customers\/(\d+)$/.exec(String(name))?.[1];
        return value ? [{ value, label: hyphened(value) }] : [];
      }),
      ...rowsIn(body).flatMap((row) => {
        const value = textAt(row, "customerClient", "id");
        return value
          ? [{ value, label: textAt(row, "customerClient", "descriptiveName") || hyphened(value) }]
          : [];
      }),
    ],
  },
  {
    setting: "conversion_action",
    needs: ["access_token", "developer_token", "customer_id"],
    toRequest: (settings) =>
      search(
        settings,
        settings.customer_id,
        "SELECT conversion_action.id, conversion_action.name FROM conversion_action " +
          "WHERE conversion_action.type = 'UPLOAD_CLICKS' AND conversion_action.status = 'ENABLED'",
      ),
    read: (body) =>
      rowsIn(body).flatMap((row) => {
        const value = textAt(row, "conversionAction", "id");
        return value ? [{ value, label: textAt(row, "conversionAction", "name") || value }] : [];
      }),
  },
];

function search(
  settings: ConnectionSettings,
  customerId: string | undefined,
  query: string,
): PlatformRequest {
  return {
    method: "POST",
    url: `${googleAdsApi}/customers/${bareId(customerId)}/googleAds:searchStream`,
    headers: { "content-type": "application/json", ...headersOf(settings) },
    body: JSON.stringify({ query }),
  };
}

function headersOf(settings: ConnectionSettings): Record<string, string> {
  return {
    ...bearer(settings),
    "developer-token": settings.developer_token ?? "",
    ...(settings.login_customer_id ? { "login-customer-id": bareId(settings.login_customer_id) } : {}),
  };
}

/** The stream comes as a list of parts. */
const rowsIn = (body: string) => [parseJson(body)].flat().flatMap((part) => listAt(part, "results"));
