// A process between the relay and PostgreSQL that adds DISTANCE_MS to each round trip, as a network does: on loopback a round trip takes
// a tenth of a millisecond, which hides what waits for many of them.

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { answerWith } from "./processes.ts";

const { DISTANCE_MS, DISTANCE_HOST, DISTANCE_PORT } = process.env;

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host: DISTANCE_HOST ?? "", port: Number(DISTANCE_PORT), noDelay: true });
  near.on("data", (bytes) => far.write(bytes));
  // Timers of the same duration fire in order, so the bytes stay in order.
  far.on("data", (bytes) => setTimeout(() => near.write(bytes), Number(DISTANCE_MS)));
  endTogether(near, far);
  endTogether(far, near);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
answerWith(() => (server.address() as AddressInfo).port);

function endTogether(one: Socket, other: Socket): void {
  one.on("error", () => {}).on("close", () => other.destroy());
}
