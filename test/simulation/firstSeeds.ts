/** The seeds that `npm test` runs. */
export const firstSeeds = Array.from({ length: 100 }, (_, i) => i + 1);
