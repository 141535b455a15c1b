// The lists of accounts and conversion actions come from the Google Ads API: the Data Manager API has none.

import type { ConnectionSettings, Picker, PlatformRequest } from "../platform.ts";
import { at, choicesOf, listAt, parseJson, textAt } from "../shared/json.ts";
import { bearer, getRequest } from "../shared/settings.ts";

/** Checked 2026-11-15; v22 ended on 2026-10-07. */
const googleAdsApi = "https://googleads.googleapis.com/v25";

/** A customer id without the hyphens that people write. */
export const withoutHyphens = (customerId: string | undefined) => (customerId ?? "").replaceAll("-", "");
const withHyphens = (id: string) => id.replace(/^(\d{3})(\d{3})(\d{4})$/, "$1-$2-$3");

export const pickers: readonly Picker[] = [
  {
    setting: "customer_id",
    needs: ["access_token", "developer_token"],
    // Google lists only the accounts with direct access; those below a manager are requested from the manager.
    toRequest: (settings) =>
      settings.login_customer_id
        ? search(
            settings,
            settings.login_customer_id,
            "SELECT customer_client.id, customer_client.descriptive_name FROM customer_client " +
              "WHERE customer_client.manager = FALSE",
          )
        : getRequest(`${googleAdsApi}/customers:listAccessibleCustomers`, headersOf(settings)),
    read: (body) => [
      ...listAt(parseJson(body), "resourceNames").flatMap((name) => {
        const value = /^customers\/(\d+)$/.exec(String(name))?.[1];
        return value ? [{ value, label: withHyphens(value) }] : [];
      }),
      ...rowsIn(body).flatMap((row) => {
        const value = textAt(row, "customerClient", "id");
        return value ? [{ value, label: textAt(row, "customerClient", "descriptiveName") || withHyphens(value) }] : [];
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
          `WHERE conversion_action.type = '${settings.tag_conversions === "on" ? "WEBPAGE" : "UPLOAD_CLICKS"}' AND conversion_action.status = 'ENABLED'`,
      ),
    read: (body) => choicesOf(rowsIn(body).map((row) => at(row, "conversionAction"))),
  },
];

function search(settings: ConnectionSettings, customerId: string | undefined, query: string): PlatformRequest {
  return {
    method: "POST",
    url: `${googleAdsApi}/customers/${withoutHyphens(customerId)}/googleAds:searchStream`,
    headers: { "content-type": "application/json", ...headersOf(settings) },
    body: JSON.stringify({ query }),
  };
}

function headersOf(settings: ConnectionSettings): Record<string, string> {
  return {
    ...bearer(settings),
    "developer-token": settings.developer_token ?? "",
    ...(settings.login_customer_id ? { "login-customer-id": withoutHyphens(settings.login_customer_id) } : {}),
  };
}

/** The response is a list of parts, each with some of the rows. */
const rowsIn = (body: string) => [parseJson(body)].flat().flatMap((part) => listAt(part, "results"));
