// Finds parts that no ordinary desktop browser sends: unknown products, unknown platform entries, impossible shapes. Phones,
// televisions and apps carry too many names of their own, so this applies to desktops only.

/** In lower case: engines, browsers, distributions and desktop programs that show pages. */
const knownProducts = new Set(
  `mozilla applewebkit webkit khtml gecko goanna trident presto like chrome chromium chr0me safari version
   mobile tablet firefox fxios crios edge edg edga edgios opr opt opx opios opera oprgx vivaldi brave
   yabrowser yowser sa nichrome ya_browser sputnik amigo whale samsungbrowser ucbrowser ubrowser quark
   maxthon mxbrowser nitro qqbrowser mqqbrowser tencenttraveler lbbrowser theworld 2345explorer 2345chrome
   metasr se 2.x 360se 360ee qihu qhbrowser baidubrowser bidubrowser bdbrowser bdspark spark sogoumse juzi
   coolnovo liebaofast huaweibrowser miuibrowser heytapbrowser vivobrowser ddg duckduckgo ecosia epiphany
   midori konqueror falkon qupzilla otter dooble arora rekonq snowshoe uzbl luakit surf netsurf dillo
   galeon kazehakase camino caminos seamonkey iceape iceweasel icecat icedragon comodo_dragon comododragon
   dragon palemoon basilisk waterfox cyberfox librewolf floorp zen k-meleon k-ninja netscape netscape6
   navigator firebird phoenix minefield shiretoko namoroka granparadiso bonecho lorentz fennec focus klar
   flock rockmelt songbird kylo wyzo swiftfox swiftweasel conkeror vimperator icab omniweb shiira sunrise
   cheshire fluid stainless chromeplus iron iridium srware torch orbitum epic cent kinza sleipnir lunascape
   puffin coast surfeasy avastsecurebrowser avast avg ccleaner avira aviator aol aolbuild america flow
   ladybird servo qtwebengine qtcarbrowser tesla oculusbrowser wolvic vr mobilevr xr picobrowser silk silk-
   accelerated crkey electron nw.js cef valve steam gameoverlay discord slack slack_ssb teams figma notion
   zoom postman obsidian msteams wavebox ferdi franz rambox station min beaker mms gls bing bingsapphire
   ubuntu kubuntu debian fedora centos suse opensuse mandriva mageia gentoo slackware redhat solaris arch
   linux mint freebsd openbsd netbsd vectorlinux ubuntu-feisty pclinuxos raspbian large screen googletv
   smart-tv osmeta gsa gnuzilla seznam sznprohlizec coc_coc_browser atom helium_browser polarity slimjet
   superbird ucturbo ur vast viasat norton honorlock respondus lockdown spotify teamsdesktop core slbchan
   qbcore webissimo3 wpe webkitgtk_minibrowser adobeair air adobe unityplayer unity openwave instagram line
   kakaotalk micromessenger windowswechat wxwork wechat weixin language nettype build sidekick arc dia
   comet atlas`.split(/\s+/),
);

/** Names that contain what they are. */
const browserName = /browser|explorer|chrom|fox$|webview|navigator|_ssb$/i;
const ordinaryComment = new RegExp(
  `^(?:${[
    "KHTML,? ?(?:like Gecko)?(?:, Safari.*)?|like .*|Edition [\\w -]+|electron [\\d.]+|\\.NET.*|Debian.*|Ubuntu.*",
    "alpha|beta|dev|lite|canary|nightly|\\d[\\w.~+-]*|GNU|x86_64|64-bit|32-bit|[A-Z.]+/[\\d.]+",
    "[a-z]{2}(?:[-_][A-Za-z]{2})?",
  ].join("|")})$`,
  "i",
);
const productOrComment = /\(([^()]{0,200})\)|([^\s()[\];,/]{1,80})(\/[^\s();,]{0,80})?/g;

// Old browsers had many names, and distributions added theirs to Firefox. Newer browsers are few and known, so the checks
// apply to these versions only.
const recentVersion = /Chrome\/(?:[2-9]\d|\d{3})\.|Firefox\/\d{2,3}\.|Version\/(?:[6-9]|1\d|2\d)[.\d]* /;
const currentVersion = /Chrome\/(?:5[5-9]|[6-9]\d|\d{3})\.|Firefox\/(?:[4-9]\d|\d{3})\.|Version\/(?:9|1\d|2\d)[.\d]* /;

/** Finds the first product or comment after the platform that no ordinary browser sends. */
export function findUnknownProduct(rest: string): string | null {
  if (rest.includes(" Electron/")) return null;
  if (!recentVersion.test(rest)) return / Firefox\/[\d.]+ ([A-Z][A-Za-z-]{4,})$/.exec(rest)?.[1] ?? null;
  const isCurrent = currentVersion.test(rest);
  for (const [whole, comment, name, version] of rest.matchAll(productOrComment)) {
    if (comment !== undefined) {
      if (!ordinaryComment.test(comment.trim())) return comment.trim();
      continue;
    }
    if (name === undefined || knownProducts.has(name.toLowerCase()) || browserName.test(name)) continue;
    const isBareWord = version === undefined && /^\+?[A-Za-z][\w.+-]{2,}$/.test(name);
    // Browsers based on Chromium have long versions, "/126.0.25496.127"; bots sign with short ones, "/1.0".
    const isShortVersion = version !== undefined && !/^\/\d+\.\d+\.\d{3,}/.test(version);
    if (isBareWord || (isShortVersion && isCurrent)) return whole;
  }
  return null;
}

const ordinaryEntry = new RegExp(
  `^(?:${[
    "U|I|N|x64|x86|x86_64|i[3-6]86|amd64|arm(?:v\\d\\w*|_?64|hf)?|aarch64|ARM|WOW64|Win64|IA64",
    "Win ?9[58x]|WinNT.*|Windows.*|Macintosh|X11|Wayland|Ubuntu.*|Fedora.*|Debian.*|Mint.*|Arch.*",
    "SUSE.*|CentOS.*|compatible|Linux.*|GNU/Linux.*|CrOS .*",
    "(?:Free|Open|Net|Dragon ?[Ff]ly|Ghost)BSD.*|DragonFly.*|SunOS.*|AIX.*|HP-UX.*|IRIX.*|OSF1.*",
    "BeOS.*|Haiku.*|OS/2.*|(?:Intel|PPC|ARM|Apple)? ?Mac ?OS ?X?.*|PPC.*|Intel.*|rv:?[\\w.+-]*",
    "MSIE [\\w.]+|Trident/[\\d.]+|Touch|Tablet PC.*|KHTML.*|Konqueror.*",
    "[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,4}){0,2}(?:@[\\w=-]{1,30})?|m\\d+|Quest.*|Lumia.*|Silk.*|osmeta.*",
    "Pico.*|Valve.*|Steam.*|Media Center.*|\\.NET.*|MA\\w{2,4}|NP\\d+|SLCC\\d|InfoPath.*|Zune.*|WebView.*",
    "Cortana.*|Xbox.*|ADMIN|Notebook|[\\d._x-]*|Core/.*|Nexus.*|K|Tesla.*|Andr[o0]id.*|UNIX.*|UWP.*",
  ].join("|")})$`,
  "i",
);

/** Finds the first platform entry that is neither a system, a language nor a version. */
export function findUnknownPlatform(platform: string, rest: string): string | null {
  // Internet Explorer's platform lists what was installed on the machine.
  return /MSIE|Trident/.test(platform) || !recentVersion.test(rest) ? null : findUnknownEntry(platform);
}

export function findUnknownEntry(platform: string): string | null {
  for (const entry of platform.split(";")) {
    const word = entry.trim();
    if (!ordinaryEntry.test(word)) return word.slice(0, 40);
  }
  return null;
}

const desktopSystem = /Windows NT|Macintosh|Mac OS X|X11|Linux x86_64/;
const familiarStart =
  /^(?:Linux|Windows|Macintosh|X11|Wayland|iP(?:hone|ad|od)|Mobile|Tablet|Phone|PC|Unknown|compatible|U|SMART-TV|Ubuntu|Fedora|MSIE)\b/i;
const anySystem = new RegExp(
  [
    "Linux|Windows|Win9|Mac|X11|Wayland|iP(?:hone|ad|od)|Andr[o0]id|Mobile|Tablet|Phone|Web0S|webOS",
    "TV|PS\\d|PSP|PlayStation|Nintendo|Symb|Series|Nokia|BlackBerry|BB\\d|PlayBook|Tizen|MeeGo|Maemo",
    "Sailfish|KAIOS|Bada|BREW|Kindle|Xbox|BSD|SunOS|BeOS|Haiku|OS/2|Amiga|AROS|RISC|DirectFB|Harmony",
    "Fuchsia|watchOS|visionOS|CrOS|Photon|QNX|SAMSUNG|LGE|Sony|SHARP|Syllable|MorphOS|Unix|compatible",
  ].join("|"),
  "i",
);

/** True for "(Java)", which names no system, and for "(feeder.co; Macintosh", which puts a name first. */
export function hasUnknownStart(platform: string, rest: string): boolean {
  if (!anySystem.test(platform)) return !rest.includes("Mobile");
  // Qt's web view sends this without a desktop; televisions have another processor.
  if (/^Unknown; Linux (?:x86_64|i686)/.test(platform)) return true;
  return desktopSystem.test(platform) && !familiarStart.test(platform) && !rest.includes("Mobile");
}

/** Finds a shape that was cut short, typed by hand or combined from two browsers. */
export function findImpossibleShape(platform: string, rest: string): string | null {
  const engineOnly = /^ ?(?:AppleWebKit\/\S* ?(?:\([^)]*\))?|Gecko(?:\/\S*)?)? ?$/.test(rest);
  // Before Firefox had its name, builds of Gecko had none.
  if (engineOnly && !/rv:[01]\./.test(platform)) return "an engine without a browser";
  if (/Windows NT (?!10\.0|6\.[0-3]|5\.[0-2]|4\.0)/.test(platform)) return "a Windows that does not exist";
  if (/Chrome\/(?!\d)|Firefox\/(?!\d)|rv:(?!\d)/.test(platform + rest)) return "a made-up version";
  if (/Trident\/[5-9]|MSIE (?:9|10)/.test(platform) && !/^(?: like Gecko)? *$/.test(rest))
    return "Internet Explorer with a signature";
  if (/Chrome\/\d+(?:\.\d+){0,2}(?![\d.])/.test(rest)) return "a version cut short";
  const engines = /AppleWebKit\/([\d.]+) .{0,200}Chrome\/[2-9]\d.{0,200} Safari\/([\d.]+)/.exec(rest);
  if (engines && engines[1] !== engines[2]) return "two engines at once";
  if (rest.includes("Chrome/") && !rest.includes("Safari/")) return "Chrome cut short";
  if (/AppleWebKit\/[\d.]+\(/.test(rest)) return "AppleWebKit written by hand";
  if (/["<>{}|$\\`]/.test(rest)) return "characters of a script";
  const firefox = /^ Gecko(\/\d+)? Firefox\/(\d+)/.exec(rest);
  if (firefox) {
    const version = Number(firefox[2]);
    const rv = Number(/rv:(\d+)/.exec(platform)?.[1] ?? Number.NaN);
    if (!firefox[1] || (version >= 5 && Number.isNaN(rv))) return "Firefox written by hand";
    // Firefox 110 to 119 sent rv:109, for pages that read 11 as Internet Explorer.
    if (version >= 10 && rv !== version && !(rv === 109 && version >= 110 && version < 120)) return "Firefox in two versions";
  }
  return null;
}
