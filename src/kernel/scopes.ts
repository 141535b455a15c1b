// What holders of keys and links may do.

/** The scopes of API keys. None includes another: a program that erases people cannot read events. */
export const scopes = ["read", "write", "keys", "people"] as const;
export type Scope = (typeof scopes)[number];

/** What a shared link shows. */
export const linkScopes = ["report", "wall"] as const;
export type LinkScope = (typeof linkScopes)[number];

/** How long a link works without another choice. A screen in an office is not set up again every month. */
export const defaultLinkDays: Readonly<Record<LinkScope, number>> = { report: 30, wall: 365 };
export const maxLinkDays = 400;
