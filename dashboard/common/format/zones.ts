/** The time zones to choose from. A browser may not list a name that the relay knows, so `current` is always there. */
export function zones(current: string): { value: string; label: string }[] {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return (names.includes(current) ? names : [current, ...names]).map((value) => ({
    value,
    label: value.replaceAll("_", " "),
  }));
}
