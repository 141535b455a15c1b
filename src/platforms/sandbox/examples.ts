// Example requests of the sandbox, which serve as tests and as documentation.

import type { Example } from "../example.ts";
import { sampleConversion } from "../shared/sample.ts";
import { describeAll } from "./index.ts";

export const examples: readonly Example[] = [
  {
    title: "A purchase after an ad click",
    settings: {},
    conversions: [sampleConversion()],
    request: {
      method: "POST",
      url: "sandbox:conversions",
      headers: { "content-type": "application/json" },
      body: { conversions: [describeAll(sampleConversion())] },
    },
  },
];
