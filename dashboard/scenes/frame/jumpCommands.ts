// The commands that do the same as the actions of ⌘K, and like them do not ask.

/** A shell must not read anything into an order id. */
const quoted = (text: string) => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "")}'`);

export const commands = {
  createKey: (site: string) => `cleancast key add ${site} NAME`,
  replay: (site: string) => `cleancast delivery replay ${site} --state rejected --yes`,
  replayOf: (site: string, connection: string) =>
    `cleancast delivery replay ${site} --connection ${connection} --state rejected --yes`,
  turn: (verb: "pause" | "resume", connection: string) => `cleancast connection ${verb} ${connection}`,
  why: (order: string, site: string) => `cleancast why ${quoted(order)} --site ${site}`,
};
