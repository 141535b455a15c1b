// The configuration of simulated relays. Times are short, so that a seed takes seconds of simulated time; the rules between
// them are those that the product checks.

import { readConfig, type Config } from "../../../src/installation/config.ts";

const variables = {
  CLEANCAST_ENCRYPTION_KEY: "07".repeat(32),
  CLEANCAST_DATA: "/simulated",
  CLEANCAST_CONNECT_SECONDS: "0.2",
  CLEANCAST_ATTEMPT_SECONDS: "0.4",
  CLEANCAST_ANSWER_SECONDS: "0.6",
  CLEANCAST_LEASE_SECONDS: "3",
  CLEANCAST_RETRY_SECONDS: "0.5,0.7,1",
  CLEANCAST_PUSH_SECONDS: "5",
  CLEANCAST_PUSH_RETRY_SECONDS: "0.5,1",
  CLEANCAST_ALERT_SECONDS: "3600",
  CLEANCAST_DATABASE_CONNECTIONS: "4",
};

export const sqliteConfig: Config = readConfig(variables);

export const postgresConfig: Config = readConfig({
  ...variables,
  DATABASE_URL: "postgres://cleancast@db1:5432,db2:5432/cleancast",
});
