const rejectUse = (): Promise<never> => Promise.reject(new Error('This is tested with a real store.'));

/** Methods of a key store that the tests of the graph do not cover. */
export const UNUSED_KEY_STORE = {
  findBySecrets: rejectUse,
  findAliases: rejectUse,
  list: rejectUse,
  count: rejectUse,
  change: rejectUse,
  dueForReset: rejectUse,
  findOwned: async () => [],
  countOwned: async () => new Map<string, number>(),
};
