// The errors of the Data Manager API, which Campaign Manager 360 shares with Google Ads, and those about Floodlight activities.

import { googleError } from "../google_ads/access.ts";
import { documentedErrors as dataManagerErrors } from "../google_ads/documented.ts";
import type { DocumentedError } from "../shared/standin.ts";

const inActivity = (title: string, description: string, reason: string): DocumentedError => ({
  title,
  answer: googleError(400, "INVALID_ARGUMENT", "There was a problem with the request.", {
    violations: [{ field: "destinations[0].product_destination_id", description, reason }],
  }),
  means: "wait",
});

export const documentedErrors: readonly DocumentedError[] = [
  ...dataManagerErrors,
  inActivity("an activity that does not exist", "The id is not valid.", "INVALID_ARGUMENT"),
  inActivity("an activity that is no number", "String is not a valid number.", "INVALID_NUMBER_FORMAT"),
];
