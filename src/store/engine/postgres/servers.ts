// The servers that DATABASE_URL names. Several stand between commas, as PostgreSQL's own tools write them:
// postgres://user:password@db1:5432,db2:5432/cleancast?target_session_attrs=read-write

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;
const attribute = "target_session_attrs";

/** One URL for each server. Of a URL that has no fault. */
export function serversOf(url: string): string[] {
  const [, before, hosts = "", after = ""] = form.exec(url) ?? [];
  return hosts.split(",").map((host) => `${before}${host}${withoutAttribute(after)}`);
}

/** What is wrong with the URL, as a sentence about DATABASE_URL that never repeats the password in it; null when nothing is. */
export function faultOfUrl(url: string): string | null {
  const [, , hosts, after] = form.exec(url) ?? [];
  if (hosts === undefined)
    return "DATABASE_URL must start with postgres:// ; leave it out for the embedded database.";
  if (
    hosts.includes(",") &&
    hosts.split(",").some((host) => !/^[^:]+(?::\d+)?$|^\[.+\](?::\d+)?$/.test(host))
  )
    return "DATABASE_URL has a server without a name; write several like db1:5432,db2:5432.";
  // Those of a password that end the part before the server's name, for whoever reads the URL.
  if (after?.includes("@") || !serversOf(url).every((server) => URL.canParse(server)))
    return "DATABASE_URL cannot be read; in a name or password, write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25.";
  const parameters = parametersOf(after ?? "");
  if (parameters.get("host")?.includes(","))
    return "DATABASE_URL has several servers in host=; write them like postgres://user:password@db1:5432,db2:5432/cleancast.";
  const wanted = parameters.get(attribute) ?? "read-write";
  if (!["read-write", "primary", "any"].includes(wanted))
    return `DATABASE_URL has ${attribute}=${wanted}; the relay writes, so set it to read-write or leave it out.`;
  return null;
}

/** Names and ports alone, to speak of them. */
export function namesOf(servers: readonly string[]): string {
  return servers.map((server) => form.exec(server)?.[2] || "the local server").join(", ");
}

const parametersOf = (after: string) => new URLSearchParams(/\?([^#]*)/.exec(after)?.[1] ?? "");

/** The driver does not know it: whether a server can be written to is asked in any case. */
function withoutAttribute(after: string): string {
  return after.replace(new RegExp(`([?&])${attribute}=[^&#]*(&?)`), (_all, mark: string, next: string) =>
    next ? mark : "",
  );
}
