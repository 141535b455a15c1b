/** The seeds that `npm test` runs. */
export const firstSeeds = Array.from({ length: 200 }, (_, i) => i + 1);
