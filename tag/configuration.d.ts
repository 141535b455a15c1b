// The site's configuration, with which the server calls the tag; see src/identity/tagScript.ts.

/** The site's id. */
declare const $site: string;
/** Nothing may be stored or sent before the visitor consents. */
declare const $optIn: boolean;
/** A pattern for the names of click ids and UTM fields. */
declare const $params: string;
/** A pattern for the names of cookies with browser ids. */
declare const $cookies: string;
