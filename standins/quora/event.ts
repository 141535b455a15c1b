// The fields of a conversion of Quora's Conversion API. Each conversion of a request is judged on its own.

import { epoch, ipAddress, number, object, problemAt, text, webUrl, type Check, type Problem } from "../shared/checks.ts";
import { maxAheadSeconds, plainId } from "../shared/contactChecks.ts";

const names =
  "Generic AppInstall Purchase GenerateLead CompleteRegistration AddPaymentInfo AddToCart AddToWishlist InitiateCheckout Search ViewContent".split(
    " ",
  );

/** Quora wants these as plain text. The relay must not send plain contact data, so they are rejected here. */
const notFromTheRelay: Check = (_value, path): Problem[] => problemAt("value", path, "is contact data, which must not be sent");

export const itemShape = (now: number): Check =>
  object(
    {
      conversion: object(
        {
          event_name: text({ oneOf: names }),
          // Quora would count an older one as of now; the relay must not send any.
          timestamp: epoch("microseconds", { now, maxAgeSeconds: 90 * 86_400, maxAheadSeconds }),
          click_id: plainId,
          value: number({ max: 214_748.36 }),
          event_id: text(),
        },
        { required: ["event_name"] },
      ),
      // Quora's own template always sends the object.
      user: object({
        email: notFromTheRelay,
        name: notFromTheRelay,
        phone_number: notFromTheRelay,
        date_of_birth: notFromTheRelay,
        ip: ipAddress,
        country: text(),
        region: text(),
        city: text(),
        postal_code: text(),
      }),
      device: object({
        mobile_device_id: text(),
        user_agent: text(),
        language: text(),
        referer: webUrl,
      }),
    },
    { required: ["conversion", "user"] },
  );
