const elsewhere = (): Promise<never> => Promise.reject(new Error('This is tested with a real store.'));

/** Methods of a key store that the tests of the graph do not cover. */
export const KEYS_ELSEWHERE = {
  findBySecrets: elsewhere,
  findAliases: elsewhere,
  list: elsewhere,
  count: elsewhere,
  change: elsewhere,
  dueForReset: elsewhere,
  findOwned: async () => [],
  countOwned: async () => new Map<string, number>(),
};
