import { isJsonObject, type JsonObject } from '../json-object.ts';
import { sameValue } from '../catalog/same-value.ts';
import { InvalidInput } from '../errors.ts';
import { SEALED_MARK } from '../sealed-text.ts';
import { REDACTED } from '../settings/redaction.ts';

/** Calls that a callback of a team receives. */
export const CALLBACK_TYPES = ['success', 'failure', 'success_and_failure'] as const;
type CallbackType = (typeof CALLBACK_TYPES)[number];

/** A destination for the spans of a team's calls. */
export interface TeamCallback {
  /** Its kind, a key of `CALLBACK_KINDS`. */
  readonly name: string;
  readonly type: CallbackType;
  /** Values of the variables of its kind, by their names. */
  readonly vars: Readonly<Record<string, string>>;
}

/** A variable of a kind of callback. */
interface CallbackVariable {
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Secrets are encrypted in the store and redacted in answers. */
  readonly isSecret: boolean;
}

const secret = (title: string, description: string): CallbackVariable => ({
  title,
  description,
  isRequired: true,
  isSecret: true,
});
const plain = (title: string, description: string): CallbackVariable => ({
  title,
  description,
  isRequired: false,
  isSecret: false,
});

const LANGFUSE = {
  langfuse_public_key: secret('Public key', 'Public key of the project.'),
  langfuse_secret_key: secret('Secret key', 'Secret key of the project.'),
  langfuse_host: plain('Host', 'Address of the server; `https://cloud.langfuse.com` when absent.'),
} as const;

/** Kinds of callbacks that accept spans over OTLP, with their variables. */
export const CALLBACK_KINDS: ReadonlyMap<string, Readonly<Record<string, CallbackVariable>>> = new Map<
  string,
  Readonly<Record<string, CallbackVariable>>
>([
  ['langfuse', LANGFUSE],
  ['langfuse_otel', LANGFUSE],
  [
    'langsmith',
    {
      langsmith_api_key: secret('API key', 'Key of the workspace.'),
      langsmith_project: plain('Project', 'Project of the traces; that of the API key when absent.'),
      langsmith_base_url: plain('Base URL', 'Address of the server; `https://api.smith.langchain.com` when absent.'),
    },
  ],
]);

/** Maximum number of callbacks of a team: each of its calls is sent to all of them. */
const MAX_CALLBACKS = 8;
/** Maximum length of a variable, in characters. */
const MAX_VARIABLE_CHARACTERS = 4_096;

/** Members of a team's metadata, with the names of the reference. */
const CALLBACKS = 'logging';
const CALLBACK_SETTINGS = 'callback_settings';

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
      )
    : {};

/** Callbacks in the metadata of a team. Malformed entries, and entries after the eighth, are left out. */
export function teamCallbacks(metadata: JsonObject): readonly TeamCallback[] {
  const list = metadata[CALLBACKS];
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, MAX_CALLBACKS)
    .filter(isJsonObject)
    .flatMap(({ callback_name: name, callback_type: sent, callback_vars: vars }) => {
      const type = CALLBACK_TYPES.find((one) => one === (sent ?? 'success_and_failure'));
      return typeof name === 'string' && type !== undefined ? [{ name, type, vars: textsOf(vars) }] : [];
    });
}

/** Whether the calls of a team are not exported: both lists of its callback settings are empty. */
export function isLoggingDisabled(metadata: JsonObject): boolean {
  const settings = metadata[CALLBACK_SETTINGS];
  if (!isJsonObject(settings)) return false;
  const { success_callback: success, failure_callback: failure } = settings;
  return Array.isArray(success) && success.length === 0 && Array.isArray(failure) && failure.length === 0;
}

/** Changes to members of a team's metadata that add a callback. They enable logging again. */
export const withCallback = (metadata: JsonObject, { name, type, vars }: TeamCallback): JsonObject => ({
  [CALLBACKS]: [
    ...(Array.isArray(metadata[CALLBACKS]) ? (metadata[CALLBACKS] as readonly unknown[]) : []),
    { callback_name: name, callback_type: type, callback_vars: vars },
  ],
  [CALLBACK_SETTINGS]: null,
});

/**
 * Changes to members of a team's metadata that remove the callbacks with a name, of every type. Other callbacks stay.
 * Null when there is none.
 */
export function withoutCallback(metadata: JsonObject, name: string): JsonObject | null {
  const list = metadata[CALLBACKS];
  if (!Array.isArray(list)) return null;
  const others = (list as readonly unknown[]).filter((one) => !isJsonObject(one) || one['callback_name'] !== name);
  return others.length === list.length ? null : { [CALLBACKS]: others };
}

/** Changes to members of a team's metadata that remove all callbacks and disable logging. */
export const WITHOUT_LOGGING: JsonObject = {
  [CALLBACKS]: null,
  [CALLBACK_SETTINGS]: { success_callback: [], failure_callback: [] },
};

/** Whether a call with this outcome goes to a callback. */
export const receivesOutcome = ({ type }: TeamCallback, isFailure: boolean): boolean =>
  type === 'success_and_failure' || type === (isFailure ? 'failure' : 'success');

/** Throws InvalidInput for an unknown kind, and for unknown, missing or invalid variables. */
export function assertCallback({ name, vars }: TeamCallback): void {
  const kind = CALLBACK_KINDS.get(name);
  const kinds = [...CALLBACK_KINDS.keys()].join(', ');
  if (kind === undefined) throw new InvalidInput(`Callback ${name} is not supported for teams. Supported: ${kinds}.`);
  const unknown = Object.keys(vars).find((variable) => !Object.hasOwn(kind, variable));
  if (unknown !== undefined)
    throw new InvalidInput(`${unknown} is not a variable of ${name}. Variables: ${Object.keys(kind).join(', ')}.`);
  const missing = Object.entries(kind).find(
    ([variable, { isRequired }]) => isRequired && (vars[variable] ?? '') === '',
  );
  if (missing !== undefined) throw new InvalidInput(`${name} needs the variable ${missing[0]}.`);
  assertValues(kind, vars);
}

function assertValues(kind: Readonly<Record<string, CallbackVariable>>, vars: Readonly<Record<string, string>>): void {
  for (const [variable, { isSecret }] of Object.entries(kind)) {
    const value = vars[variable] ?? '';
    if (value.length > MAX_VARIABLE_CHARACTERS)
      throw new InvalidInput(`${variable} has more than ${MAX_VARIABLE_CHARACTERS} characters.`);
    if (!/^[\x20-\x7e]*$/.test(value)) throw new InvalidInput(`${variable} has a character that no header can carry.`);
    if (!isSecret && /(host|url)$/.test(variable) && value !== '' && !isAddress(value))
      throw new InvalidInput(`${variable} must be an http(s) address without a user, a query or a fragment.`);
    if (isSecret && (value === REDACTED || value.startsWith(SEALED_MARK))) throw new InvalidInput(SEND_AGAIN);
  }
}

const SEND_AGAIN = 'A changed callback needs its secrets again. A redacted secret is refused.';

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
}

/** A callback in which every variable that is not known to be public is replaced. */
export function withReplacedSecrets(
  { name, vars, ...callback }: TeamCallback,
  replace: (value: string) => string,
): TeamCallback {
  const kind = CALLBACK_KINDS.get(name);
  const replaced = Object.entries(vars).map(([variable, value]): [string, string] => [
    variable,
    kind?.[variable]?.isSecret === false ? value : replace(value),
  ]);
  return { ...callback, name, vars: Object.fromEntries(replaced) };
}

/** Metadata with the secrets of its callbacks encrypted again; null when `renew` returns null for all secrets. */
export function renewedCallbacks(metadata: JsonObject, renew: (text: string) => string | null): JsonObject | null {
  let isRenewed = false;
  const list = metadata[CALLBACKS];
  if (!Array.isArray(list)) return null;
  const renewed = (list as readonly unknown[]).map((one) => {
    if (!isJsonObject(one) || !isJsonObject(one['callback_vars'])) return one;
    const vars = Object.entries(one['callback_vars']).map(([name, value]): [string, unknown] => {
      const fresh = typeof value === 'string' ? renew(value) : null;
      isRenewed ||= fresh !== null;
      return [name, fresh ?? value];
    });
    return { ...one, callback_vars: Object.fromEntries(vars) };
  });
  return isRenewed ? { ...metadata, [CALLBACKS]: renewed } : null;
}

function hasStoredSecret(value: unknown): boolean {
  if (typeof value === 'string') return value === REDACTED || value.startsWith(SEALED_MARK);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasStoredSecret);
}

const isSameCallback = (one: unknown, other: unknown): boolean =>
  isJsonObject(one) &&
  isJsonObject(other) &&
  one['callback_name'] === other['callback_name'] &&
  sameValue(one['callback_vars'], other['callback_vars']);

/**
 * Metadata that is written as a whole, with the secrets of its callbacks encrypted. `restored` is `sent` with the
 * stored texts in place of redacted ones. A stored secret is kept only where name and variables of its callback are
 * unchanged. Throws InvalidInput.
 */
export function storedCallbacks(
  restored: JsonObject,
  { sent, before }: { readonly sent: JsonObject; readonly before: JsonObject },
  seal: (text: string) => string,
): JsonObject {
  const { [CALLBACKS]: list } = restored;
  if (list === undefined || list === null || sameValue(list, before[CALLBACKS])) return restored;
  const wanted = sent[CALLBACKS];
  if (!Array.isArray(list) || !Array.isArray(wanted))
    throw new InvalidInput(`${CALLBACKS} must be a list of callbacks.`);
  if (list.length > MAX_CALLBACKS) throw new InvalidInput(`A team has at most ${MAX_CALLBACKS} callbacks.`);
  const stored = (Array.isArray(before[CALLBACKS]) ? before[CALLBACKS] : []) as readonly unknown[];
  const written = (list as readonly unknown[]).map((one, at) => {
    if (stored.some((other) => isSameCallback(one, other))) return one;
    if (hasStoredSecret(wanted[at])) throw new InvalidInput(SEND_AGAIN);
    return sealedEntry(one, seal);
  });
  return { ...restored, [CALLBACKS]: written };
}

/** A new entry with its secrets encrypted; one of an unsupported kind is stored unchanged. Throws InvalidInput. */
function sealedEntry(entry: unknown, seal: (text: string) => string): unknown {
  if (!isJsonObject(entry)) return entry;
  const { callback_name: name, callback_vars: vars } = entry;
  const kind = typeof name === 'string' ? CALLBACK_KINDS.get(name) : undefined;
  if (kind === undefined || !isJsonObject(vars)) return entry;
  assertValues(kind, textsOf(vars));
  const sealed = Object.entries(vars).map(([variable, value]): [string, unknown] => [
    variable,
    typeof value === 'string' && value !== '' && Object.hasOwn(kind, variable) && kind[variable]?.isSecret === true
      ? seal(value)
      : value,
  ]);
  return { ...entry, callback_vars: Object.fromEntries(sealed) };
}
