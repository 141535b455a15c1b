// The active codes of ISO 4217 up to amendment 180 (2026-01-01: the Bulgarian lev left), grouped by the digits
// after the decimal point. XTS (for tests) and XXX (no currency) are left out: no sale was ever made in them.

const codesByDigits: [digits: number, codes: string][] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
     CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF
     IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
     MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
     SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG
     YER ZAR ZMW ZWG`,
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
  // Metals and units of account have no minor unit. They get two digits, so that a value keeps its cents.
  [2, "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA"],
];

const digitsByCode = new Map(
  codesByDigits.flatMap(([digits, codes]) => codes.split(/\s+/).map((code) => [code, digits] as const)),
);

/** True for an active ISO 4217 code, in upper case, in which a price can be given. */
export function isCurrency(code: string): boolean {
  return digitsByCode.has(code);
}

/** Returns the digits after the decimal point. Stored events outlive their currency, so a withdrawn code gets the usual two. */
export function currencyDigits(code: string): number {
  return digitsByCode.get(code) ?? 2;
}
