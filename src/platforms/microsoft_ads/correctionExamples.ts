// Example corrections of offline conversions, which serve as tests and as documentation.

import { dayMs } from "../../kernel/time.ts";
import type { CorrectionExample } from "../example.ts";
import { sampleConversion } from "../shared/sample.ts";

const clickId = "0123456789abcdef0123456789abcdef";
const settings = {
  tag_id: "187000001",
  access_token: "EXAMPLE-TOKEN",
  developer_token: "EXAMPLE-DEVELOPER-TOKEN",
  account_id: "141000001",
  offline_goal: "CRM sale",
};
const at = Date.UTC(2026, 10, 15, 12);

const exampleRequest = (adjustment: Record<string, unknown>) => ({
  method: "POST" as const,
  url: "https://campaign.api.bingads.microsoft.com/CampaignManagement/v13/OfflineConversionAdjustments/Apply",
  headers: {
    "content-type": "application/json",
    authorization: "Bearer EXAMPLE-TOKEN",
    DeveloperToken: "EXAMPLE-DEVELOPER-TOKEN",
    CustomerAccountId: "141000001",
  },
  body: {
    OfflineConversionAdjustments: [
      {
        ConversionName: "CRM sale",
        ConversionTime: "2026-11-14T09:30:00Z",
        AdjustmentTime: "2026-11-15T12:00:00Z",
        ...adjustment,
        MicrosoftClickId: clickId,
      },
    ],
  },
});
const example = sampleConversion({
  clickIds: { msclkid: { value: clickId, seenAt: 0 } },
  person: null,
});

export const corrections: readonly CorrectionExample[] = [
  {
    title: "Ten of an order of 49.90 were refunded",
    settings,
    correction: { conversion: example, value: 39.9, at },
    request: exampleRequest({
      AdjustmentType: "Restate",
      AdjustmentValue: 39.9,
      AdjustmentCurrencyCode: "EUR",
    }),
  },
  {
    title: "The whole order was refunded",
    settings,
    correction: { conversion: example, value: 0, at: at - 30 * dayMs },
    request: exampleRequest({ AdjustmentType: "Retract", AdjustmentTime: "2026-11-14T09:30:00Z" }),
  },
];
