// Parses a browser's user agent: Mozilla/5.0 (platform) and the rest. Phone models and screen data of in-app browsers are
// free text ("CUBOT", "Spider 8", "GM Discovery"), so no bot words are searched there.

export type Parts = {
  /** The first comment, without its parentheses. */
  platform: string;
  /** The part after the first comment. */
  rest: string;
  /** The string without free text about the device. */
  cleaned: string;
  /** `cleaned` without the engine and the common products; long lists are matched against this only. */
  extra: string;
  android: boolean;
  /** A web view, or a browser that names the app that it is part of. */
  inApp: boolean;
  /** Televisions, consoles and cars, whose makers follow no convention. */
  appliance: boolean;
  desktop: boolean;
};

const inAppMarks = new RegExp(
  [
    "FB_IAB|FBA[NV]/|\\bInstagram|Barcelona|MetaIAB|musical_ly|trill_|TikTok|Bytedance|aweme|Snapchat",
    "Pinterest/(?:iOS|Android)|LinkedInApp|TwitterAndroid|Twitter for|Reddit/|WhatsApp/|Telegram|Viber/|VKAndroid",
    "MicroMessenger|Weixin|WeChat|Weibo|\\bQQ/|AliApp|AlipayClient|baiduboxapp|NetType/|SimpleUISwitch|\\bzalo",
    "\\bLine/|KAKAOTALK|NAVER\\(|DaumApps|\\bGSA/|GoogleApp/|YaApp_|YaSearch|WebView|; wv\\)|Version/4\\.0 Chrome/|com\\.[a-z]+\\.[a-z]",
  ].join("|"),
  "i",
);
const applianceMarks = new RegExp(
  [
    "HbbTV|CE-HTML|Smart-?TV|TV\\b|NetCast|Web0S|webOS|VIDAA|Tizen|CrKey|VIZIO|PlayStation|\\bPS\\d",
    "Nintendo|\\bXbox|\\bAFT[A-Z]|BRAVIA|OMI/|Espial|Roku|DTV|STB|DirectFB|Odin/|(?:GW|MR)-Device",
    "GoogleTV|\\bTesla/|OculusBrowser|NetFront|FOMA|KDDI|MIDP|Kindle/",
  ].join("|"),
  "i",
);
const androidMarks = /Andr[o0]id|\bAdr |HarmonyOS|AliyunOS|OpenHarmony/i;
/** Other phones with their model in the same place. */
const phoneMarks =
  /^(?:Mobile|Tablet|Phone|Cloud Phone|Symb|Series|BlackBerry|BB10|PlayBook|SAMSUNG|Nokia|NOKIA|LG|Windows Phone)/;
const desktopMarks = /^(?:Windows(?: NT|;|$)|Macintosh|X11|Wayland)/;
/** A bot's name inside the device part: "Storebot-Google/1.0", a contact address. A bare "XBot" is a phone. */
const botInDevice = /(?<!cu)bot[\w-]{0,20}\/\d|crawler|(?<![\w-])spider[\w-]{0,20}\/\d|\w-Google\b|https?:|compatible;|www\./i;

const isAndroid = (platform: string) => androidMarks.test(platform) || platform.startsWith("Linux; ");

/** True when the platform is only a device, which may be ignored. */
export const isDeviceOnly = (platform: string) =>
  (isAndroid(platform) || phoneMarks.test(platform)) && !botInDevice.test(platform);

/** True when the string names an app that shows pages. */
export const namesApp = (userAgent: string) => inAppMarks.test(userAgent);

export function parseUserAgent(userAgent: string): Parts | null {
  const open = userAgent.startsWith("Mozilla/5.0 (") ? 12 : userAgent.startsWith("Mozilla/5.0(") ? 11 : -1;
  if (open < 0) return null;
  const close = findClosing(userAgent, open);
  const platform = userAgent.slice(open + 1, close);
  const rest = userAgent.slice(close + 1);
  const inApp = namesApp(userAgent) || isAppleWebView(platform, rest);
  const appliance = applianceMarks.test(userAgent);
  const device = isDeviceOnly(platform) ? "Linux; Android" : platform;
  const cleaned = `Mozilla/5.0 (${device})${inApp || appliance ? withoutScreenData(rest) : rest}`;
  return {
    platform,
    rest,
    cleaned,
    extra: cleaned.replace(commonProducts, ""),
    android: isAndroid(platform),
    inApp,
    appliance,
    desktop: desktopMarks.test(platform) && !inApp && !appliance,
  };
}

/** Only Safari sends "Safari"; other programs on Apple's systems have WebKit without it. */
const isAppleWebView = (platform: string, rest: string) =>
  !rest.includes("Safari/") &&
  (platform.startsWith("iP") ||
    (platform.startsWith("Macintosh") && /^ AppleWebKit\/6\d\d[\d.]* \(KHTML, like Gecko\)/.test(rest)));

const commonProducts =
  / (?:(?:AppleWebKit|Version|Chrome|Mobile|Safari|Gecko|Firefox)\/[\w.+]+|\(KHTML, like Gecko\)|Mobile)(?![^ ])/g;

/** Finds the end of the comment that opens here: models may contain parentheses, "Moto G (4)". */
function findClosing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 40) depth++;
    else if (code === 41 && --depth === 0) return i;
  }
  return text.length;
}

const withoutScreenData = (rest: string) =>
  rest.replace(/\((?!KHTML|compatible)[^()]*\)|\[[^[\]]*\]/gi, (comment) =>
    /https?:|compatible;/i.test(comment) ? comment : " ",
  );
