// walkerOS: its collector with three destinations of the kind "API", behind Express, because it has no source for plain JSON on npm.

import { startFlow } from "@walkeros/collector";
import { destinationAPI } from "@walkeros/server-destination-api";
import express from "express";
import { isReady, port, requestOf, targets } from "./job.mjs";

const { elb } = await startFlow({
  consent: { marketing: true },
  destinations: Object.fromEntries(
    targets.map((origin, i) => [
      `platform${i}`,
      {
        code: destinationAPI,
        config: {
          settings: {
            url: `${origin}/v1/events`,
            headers: { "content-type": "application/json", authorization: "Bearer EAAexample" },
            transform: (event) => event.data.request,
          },
        },
      },
    ]),
  ),
});

const app = express();
app.post("/__cc/inbound", express.json(), async (request, response) => {
  const { event } = request.body;
  const result = await elb({ name: `order ${event}`, data: { request: requestOf(request.body) } });
  response.status(result.ok ? 200 : 502).json({ ok: result.ok, event });
});
app.listen(port, "127.0.0.1", 1024, isReady);
