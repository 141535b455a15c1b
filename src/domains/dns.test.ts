import { expect, test } from "vitest";
import { newResolver } from "../delivery/addresses.ts";
import { readDnsServers } from "./dns.ts";

test.each([
  ["", []],
  [" 9.9.9.9 , 127.0.0.1:5353,", ["9.9.9.9", "127.0.0.1:5353"]],
  ["2620:fe::fe,[2620:fe::fe],[2620:fe::fe]:53", ["2620:fe::fe", "[2620:fe::fe]", "[2620:fe::fe]:53"]],
])("%j is read as a list of DNS servers", (text, servers) => {
  expect(readDnsServers(text)).toEqual(servers);
  expect(() => newResolver(servers)).not.toThrow();
});

test.each(["dns.example.com", "9.9.9", "https://9.9.9.9", "9.9.9.9:port", "[9.9.9.9", "9.9.9.9 1.1.1.1"])(
  "%j is not a DNS server",
  (text) => expect(readDnsServers(`127.0.0.1,${text}`)).toEqual({ fault: text }),
);
