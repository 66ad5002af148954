/** Text in place of a secret. */
export const REDACTED = 'REDACTED';

/** Maximum nesting of a shown value; deeper parts are redacted as a whole. */
const MAX_DEPTH = 10;

const REFERENCE = /^os\.environ\/.+$/;

/** Whether a text is a reference to a variable. It is the name of a secret, not the secret. */
export const isReference = (text: string): boolean => REFERENCE.test(text);

/** Names whose texts are secrets. */
const SECRET =
  /(^|_)(api_?key|key|keys|token|secret|secret_id|password|passwd|credentials?|private_key|client_key|authorization|cookie|dsn|connection_string|webhook|webhook_urls?|metadata_xml)$|secret|password|api_?key|^(database_url|redis_url|alert_to_webhook_url|authorization|auth_value|x-api-key|(extra_|default_|static_)?headers|env|environment_variables|credential_values)$/i;
/** Further names whose texts, lists and maps are hidden from read-only administrators. */
const SENSITIVE = /pass|auth|token|secret|key|credential|webhook|private|cert|database_url|redis_url/i;

/** Names of maps whose texts are all secrets, whatever their own names are. */
const SECRET_MAP =
  /^((extra_|default_|static_)?headers|env|environment_variables|alert_to_webhook_url|credentials?|credential_values)$/i;

/** Whether all texts of a map are secrets, whatever their own names are. */
export const isSecretMap = (name: string): boolean => SECRET_MAP.test(name);

/** An address with a password, as `redis://user:password@host`. */
const WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]*:[^/?#\s]+@/i;

/** Who reads a value: an administrator (`admin`), or a read-only administrator (`viewer`). */
export type Reader = 'admin' | 'viewer';

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Whether a text is a secret: by its name, or because it is an address with a password. */
export const isSecretText = (name: string, text: string): boolean => SECRET.test(name) || WITH_PASSWORD.test(text);

/**
 * A setting as a reader may see it. Secrets are hidden from everyone, also from administrators. Read-only
 * administrators do not see settings whose names suggest a credential; numbers and booleans are not credentials.
 */
export function redacted(name: string, value: unknown, reader: Reader, depth = 0): unknown {
  if (isEmpty(value) || typeof value === 'number' || typeof value === 'boolean') return value;
  if (depth > MAX_DEPTH) return REDACTED;
  if (typeof value === 'string') return isHidden(name, value, reader) && !isReference(value) ? REDACTED : value;
  if (reader === 'viewer' && SENSITIVE.test(name)) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redacted(name, item, reader, depth + 1));
  // Texts of a secret map are redacted by the name of the map, which `SECRET` matches.
  const areAllSecret = isSecretMap(name);
  return Object.fromEntries(
    Object.entries(value as object).map(([inner, item]) => [
      inner,
      redacted(areAllSecret ? name : inner, item, reader, depth + 1),
    ]),
  );
}

const isHidden = (name: string, text: string, reader: Reader): boolean =>
  isSecretText(name, text) || (reader === 'viewer' && SENSITIVE.test(name));

/** Member of the metadata of keys and teams with the parameters of a callback, credentials among them. */
const CALLBACK_VARS = 'callback_vars';

/** Metadata as it is shown: without the secrets of callbacks. */
export const redactedMetadata = <Value>(metadata: Value): Value => redactedCallbacks(metadata) as Value;

/** Redacts at every depth. The recursion is bounded, because the nesting of a JSON body is limited where it is read. */
function redactedCallbacks(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactedCallbacks);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: readonly [string, unknown]) => [
      name,
      name === CALLBACK_VARS ? redacted(name, inner, 'admin') : redactedCallbacks(inner),
    ]),
  );
}

/** Whether a value has a redacted text, which stands for a stored secret. */
export const hasRedacted = (value: unknown): boolean => JSON.stringify(value).includes(`"${REDACTED}"`);

/** Metadata that was read, changed and sent back: secrets that were redacted keep their stored values. */
export const withKeptSecrets = <Value>(sent: Value, stored: unknown): Value => withStoredSecrets(sent, stored) as Value;

function withStoredSecrets(sent: unknown, stored: unknown): unknown {
  if (sent === REDACTED && typeof stored === 'string') return stored;
  if (typeof sent !== 'object' || sent === null || typeof stored !== 'object' || stored === null) return sent;
  const before = new Map<string, unknown>(Object.entries(stored));
  if (Array.isArray(sent)) return sent.map((item, at) => withStoredSecrets(item, before.get(String(at))));
  return Object.fromEntries(
    Object.entries(sent).map(([name, inner]: readonly [string, unknown]) => [
      name,
      withStoredSecrets(inner, before.get(name)),
    ]),
  );
}
