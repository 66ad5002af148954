/** Prefix of an encrypted text inside of a stored row. A text without it is stored unencrypted. */
export const SEALED_MARK = 'sealed:';
