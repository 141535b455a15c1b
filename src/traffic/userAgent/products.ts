// What people's browsers are made of. A desktop browser names an engine and itself; a product that nobody browses with, a
// bare word or a remark behind it is how programs sign. Phones, televisions and apps carry so many names of their own that
// this is asked on desktops only.

/** Lower case. Engines, browsers, distributions, shells and the programs that people open pages in. */
const known = new Set(
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

/** Names that say it themselves; an Electron program is a window on somebody's desk. */
const saysBrowser = /browser|explorer|chrom|fox$|webview|navigator|_ssb$/i;
const fineRemark = new RegExp(
  `^(?:${[
    "KHTML,? ?(?:like Gecko)?(?:, Safari.*)?|like .*|Edition [\\w -]+|electron [\\d.]+|\\.NET.*|Debian.*|Ubuntu.*",
    "alpha|beta|dev|lite|canary|nightly|\\d[\\w.~+-]*|GNU|x86_64|64-bit|32-bit|[A-Z.]+/[\\d.]+",
    "[a-z]{2}(?:[-_][A-Za-z]{2})?",
  ].join("|")})$`,
  "i",
);
const piece = /\(([^()]{0,200})\)|([^\s()[\];,/]{1,80})(\/[^\s();,]{0,80})?/g;

// Once, every other small browser had a name of its own, and distributions wrote theirs into Firefox. Since then there are
// few, and they are known: what is not asked of the old ones is asked of these.
const sinceRelease = /Chrome\/(?:[2-9]\d|\d{3})\.|Firefox\/\d{2,3}\.|Version\/(?:[6-9]|1\d|2\d)[.\d]* /;
const ofToday =
  /Chrome\/(?:5[5-9]|[6-9]\d|\d{3})\.|Firefox\/(?:[4-9]\d|\d{3})\.|Version\/(?:9|1\d|2\d)[.\d]* /;

/** The first thing behind the platform that no browser of people says, or null. */
export function strangeProduct(rest: string): string | null {
  if (rest.includes(" Electron/")) return null;
  if (!sinceRelease.test(rest)) return / Firefox\/[\d.]+ ([A-Z][A-Za-z-]{4,})$/.exec(rest)?.[1] ?? null;
  const today = ofToday.test(rest);
  for (const [whole, remark, name, version] of rest.matchAll(piece)) {
    if (remark !== undefined) {
      if (!fineRemark.test(remark.trim())) return remark.trim();
      continue;
    }
    if (name === undefined || known.has(name.toLowerCase()) || saysBrowser.test(name)) continue;
    const bare = version === undefined && /^\+?[A-Za-z][\w.+-]{2,}$/.test(name);
    // Chromium's relatives count as it does, "/126.0.25496.127"; programs that sign are young, "/1.0".
    const young = version !== undefined && !/^\/\d+\.\d+\.\d{3,}/.test(version);
    if (bare || (young && today)) return whole;
  }
  return null;
}

const platformWords = new RegExp(
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

/** The first entry of a desktop's platform that is neither a system, a language nor a version. */
export function strangePlatform(platform: string, rest: string): string | null {
  // Internet Explorer's platform lists whatever was installed on the machine.
  return /MSIE|Trident/.test(platform) || !sinceRelease.test(rest) ? null : strangeEntry(platform);
}

export function strangeEntry(platform: string): string | null {
  for (const entry of platform.split(";")) {
    const word = entry.trim();
    if (!platformWords.test(word)) return word.slice(0, 40);
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

/** "(Java)" and "(HeadOnlyScraper)" name no system, "(feeder.co; Macintosh" puts a name in front of one. */
export function strangeStart(platform: string, rest: string): boolean {
  if (!anySystem.test(platform)) return !rest.includes("Mobile");
  // What Qt's web view says when it runs without a desktop; televisions say it with another processor.
  if (/^Unknown; Linux (?:x86_64|i686)/.test(platform)) return true;
  return desktopSystem.test(platform) && !familiarStart.test(platform) && !rest.includes("Mobile");
}
