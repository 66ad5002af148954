import type { JsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { isOn } from '../settings/switches.ts';
import type { VirtualKey } from './virtual-key.ts';

const NONE: readonly string[] = [];

/** Paths below `general_settings` of what the configuration demands of calls. */
export const DEMANDS = ['enforce_user_param', 'enforced_params', 'service_account_settings.enforced_params'] as const;

/** Members that the configuration demands of calls, as paths such as `metadata.user`. */
export interface DemandedParams {
  /** Of every call. */
  readonly all: readonly string[];
  /** Of calls with the key of a service account, too. */
  readonly serviceAccounts: readonly string[];
  /** Whether every call names its end user, in the body or a header. */
  readonly endUser: boolean;
}

const NO_DEMANDS: DemandedParams = { all: [], serviceAccounts: [], endUser: false };

/** What the configuration demands of calls. `valueOf` gives the values of `general_settings`. */
export const demandedParams = (valueOf: (name: string) => unknown): DemandedParams => ({
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

/** A call as far as it is checked. */
interface Checked {
  readonly body: JsonObject;
  /** Whether the call names its end user. */
  readonly hasEndUser: boolean;
}

/** A member that a call lacks. */
export interface Lack {
  readonly error: InvalidInput;
  /** The end user is demanded before the budget of all calls is checked, other members after all budgets. */
  readonly isEndUser: boolean;
}

/**
 * What a call lacks of the members that the configuration demands, or that the key does by `enforced_params` of its
 * metadata; null for nothing.
 */
export function lackOf(
  key: VirtualKey | null,
  { body, hasEndUser }: Checked,
  demanded: DemandedParams = NO_DEMANDS,
): Lack | null {
  if (demanded.endUser && !hasEndUser) return { error: missing('user'), isEndUser: true };
  const isOfService = key !== null && key.metadata['service_account_id'] !== undefined;
  const absent =
    absentOf(body, demanded.all) ??
    (isOfService ? absentOf(body, demanded.serviceAccounts) : undefined) ??
    (key === null ? undefined : absentOf(body, textsOf(key.metadata['enforced_params'])));
  return absent === undefined ? null : { error: missing(absent), isEndUser: false };
}

const absentOf = (body: JsonObject, paths: readonly string[]): string | undefined =>
  paths.length === 0 ? undefined : paths.find((path) => valueAt(body, path) === undefined);

const missing = (path: string): InvalidInput =>
  new InvalidInput(`BadRequest please pass param=${path} in request body. This is a required param`);
