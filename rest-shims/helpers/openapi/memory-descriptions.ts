/** One-line descriptions of route rows about memory. */
export const MEMORY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'memory.create': 'Store a text for the user or the team of the key.',
  'memory.delete': 'Remove a stored text.',
  'memory.get': 'Read a stored text.',
  'memory.list': 'List the stored texts of the user and the team of the key.',
  'memory.put': 'Change a stored text, or store a new one.',
};
