// Makes sentences of texts that come from the relay.

/** Turns "wrong keys" into "Wrong keys". */
export const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Some texts already end with a full stop. */
export const withFullStop = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

export const sentence = (text: string) => withFullStop(capitalize(text));
