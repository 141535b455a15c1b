// Places of residence in the form that platforms hash: countries, and the states and provinces of North America, as their
// two-letter codes. People write names, and a hashed name matches no one.

/** Letters only, in lower case. */
const lettersOf = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{M}]/gu, "");

const stateNames = `al alabama, ak alaska, az arizona, ar arkansas, ca california, co colorado, ct connecticut, de delaware,
  dc districtofcolumbia, dc washingtondc, fl florida, ga georgia, hi hawaii, id idaho, il illinois, in indiana, ia iowa,
  ks kansas, ky kentucky, la louisiana, me maine, md maryland, ma massachusetts, mi michigan, mn minnesota,
  ms mississippi, mo missouri, mt montana, ne nebraska, nv nevada, nh newhampshire, nj newjersey, nm newmexico,
  ny newyork, nc northcarolina, nd northdakota, oh ohio, ok oklahoma, or oregon, pa pennsylvania, ri rhodeisland,
  sc southcarolina, sd southdakota, tn tennessee, tx texas, ut utah, vt vermont, va virginia, wa washington,
  wv westvirginia, wi wisconsin, wy wyoming, pr puertorico, ab alberta, bc britishcolumbia, mb manitoba,
  nb newbrunswick, nl newfoundlandandlabrador, nt northwestterritories, ns novascotia, nu nunavut, on ontario,
  pe princeedwardisland, qc quebec, qc québec, sk saskatchewan, yt yukon`;

const stateCodes = new Map(
  stateNames.split(",").map((pair) => {
    const [code = "", name = ""] = pair.trim().split(" ");
    return [name, code] as const;
  }),
);

/** Names that people use and that are not the official English ones. */
const otherCountryNames = {
  unitedstatesofamerica: "us",
  usa: "us",
  america: "us",
  uk: "gb",
  greatbritain: "gb",
  england: "gb",
  scotland: "gb",
  wales: "gb",
  northernireland: "gb",
  holland: "nl",
  thenetherlands: "nl",
  czechrepublic: "cz",
  turkey: "tr",
  uae: "ae",
  hongkong: "hk",
  macedonia: "mk",
};

let countryCodes: Map<string, string> | undefined;

/** The English names of all countries; made on first use, because few connections map a country. */
function codesByName(): Map<string, string> {
  if (countryCodes) return countryCodes;
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  countryCodes = new Map(Object.entries(otherCountryNames));
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(code);
    // A withdrawn code has the name of its successor.
    const isCurrent = new Intl.Locale(`und-${code}`).region === code;
    if (name && isCurrent) countryCodes.set(lettersOf(name), code.toLowerCase());
  }
  return countryCodes;
}

export const placeForms = {
  /** Letters only, in lower case. */
  city: lettersOf,
  /** The code of a state of the United States or a province of Canada; letters in lower case elsewhere. */
  state: (text: string) => stateCodes.get(lettersOf(text)) ?? lettersOf(text),
  /** Lower case without spaces and dashes; the first five digits of a US code. */
  zip: (text: string) =>
    text
      .toLowerCase()
      .replace(/\s/g, "")
      .replace(/^(\d{5})-\d{4}$/, "$1")
      .replace(/\p{Pd}/gu, ""),
  /** Two letters; empty for what is no country. */
  country: (text: string) => {
    const name = lettersOf(text);
    return codesByName().get(name) ?? (/^[a-z]{2}$/.test(name) ? name : "");
  },
};
