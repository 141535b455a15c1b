// undici's Agent on the simulated network.

import { internetOf, type Handler } from "../network/internet.ts";
import { callingProcess } from "../runtime/world.ts";

type Options = {
  origin: string;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
};

export class Agent {
  dispatch({ origin, path, method, headers, body }: Options, handler: Handler): boolean {
    const process = callingProcess();
    internetOf(process.world).call({ process, origin, path, method, headers, body: body ?? "" }, handler);
    return true;
  }

  async destroy(): Promise<void> {}
}
