// What a desktop browser cannot have sent: a shape that was cut short, typed by hand or put together from two others.
// Asked on desktops only; phones and appliances are full of honest oddities.

export function flawOf(platform: string, rest: string): string | null {
  const engineOnly = /^ ?(?:AppleWebKit\/\S* ?(?:\([^)]*\))?|Gecko(?:\/\S*)?)? ?$/.test(rest);
  // Before Firefox was called so, builds of Gecko had no other name.
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
    // From 110 to 119 it kept saying 109, for pages that read 11 as Internet Explorer.
    if (version >= 10 && rv !== version && !(rv === 109 && version >= 110 && version < 120))
      return "Firefox in two versions";
  }
  return null;
}
