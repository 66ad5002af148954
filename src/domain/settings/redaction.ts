/** What is shown in place of a secret. */
export const REDACTED = 'REDACTED';

/** Nesting beyond which a value is shown as a whole as redacted. */
const DEEPEST = 10;

/** A reference to a variable is the name of a secret, not the secret. */
const REFERENCE = /^os\.environ\/.+$/;

/** Names whose texts are secrets. */
const SECRET =
  /(^|_)(api_?key|key|keys|token|secret|secret_id|password|passwd|credentials?|private_key|client_key|authorization|cookie|dsn|connection_string|webhook_url|metadata_xml)$|secret|password|api_?key|^(database_url|redis_url|alert_to_webhook_url|authorization|x-api-key|headers)$/i;
/** Names that a read-only administrator may not see either, whatever their values are. */
const SENSITIVE = /pass|auth|token|secret|key|credential|webhook|private|cert|database_url|redis_url/i;

/** Who reads a value. */
export type Reader = 'admin' | 'viewer';

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Whether texts of this name are secrets. */
export const isSecretName = (name: string): boolean => SECRET.test(name);

/**
 * A setting as a reader may see it. Secrets are hidden from everyone, also from administrators. Read-only administrators do not
 * see settings whose names suggest a credential; numbers and booleans are no credentials.
 */
export function shown(name: string, value: unknown, reader: Reader, depth = 0): unknown {
  if (isEmpty(value) || typeof value === 'number' || typeof value === 'boolean') return value;
  if (depth > DEEPEST) return REDACTED;
  if (typeof value === 'string') return isHidden(name, reader) && !REFERENCE.test(value) ? REDACTED : value;
  if (reader === 'viewer' && SENSITIVE.test(name)) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => shown(name, item, reader, depth + 1));
  const all = name.toLowerCase() === 'headers' || name === 'environment_variables';
  return Object.fromEntries(
    Object.entries(value as object).map(([inner, item]) => [
      inner,
      all && typeof item === 'string' && !REFERENCE.test(item) ? REDACTED : shown(inner, item, reader, depth + 1),
    ]),
  );
}

const isHidden = (name: string, reader: Reader): boolean =>
  SECRET.test(name) || (reader === 'viewer' && SENSITIVE.test(name));
