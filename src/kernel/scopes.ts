// The scopes of API keys. None includes another: a program that erases people cannot read events.

export const scopes = ["read", "write", "keys", "people"] as const;
export type Scope = (typeof scopes)[number];
