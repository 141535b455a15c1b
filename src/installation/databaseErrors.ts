// Explains why a PostgreSQL cannot be used: host, port, database and user by their names, and what to check. No text holds the
// password.

import { serversOf, sqlState } from "../store/engine/postgres/errors.ts";
import { serverNames, serverUrls } from "../store/engine/postgres/servers.ts";

type DatabaseFault = { what: string; remedy: string };

/** Names the database for messages: `cleancast at db.example.com:5432`. */
export function databaseName(url: string): string {
  return `the database ${accessOf(url).database} at ${serverNames(serverUrls(url))}`;
}

/** `variable` is the variable or option that holds the URL. */
export function explainDatabaseError(url: string, error: unknown, variable: string): DatabaseFault {
  const { database, user } = accessOf(url);
  const servers = serverNames(serversOf(error) ?? serverUrls(url));
  const code = sqlState(error);
  if (code === "ECONNREFUSED")
    return {
      what: `nothing listens at ${servers}`,
      remedy: `Start PostgreSQL there, or correct the host and port in ${variable}.`,
    };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return {
      what: `the host name in ${servers} does not resolve`,
      remedy: `Correct it in ${variable}, or check the DNS of this machine.`,
    };
  if (unreachable.has(code))
    return {
      what: `${servers} does not answer`,
      remedy: `Check that PostgreSQL runs there, that no firewall is in between, and the host and port in ${variable}.`,
    };
  if (code === "3D000")
    return {
      what: `PostgreSQL at ${servers} has no database ${database}`,
      remedy: `Create it (CREATE DATABASE ${database}), or correct the name in ${variable}.`,
    };
  if (code === "28P01")
    return {
      what: `PostgreSQL at ${servers} refuses the password of ${user}`,
      remedy: `Correct the user or the password in ${variable}; in a password, write / as %2F, # as %23, ? as %3F, @ as %40 and % as %25.`,
    };
  if (code === "28000")
    return {
      what: `PostgreSQL at ${servers} does not admit ${user} from this machine: ${messageOf(error)}`,
      remedy: `Create the user, allow this machine in pg_hba.conf, or correct the user in ${variable}.`,
    };
  if (code === "42501")
    return {
      what: `${user} may not use the database ${database} at ${servers}: ${messageOf(error)}`,
      remedy: "Make the user the owner of the database.",
    };
  if (code === "53300")
    return {
      what: `PostgreSQL at ${servers} has no free connection`,
      remedy: "Raise max_connections, or lower CLEANCAST_DATABASE_CONNECTIONS on every node.",
    };
  const other = explainTls(servers, code, error, variable) ?? explainPooler(servers, error, variable);
  if (other) return other;
  if (code === "57P03") return { what: `PostgreSQL at ${servers} is starting or stopping`, remedy: "Wait a moment." };
  return {
    what: `the database ${database} at ${servers} cannot be used: ${messageOf(error)}`,
    remedy: `Check ${variable}.`,
  };
}

function explainTls(servers: string, code: string, error: unknown, variable: string): DatabaseFault | null {
  if (unknownAuthority.has(code))
    return {
      what: `the certificate of PostgreSQL at ${servers} is not from an authority that this machine knows: ${messageOf(error)}`,
      remedy: `Add sslrootcert=/path/to/ca.crt to ${variable}, with the certificate of the authority that issued it.`,
    };
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return {
      what: `the certificate of PostgreSQL at ${servers} is for another name: ${messageOf(error)}`,
      remedy: `Use the name in the certificate as the host in ${variable}, or issue a certificate for this name.`,
    };
  if (code === "CERT_HAS_EXPIRED")
    return {
      what: `the certificate of PostgreSQL at ${servers} has expired`,
      remedy: "Renew it on the database server.",
    };
  if (/does not support SSL/.test(messageOf(error)))
    return {
      what: `PostgreSQL at ${servers} does not offer TLS`,
      remedy: `Set ssl = on there, or use sslmode=disable in ${variable} if the network is trusted.`,
    };
  const path = code === "ENOENT" && error instanceof Error && "path" in error ? String(error.path) : null;
  if (path !== null)
    return {
      what: `${variable} names the file ${path}, which does not exist`,
      remedy: `Correct sslrootcert, sslcert or sslkey in ${variable}.`,
    };
  return null;
}

const unknownAuthority = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** A pooler answers in PostgreSQL's place, and supports less. */
function explainPooler(servers: string, error: unknown, variable: string): DatabaseFault | null {
  const message = messageOf(error);
  const code = sqlState(error);
  if (/unsupported startup parameter/.test(message))
    return {
      what: `the pooler at ${servers} refuses a setting of the connection: ${message}`,
      remedy: `Set ignore_startup_parameters = statement_timeout in PgBouncer, or, in its transaction mode, add cleancast=transaction-pooler to ${variable}.`,
    };
  if (/server_login_retry/.test(message))
    return {
      what: `the pooler at ${servers} does not try to reach PostgreSQL again yet: ${message}`,
      remedy: "Start PostgreSQL, and set server_login_retry = 1 in PgBouncer: by default it waits 15 seconds after a failure.",
    };
  if (code === "26000" || code === "42P05")
    return {
      what: `the pooler at ${servers} does not keep prepared statements: ${message}`,
      remedy: `Add cleancast=transaction-pooler to ${variable}, or set max_prepared_statements in PgBouncer 1.21 or later.`,
    };
  return null;
}

/** Without an answer within the time limit, the driver reports a lost connection (08006), and our search of the primary 08001. */
const unreachable = new Set(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "08001", "08006"]);

function accessOf(url: string): { database: string; user: string } {
  const { pathname, username } = new URL(serverUrls(url)[0] ?? "");
  const user = decodeURIComponent(username);
  return {
    database: decodeURIComponent(pathname.slice(1)) || user || "(no name)",
    user: user ? `the user ${user}` : "the user",
  };
}

/** Of several addresses that failed, the first explains enough. */
export function messageOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  return cause instanceof Error ? cause.message || sqlState(cause) : String(cause);
}
