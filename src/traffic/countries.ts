// Finds the country of an address in a MaxMind file that the operator provides: GeoLite2 or GeoIP2, Country or City, or DB-IP's.
// The licences do not allow shipping one with Cleancast.

import { readFileSync } from "node:fs";
import ipaddr from "ipaddr.js";
import { Reader, type CountryResponse } from "mmdb-lib";
import { errorCode } from "../kernel/errorCode.ts";

export type Countries = {
  /** Two capital letters; null when the file has none. */
  countryOf(address: string): string | null;
  builtAt: Date;
  /** The file's own type, for example "GeoLite2-Country". */
  type: string;
};

const holdsCountries = /country|city|location|enterprise/i;

/** Reads the whole file once. Throws an error in one sentence when the file cannot be used. */
export function loadCountries(file: string): Countries {
  const reader = createReader(file);
  const { databaseType: type, buildEpoch: builtAt, ipVersion } = reader.metadata;
  return {
    countryOf(address) {
      if (!ipaddr.isValid(address)) return null;
      const parsed = ipaddr.process(address);
      // In an IPv4 file the reader would read the start of an IPv6 address as an IPv4 address.
      if (ipVersion === 4 && parsed.kind() === "ipv6") return null;
      try {
        return readCountry(reader.get(parsed.toString()));
      } catch {
        // A damaged record must not stop a visit.
        return null;
      }
    },
    builtAt,
    type,
  };
}

function createReader(file: string): Reader<CountryResponse> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = errorCode(error);
    throw unusable(file, code === "ENOENT" ? "does not exist" : `cannot be read (${code})`, error);
  }
  let reader: Reader<CountryResponse>;
  try {
    reader = new Reader<CountryResponse>(bytes);
  } catch (error) {
    throw unusable(file, "is not a MaxMind database, or is damaged", error);
  }
  // The reader does not validate the metadata.
  const { databaseType, nodeCount, searchTreeSize, buildEpoch, ipVersion } = reader.metadata;
  const whole = nodeCount > 0 && searchTreeSize < bytes.length && (ipVersion === 4 || ipVersion === 6);
  if (!whole || typeof databaseType !== "string" || Number.isNaN(buildEpoch.getTime()))
    throw unusable(file, "is not a MaxMind database, or is damaged");
  if (!holdsCountries.test(databaseType)) throw unusable(file, `is of the type ${databaseType}, without countries`);
  return reader;
}

function unusable(file: string, why: string, cause?: unknown): Error {
  return new Error(
    `The country file ${file} ${why}. Give the path of a GeoLite2-Country, GeoLite2-City or DB-IP file (.mmdb), ` +
      "or leave the setting out.",
    { cause },
  );
}

/** Files may have any shape, so every step is checked. */
function readCountry(record: unknown): string | null {
  const code = (record as { country?: { iso_code?: unknown } | null } | null)?.country?.iso_code;
  return typeof code === "string" && /^[A-Z]{2}$/.test(code) ? code : null;
}
