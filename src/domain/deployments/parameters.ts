import type { JsonObject } from '../json-object.ts';
import { Secret } from '../secret.ts';
import { isPriceField } from './price-fields.ts';
import { publicAddress } from './public-address.ts';

/** Parameters of a deployment or a credential, by their names in a configuration file. */
export interface Parameters {
  readonly params: JsonObject;
  /** Secret parameters, each as JSON text. */
  readonly secrets: Readonly<Record<string, Secret>>;
}

/** Words of names whose values are secret. */
const SECRET_WORDS = new Set(['key', 'token', 'secret', 'password', 'passphrase', 'credential', 'credentials', 'auth']);

/** Names with a secret word whose values are not secret. */
const NOT_SECRET = new Set(['litellm_credential_name', 'configurable_clientside_auth_params']);

/** Parameters with headers of calls. A header's value may be a credential, whatever the header's name is. */
const HEADERS = new Set(['headers', 'extra_headers', 'default_headers']);

/** Whether the value of a parameter is secret, by its name. */
const isSecretParameter = (name: string): boolean =>
  HEADERS.has(name) ||
  (!NOT_SECRET.has(name) &&
    !isPriceField(name) &&
    name.split(/[_-]/).some((word) => SECRET_WORDS.has(word.toLowerCase())));

/** Splits parameters into secret ones and others. Numbers and booleans are never secret. */
export function splitParameters(sent: JsonObject): Parameters {
  const isSecret = ([name, value]: [string, unknown]): boolean =>
    isSecretParameter(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null));
  const entries = Object.entries(sent);
  return {
    params: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(
      entries.filter(isSecret).map(([name, value]) => [name, new Secret(JSON.stringify(value))]),
    ),
  };
}

/** All parameters with their values, secret ones too. Must not be shown, logged or stored unencrypted. */
export const revealedParameters = ({ params, secrets }: Parameters): JsonObject => ({
  ...params,
  ...Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [name, JSON.parse(secret.reveal()) as unknown]),
  ),
});

/** Parameters with a patch applied. Null removes one. */
export function patchedParameters(before: Parameters, patch: JsonObject): Parameters {
  const present = Object.entries({ ...revealedParameters(before), ...patch }).filter(([, value]) => value !== null);
  return splitParameters(Object.fromEntries(present));
}

/** Minimum length of a secret whose mask shows its ends, in characters. */
const MIN_LENGTH_WITH_ENDS = 12;

/** Mask by which a secret can be recognised: its first and last two characters. A short secret is masked completely. */
function maskOf(secret: Secret): string {
  const value: unknown = JSON.parse(secret.reveal());
  return typeof value === 'string' && value.length >= MIN_LENGTH_WITH_ENDS
    ? `${value.slice(0, 2)}****${value.slice(-2)}`
    : '****';
}

/** Parameters that are not secret, as they may be shown: addresses without user, password, query and fragment. */
export const shownParameters = ({ params }: Pick<Parameters, 'params'>): JsonObject =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? shownText(value) : value]),
  );

const shownText = (value: string): string => (/^\w+:\/\//.test(value) ? publicAddress(value) : value);

/** All parameters as they may be shown: secret ones as masks, the others as by `shownParameters`. */
export const maskedParameters = ({ params, secrets }: Parameters): JsonObject => ({
  ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, maskOf(secret)])),
  ...shownParameters({ params }),
});
