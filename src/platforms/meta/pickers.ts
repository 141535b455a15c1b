// Meta's own lists: ad accounts, and the datasets (pixels) of one.

import { bearer } from "../shared/oauth.ts";
import type { ConnectionSettings, Picker, PlatformRequest } from "../platform.ts";
import { listAt, parseJson, textAt } from "../shared/readResponse.ts";

/** `graphOf` is the address of the Graph API in the connection's version. */
export function metaPickers(graphOf: (settings: ConnectionSettings) => string): readonly Picker[] {
  const listing = (path: string, settings: ConnectionSettings): PlatformRequest => ({
    method: "GET",
    url: `${graphOf(settings)}/${path}`,
    headers: bearer(settings),
    body: "",
  });
  return [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => listing("me/adaccounts?fields=account_id,name&limit=200", settings),
      read: (body) => choicesIn(body, "account_id"),
    },
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) =>
        listing(`act_${settings.ad_account_id ?? ""}/adspixels?fields=id,name&limit=200`, settings),
      read: (body) => choicesIn(body, "id"),
    },
  ];
}

function choicesIn(body: string, id: string): { value: string; label: string }[] {
  return listAt(parseJson(body), "data").flatMap((one) => {
    const value = textAt(one, id);
    return value ? [{ value, label: textAt(one, "name") || value }] : [];
  });
}
