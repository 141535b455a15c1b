// The errors of the Graph API that Meta documents for conversions.

import { gatewayPage } from "../shared/pages.ts";
import type { DocumentedError } from "../shared/standin.ts";
import { metaError, metaThrottled, type MetaFault } from "./access.ts";

type Means = DocumentedError["means"];

const error = (title: string, means: Means, fault: Omit<MetaFault, "message">): DocumentedError => ({
  title: `${fault.code}${fault.subcode ? `/${fault.subcode}` : ""} ${title}`,
  answer: metaError({ message: title, ...fault }),
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  error("an event is too old", "reject", { code: 100, subcode: 2804003 }),
  error("contact data is not hashed", "reject", { code: 100, subcode: 2804016 }),
  error("a business message may not be a lead", "reject", { code: 100, subcode: 2804066 }),
  error("invalid parameter", "reject", { code: 100 }),
  error("the application may not make this call", "reject", { code: 3 }),
  error("the dataset does not exist", "park", { code: 100, subcode: 33 }),
  error("the password was changed", "park", { code: 190, subcode: 460 }),
  error("the session has expired", "park", { code: 190, subcode: 463 }),
  error("the token is not valid", "park", { code: 190 }),
  error("the permission is missing", "park", { code: 200, status: 403 }),
  error("no permission for this action", "park", { code: 10, status: 403 }),
  error("the version is retired", "park", { code: 2635 }),
  ...[1, 2, 341, 368, 5000, 21_009].map((code) => error("a temporary error", "retry", { code })),
  ...[4, 17, 80_003].map((code) => error("too many calls", "retry", { code })),
  error("a temporary error of any code", "retry", { code: 987, transient: true }),
  { title: "throttled, with the wait in a header", answer: metaThrottled(60), means: "retry" },
  { title: "a web page instead of JSON", answer: gatewayPage(200), means: "retry" },
];
