/** Prefix of an encrypted text in a stored row. A text without it is stored unencrypted. */
export const SEALED_MARK = 'sealed:';
