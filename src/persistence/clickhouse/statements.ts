/** Whether what is deleted is only hidden until the next merge, or rewritten without it before the statement ends. */
export type Thoroughness = 'masked' | 'rewritten';

/** Texts as a list in the text of a statement: a command's values travel in its address, which has no room for them. */
export const listOf = (texts: readonly string[]): string =>
  `(${texts.map((text) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(', ')})`;
