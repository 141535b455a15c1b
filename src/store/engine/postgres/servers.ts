// The servers in DATABASE_URL. Several are separated by commas, as PostgreSQL's own tools write them:
// postgres://user:password@db1:5432,db2:5432/cleancast?target_session_attrs=read-write

const urlParts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;
const sessionAttribute = "target_session_attrs";

/** Returns one URL for each server in a valid URL. */
export function serverUrls(url: string): string[] {
  const [, before, hosts = "", after = ""] = urlParts.exec(url) ?? [];
  const rest = withStrictTls(withoutSessionAttribute(after));
  return hosts.split(",").map((host) => `${before}${host}${rest}`);
}

/** Where a URL was given, as messages name it. */
type UrlSource = {
  name: string;
  /** How to do without a PostgreSQL URL there. */
  otherwise?: string;
};

/** Finds what is wrong with the URL, as a sentence that never repeats the password in it; null for a valid URL. */
export function findUrlFault(url: string, { name, otherwise }: UrlSource): string | null {
  const [, , hosts, after] = urlParts.exec(url) ?? [];
  if (hosts === undefined) return `${name} must start with postgres:// ${otherwise ? `; ${otherwise}` : ""}.`;
  if (hosts.includes(",") && hosts.split(",").some((host) => !/^[^:]+(?::\d+)?$|^\[.+\](?::\d+)?$/.test(host)))
    return `${name} has a server without a name; write several like db1:5432,db2:5432.`;
  // A password with one of these characters would end the part before the server's name.
  if (after?.includes("@") || !serverUrls(url).every((server) => URL.canParse(server)))
    return `${name} cannot be read; in a name or password, write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25.`;
  const parameters = readParameters(after ?? "");
  if (parameters.get("host")?.includes(","))
    return `${name} has several servers in host=; write them like postgres://user:password@db1:5432,db2:5432/cleancast.`;
  const wanted = parameters.get(sessionAttribute) ?? "read-write";
  if (!["read-write", "primary", "any"].includes(wanted))
    return `${name} has ${sessionAttribute}=${wanted}; the relay writes, so set it to read-write or leave it out.`;
  return null;
}

/** Returns names and ports without credentials, for messages. */
export function serverNames(servers: readonly string[]): string {
  return servers.map((server) => urlParts.exec(server)?.[2] || "the local server").join(", ");
}

/** Returns the servers and the database, without credentials, for messages. */
export const databaseName = (url: string) =>
  `${serverNames(serverUrls(url))}/${/^[^/]*\/\/[^/]*\/([^?#]*)/.exec(url)?.[1] ?? ""}`;

const readParameters = (after: string) => new URLSearchParams(/\?([^#]*)/.exec(after)?.[1] ?? "");

/** The driver does not know the attribute, and every server is probed for being writable in any case. */
function withoutSessionAttribute(after: string): string {
  const attribute = new RegExp(`([?&])${sessionAttribute}=[^&#]*(&?)`);
  return after.replace(attribute, (_all, mark: string, next: string) => (next ? mark : ""));
}

/** The driver checks certificates in each of these modes as in verify-full, and warns about it at every connection. */
const withStrictTls = (after: string): string =>
  after.includes("uselibpqcompat=true")
    ? after
    : after.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/, "$1verify-full");
