// Declares the routes of corrections.

import { z } from "zod";
import { correction } from "./events.ts";
import { id, page, paging, period, type Route } from "./route.ts";

const correctionLine = correction
  .extend({ event: id.describe("The conversion."), connection: id, platform: z.string() })
  .meta({ id: "Correction" });

export const correctionRoutes = {
  "GET /sites/:site/corrections": {
    summary: "List the corrections of refunded conversions, those of the newest conversions first",
    allow: "viewer",
    query: z.object({
      ...paging,
      ...period,
      event: z.string().max(200).optional().describe("The conversions' name. The period is that in which they were received."),
    }),
    answer: page(correctionLine),
  },
  "POST /sites/:site/corrections": {
    summary: "Correct the conversions of an order that was refunded or cancelled, without a refund event",
    allow: "admin",
    body: z.object({
      orderId: z.string().min(1).max(500),
      value: z.number().min(0).describe("What is left of the value of the order; 0 if nothing is."),
    }),
    answer: z.object({ items: z.array(correctionLine) }).describe("Those that cannot be taken back, too."),
  },
} satisfies Record<string, Route>;
