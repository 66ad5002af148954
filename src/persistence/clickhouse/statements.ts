/** `masked` rows stay on the disk until the next merge. `rewritten` rows leave the disk before the statement ends. */
export type DeletionMode = 'masked' | 'rewritten';

/** Texts as a list inside a statement. As parameters they could exceed the maximum length of the URL. */
export const listOf = (texts: readonly string[]): string =>
  `(${texts.map((text) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(', ')})`;
