// Reads addresses and networks. These are own parsers, because they run for every visit and ipaddr.js takes ten times as long. They accept
// what Node's isIP() accepts, without zones.

/**
 * Reads an address as its bits, sixteen in a character: two characters of IPv4, eight of IPv6. A dual-stack socket names an IPv4 peer
 * ::ffff:192.0.2.1. Empty when the text is no address.
 */
export function readAddress(text: string): string {
  const ipv4 = readIpv4(text, 0);
  if (ipv4 >= 0) return String.fromCharCode(ipv4 >>> 16, ipv4 & 0xffff);
  if (!readIpv6(text)) return "";
  const bits = String.fromCharCode(...groups);
  return bits.startsWith("\0\0\0\0\0\uffff") ? bits.slice(6) : bits;
}

/** Reads 192.0.2.0/24, 2001:db8::/32 or one address; null for any other text. `size` is the number of bits that its addresses share. */
export function readNetwork(text: string): { bits: string; size: number } | null {
  const [, address = "", width] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = readAddress(address);
  const maxSize = 16 * bits.length;
  // ::ffff:192.0.2.0/120 is 192.0.2.0/24.
  const before = maxSize === 32 && address.includes(":") ? 96 : 0;
  const size = width === undefined ? maxSize : Number(width) - before;
  return bits !== "" && size >= 0 && size <= maxSize ? { bits, size } : null;
}

const [dot, colon, zero, nine] = [46, 58, 48, 57];

/** Reads the IPv4 address from `from` to the end of the text as a number; -1 when there is none. */
function readIpv4(text: string, from: number): number {
  if (text.length - from > 15) return -1;
  let number = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0) return -1;
      number = number * 256 + part;
      part = 0;
      digits = 0;
      dots++;
    } else {
      // 010 is ambiguous (octal or decimal), so it is refused.
      if (code < zero || code > nine || (digits > 0 && part === 0)) return -1;
      part = part * 10 + code - zero;
      if (part > 255) return -1;
      digits++;
    }
  }
  return dots === 3 && digits > 0 ? number * 256 + part : -1;
}

const groups = new Uint16Array(8);

/** Reads an IPv6 address into `groups`; false when the text is none. */
function readIpv6(text: string): boolean {
  if (text.length > 45) return false;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === colon) {
    if (text.charCodeAt(1) !== colon) return false;
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    if (count === 8) return false;
    const start = at;
    let group = 0;
    let digit = -1;
    while (at < text.length && (digit = hexDigit(text.charCodeAt(at))) >= 0) {
      group = group * 16 + digit;
      at++;
    }
    if (text.charCodeAt(at) === dot) {
      const number = readIpv4(text, start);
      if (number < 0 || count > 6) return false;
      groups[count++] = number >>> 16;
      groups[count++] = number & 0xffff;
      break;
    }
    if (at === start || at - start > 4) return false;
    groups[count++] = group;
    if (at === text.length) break;
    if (text.charCodeAt(at++) !== colon) return false;
    if (text.charCodeAt(at) === colon) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    } else if (at === text.length) return false;
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  const zeros = 8 - count;
  for (let i = 7; i >= gap; i--) groups[i] = i >= gap + zeros ? (groups[i - zeros] as number) : 0;
  return true;
}

/** -1 when a character is no digit. A table, because it is read for every character. */
const digits = Int8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
});
const hexDigit = (code: number) => digits[code] ?? -1;
