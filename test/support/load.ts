/** A third of the load shows the same; TEST_LOAD=full has all of it, as the long tests do. */
export const loadOf = (full: number) => (process.env["TEST_LOAD"] === "full" ? full : Math.round(full / 3));
