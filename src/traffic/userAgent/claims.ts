// What a user agent says about itself, to be held against the client hints and what the page sees.

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
  const os = osOf(text);
  return {
    ...engineOf(text, os),
    os,
    mobile: /\bMobile\b|iPhone|iPod|Windows Phone|Opera Mini|Opera Mobi/.test(text),
    inApp: isInApp(text, os),
  };
}

// Order matters: Windows phones said Android and iPhone, too, and Android says Linux.
function osOf(text: string): Claims["os"] {
  if (/Windows Phone|IEMobile|Tizen|Web0S|webOS|KAIOS|PlayStation|Nintendo/.test(text)) return "other";
  if (/iPhone|iPad|iPod/.test(text)) return "ios";
  if (/Android/.test(text)) return "android";
  if (/Windows/.test(text)) return "windows";
  if (/CrOS/.test(text)) return "chromeos";
  if (/Macintosh|Mac OS X/.test(text)) return "macos";
  return /Linux|X11/.test(text) ? "linux" : "other";
}

function engineOf(text: string, os: Claims["os"]): Pick<Claims, "engine" | "version"> {
  const chromium = major(/(?:Chrome|Chromium)\/(\d{1,4})/, text);
  // A claim of Chrome on an iPhone is kept as what it is: a contradiction for others to find.
  if (chromium !== null) return { engine: "chromium", version: chromium };
  // Every browser on iOS is WebKit, whatever it is called.
  if (os === "ios" || (/AppleWebKit\//.test(text) && /Safari\//.test(text)))
    return { engine: "webkit", version: major(/Version\/(\d{1,4})/, text) };
  const gecko = major(/Firefox\/(\d{1,4})/, text) ?? major(/rv:(\d{1,4})[\d.]*\) Gecko\//, text);
  if (gecko !== null) return { engine: "gecko", version: gecko };
  return /AppleWebKit\//.test(text)
    ? { engine: "webkit", version: null }
    : { engine: "other", version: null };
}

/** A web view: its headers and client hints differ from those of the browser on the same phone. */
function isInApp(text: string, os: Claims["os"]): boolean {
  if (namesAdApp.test(text)) return true;
  if (os === "android") return /; wv\)|Version\/4\.0 Chrome\//.test(text);
  return os === "ios" && !/Safari\/|CriOS|FxiOS|EdgiOS/.test(text);
}

const namesAdApp = new RegExp(
  [
    "FBA[NV]/|FB_IAB|MetaIAB|Instagram|Barcelona|Bytedance|musical_ly|trill_|TikTok|Snapchat|Pinterest/|LinkedInApp|Twitter",
    "MicroMessenger|\\bLine/|KAKAOTALK|NAVER\\(|\\bGSA/|GoogleApp/",
  ].join("|"),
);

function major(pattern: RegExp, text: string): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
