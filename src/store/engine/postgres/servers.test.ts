import { describe, expect, test } from "vitest";
import { findUrlFault, serverNames, serverUrls } from "./servers.ts";

const source = { name: "DATABASE_URL", otherwise: "leave it out for the embedded database" };

describe("the servers of a URL", () => {
  test.each([
    ["postgres://u:p@db1:5432/cc", ["postgres://u:p@db1:5432/cc"]],
    ["postgres://u:p@db1:5432,db2/cc", ["postgres://u:p@db1:5432/cc", "postgres://u:p@db2/cc"]],
    [
      "postgresql://u:p,q@db1,db2:6000,[::1]:7000/cc?sslmode=require",
      [
        "postgresql://u:p,q@db1/cc?sslmode=verify-full",
        "postgresql://u:p,q@db2:6000/cc?sslmode=verify-full",
        "postgresql://u:p,q@[::1]:7000/cc?sslmode=verify-full",
      ],
    ],
    ["postgres://db1,db2/cc?target_session_attrs=read-write", ["postgres://db1/cc", "postgres://db2/cc"]],
    ["postgres://db1/cc?target_session_attrs=primary&sslmode=require", ["postgres://db1/cc?sslmode=verify-full"]],
    ["postgres://db1/cc?sslmode=require&target_session_attrs=any", ["postgres://db1/cc?sslmode=verify-full"]],
    ["postgres:///cc?host=/run/postgresql", ["postgres:///cc?host=/run/postgresql"]],
    ["postgres://db1/cc?sslmode=disable", ["postgres://db1/cc?sslmode=disable"]],
    ["postgres://db1/cc?sslmode=require&uselibpqcompat=true", ["postgres://db1/cc?sslmode=require&uselibpqcompat=true"]],
  ])("%s is split into one URL for each server", (url, servers) => {
    expect(findUrlFault(url, source)).toBeNull();
    expect(serverUrls(url)).toEqual(servers);
  });

  test.each([
    ["mysql://db/cc", /must start with postgres:/],
    ["postgres://u:secret@db1,,db2/cc", /a server without a name/],
    ["postgres://u:secret@db1:5432,/cc", /a server without a name/],
    ["postgres://u:secret@db1,db2:x/cc", /a server without a name/],
    ["postgres://u:secret@db1,db2/cc?target_session_attrs=standby", /target_session_attrs=standby; the relay writes/],
    ["postgres://u:secret/x@db1/cc", /write \/ as %2F/],
    ["postgres://u:12,secret/x@db1/cc", /write \/ as %2F/],
    ["postgres://u:12?secret@db1/cc", /\? as %3F/],
    ["postgres://u:secret#x@db1/cc", /# as %23/],
    ["postgres://u:secret@db1:x/cc", /cannot be read/],
    ["postgres:///cc?user=u&password=secret&host=db1,db2&port=1,2", /several servers in host=/],
  ])("%s is refused, without its password", (url, sentence) => {
    expect(findUrlFault(url, source)).toMatch(sentence);
    expect(findUrlFault(url, source)).not.toContain("secret");
  });

  test("a sentence names the option, and mentions an alternative only where there is one", () => {
    expect(findUrlFault("mysql://db/cc", source)).toBe(
      "DATABASE_URL must start with postgres:// ; leave it out for the embedded database.",
    );
    expect(findUrlFault("mysql://db/cc", { name: "--to" })).toBe("--to must start with postgres:// .");
    expect(findUrlFault("postgres://db1/cc?target_session_attrs=standby", { name: "--to" })).toBe(
      "--to has target_session_attrs=standby; the relay writes, so set it to read-write or leave it out.",
    );
  });

  test("messages name servers by host and port, without credentials", () => {
    expect(serverNames(serverUrls("postgres://u:secret@db1:5432,db2/cc"))).toBe("db1:5432, db2");
  });
});
