// Reads the claims of a user agent, to be compared with the client hints and the tag's observations.

export type Claims = {
  engine: "chromium" | "gecko" | "webkit" | "other";
  /** The major version: of Chromium, of Firefox, of Safari. */
  version: number | null;
  os: "windows" | "macos" | "linux" | "android" | "ios" | "chromeos" | "other";
  mobile: boolean;
  inApp: boolean;
};

export function readClaims(userAgent: string): Claims {
  const text = userAgent.length > 512 ? userAgent.slice(0, 512) : userAgent;
  const os = readOs(text);
  return {
    ...readEngine(text, os),
    os,
    mobile: /\bMobile\b|iPhone|iPod|Windows Phone|Opera Mini|Opera Mobi/.test(text),
    inApp: isInApp(text, os),
  };
}

// Order matters: Windows phones also name Android and iPhone, and Android names Linux.
function readOs(text: string): Claims["os"] {
  if (/Windows Phone|IEMobile|Tizen|Web0S|webOS|KAIOS|PlayStation|Nintendo/.test(text)) return "other";
  if (/iPhone|iPad|iPod/.test(text)) return "ios";
  if (/Android/.test(text)) return "android";
  if (/Windows/.test(text)) return "windows";
  if (/CrOS/.test(text)) return "chromeos";
  if (/Macintosh|Mac OS X/.test(text)) return "macos";
  return /Linux|X11/.test(text) ? "linux" : "other";
}

function readEngine(text: string, os: Claims["os"]): Pick<Claims, "engine" | "version"> {
  const chromium = readMajor(/(?:Chrome|Chromium)\/(\d{1,4})/, text);
  // Chrome on an iPhone is impossible; contradictions.ts finds it.
  if (chromium !== null) return { engine: "chromium", version: chromium };
  // Every browser on iOS is WebKit.
  if (os === "ios" || (/AppleWebKit\//.test(text) && /Safari\//.test(text)))
    return { engine: "webkit", version: readMajor(/Version\/(\d{1,4})/, text) };
  const gecko = readMajor(/Firefox\/(\d{1,4})/, text) ?? readMajor(/rv:(\d{1,4})[\d.]*\) Gecko\//, text);
  if (gecko !== null) return { engine: "gecko", version: gecko };
  return /AppleWebKit\//.test(text) ? { engine: "webkit", version: null } : { engine: "other", version: null };
}

/** A web view: its headers and client hints differ from those of the browser on the same phone. */
function isInApp(text: string, os: Claims["os"]): boolean {
  if (adAppName.test(text)) return true;
  if (os === "android") return /; wv\)|Version\/4\.0 Chrome\//.test(text);
  return os === "ios" && !/Safari\/|CriOS|FxiOS|EdgiOS/.test(text);
}

const adAppName = new RegExp(
  [
    "FBA[NV]/|FB_IAB|MetaIAB|Instagram|Barcelona|Bytedance|musical_ly|trill_|TikTok|Snapchat|Pinterest/|LinkedInApp|Twitter",
    "MicroMessenger|\\bLine/|KAKAOTALK|NAVER\\(|\\bGSA/|GoogleApp/",
  ].join("|"),
);

function readMajor(pattern: RegExp, text: string): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
