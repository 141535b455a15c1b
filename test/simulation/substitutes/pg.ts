// The driver of PostgreSQL with connections to the simulated servers. Its pool is the real one.

import { Pool as RealPool, type PoolConfig } from "pg";
import { SimulatedClient } from "../database/client.ts";

export { types } from "pg";
export { SimulatedClient as Client } from "../database/client.ts";

export class Pool extends RealPool {
  constructor(options: PoolConfig) {
    super({ ...options, Client: SimulatedClient } as unknown as PoolConfig);
  }
}
