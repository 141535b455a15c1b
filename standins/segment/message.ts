// One message of the Tracking API.

import { flag, hash, ipAddress, isObject, isoTime, object, problemAt, text, type Check, type Problem } from "../shared/checks.ts";

const open = object({}, { open: true });
const campaign = object({ source: text(), medium: text(), name: text(), term: text(), content: text() }, { open: true });
const context = object(
  {
    campaign,
    traits: open,
    ip: ipAddress,
    userAgent: text(),
    page: open,
    consent: object({ categoryPreferences: open }, { open: true }),
  },
  { open: true },
);
const integrations: Check = (value, path) => {
  if (!isObject(value)) return problemAt("type", path, "must be an object");
  return Object.entries(value).flatMap(([name, one]) => (isObject(one) ? [] : flag(one, `${path}.${name}`)));
};

export function messageProblems(message: unknown, path: string, now: number): Problem[] {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  const found = object(
    {
      type: text({ oneOf: ["identify", "track", "page", "screen", "group", "alias"] }),
      messageId: text({ max: 100 }),
      userId: text(),
      anonymousId: text(),
      event: text(),
      name: text(),
      groupId: text(),
      previousId: text(),
      // A day ahead is more than a clock difference. There is no maximum age.
      timestamp: isoTime({ now, maxAheadSeconds: 86_400 }),
      originalTimestamp: isoTime({ now }),
      sentAt: isoTime({ now }),
      properties: open,
      traits: open,
      context,
      integrations,
      writeKey: text(),
    },
    { required: ["type"] },
  )(message, path);
  if (!isObject(message)) return found;
  return [
    ...found,
    ...(message.userId === undefined && message.anonymousId === undefined
      ? problemAt("missing", path, "needs userId or anonymousId (no_user_anon_id)")
      : []),
    ...(message.type === "track" && message.event === undefined
      ? problemAt("missing", at("event"), "is required for track")
      : []),
    // Inside context it is ignored, and the events go to every destination.
    ...(isObject(message.context) && message.context.integrations !== undefined
      ? problemAt("unknown", at("context.integrations"), "belongs at the top")
      : []),
    ...traitProblems(message, at),
  ];
}

/** Destinations hash these fields themselves: a hash in their place matches no person. */
function traitProblems(message: Record<string, unknown>, at: (name: string) => string): Problem[] {
  const places: [string, unknown][] = [
    ["traits", message.traits],
    ["context.traits", isObject(message.context) ? message.context.traits : undefined],
    ["properties", message.properties],
  ];
  return places.flatMap(([place, traits]) =>
    isObject(traits)
      ? ["email", "phone", "firstName", "lastName"]
          .filter((name) => typeof traits[name] === "string" && hash(traits[name], "").length === 0)
          .flatMap((name) => problemAt("hash", at(`${place}.${name}`), "must not be hashed"))
      : [],
  );
}
