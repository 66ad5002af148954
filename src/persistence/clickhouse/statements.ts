/** Whether deleted rows are hidden until the next merge, or removed from the disk before the statement ends. */
export type DeletionMode = 'masked' | 'rewritten';

/** Texts as a list inside the statement: parameters of a command are sent in its URL, which is too short for them. */
export const listOf = (texts: readonly string[]): string =>
  `(${texts.map((text) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(', ')})`;
