/** Number of entries that `LIST` selects. */
export const ROWS = 50;
const FIELDS = 'entryId provider mode maxInputTokens maxOutputTokens inputCostPerToken supportsVision';
/** Query of a list of catalog entries. */
export const LIST = `{ catalogEntries(first: ${ROWS}) { nodes { ${FIELDS} } } }`;
