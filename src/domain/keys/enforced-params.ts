import type { JsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { isOn } from '../settings/switches.ts';
import type { VirtualKey } from './virtual-key.ts';

const NONE: readonly string[] = [];

/** Settings below `general_settings` that require members of calls, by path. */
export const REQUIREMENT_SETTINGS = [
  'enforce_user_param',
  'enforced_params',
  'service_account_settings.enforced_params',
] as const;

/** Members that the configuration requires of calls, as paths such as `metadata.user`. */
export interface RequiredParams {
  /** Members required of every call. */
  readonly all: readonly string[];
  /** Further members required of calls with the key of a service account. */
  readonly serviceAccounts: readonly string[];
  /** Whether every call must name its end user, in the body or a header. */
  readonly endUser: boolean;
}

const NO_REQUIREMENTS: RequiredParams = { all: [], serviceAccounts: [], endUser: false };

/** Reads the required members. `valueOf` gives the values of `general_settings`. */
export const requiredParamsOf = (valueOf: (name: string) => unknown): RequiredParams => ({
  all: textsOf(valueOf('enforced_params')),
  serviceAccounts: textsOf(memberOf(valueOf('service_account_settings'), 'enforced_params')),
  endUser: isOn(valueOf('enforce_user_param')),
});

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : NONE;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;

/** The value at a path such as `metadata.user`; undefined where there is none. */
const valueAt = (body: JsonObject, path: string): unknown => path.split('.').reduce<unknown>(memberOf, body);

/** Members of a call that are checked. */
interface CheckedCall {
  readonly body: JsonObject;
  /** Whether the call names its end user. */
  readonly hasEndUser: boolean;
}

/** A required member that a call lacks. */
export interface MissingParam {
  readonly error: InvalidInput;
  /** Whether the end user is missing. It is checked before the budget of all calls, other members after all budgets. */
  readonly isEndUser: boolean;
}

/**
 * The first member that the call lacks, of those that the configuration or `enforced_params` in the key's metadata
 * requires. Null when the call has all of them.
 */
export function missingParamOf(
  key: VirtualKey | null,
  { body, hasEndUser }: CheckedCall,
  required: RequiredParams = NO_REQUIREMENTS,
): MissingParam | null {
  if (required.endUser && !hasEndUser) return { error: missing('user'), isEndUser: true };
  const isServiceAccount = key !== null && key.metadata['service_account_id'] !== undefined;
  const absent =
    absentOf(body, required.all) ??
    (isServiceAccount ? absentOf(body, required.serviceAccounts) : undefined) ??
    (key === null ? undefined : absentOf(body, textsOf(key.metadata['enforced_params'])));
  return absent === undefined ? null : { error: missing(absent), isEndUser: false };
}

const absentOf = (body: JsonObject, paths: readonly string[]): string | undefined =>
  paths.length === 0 ? undefined : paths.find((path) => valueAt(body, path) === undefined);

const missing = (path: string): InvalidInput =>
  new InvalidInput(`BadRequest please pass param=${path} in request body. This is a required param`);
