import { isJsonObject } from '../../domain/json-object.ts';
import type { KeyCaps, KeyCreationRule, KeyDefaults } from '../../domain/keys/generation-rules.ts';
import { durationMs } from '../../domain/keys/durations.ts';
import { type Usd, usdFrom } from '../../domain/money.ts';
import type { Kind, Refusal } from './kinds.ts';

/** Reads one member: its value, or why it is refused. */
type Reader = (value: unknown) => { readonly value: unknown } | string;

const amount: Reader = (value) => {
  const read: Usd | null = typeof value === 'number' || typeof value === 'string' ? usdFrom(value) : null;
  return read === null || read < 0n ? 'is not an amount in USD' : { value: read };
};
const integer: Reader = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? { value } : 'is not a whole number from 0';
const duration: Reader = (value) =>
  typeof value === 'string' && durationMs(value) !== null
    ? { value }
    : 'is not a duration such as 30s, 30m, 30h, 30d, 2w or 1mo';
const text: Reader = (value) => (typeof value === 'string' && value.trim() !== '' ? { value } : 'is not a text');
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
const texts: Reader = (value) => (isTextList(value) ? { value } : 'is not a list of texts');
const map: Reader = (value) => (isJsonObject(value) ? { value } : 'is not a map');

/** Limits of keys, by name in the file: the member of `KeyCaps` that holds the limit, and the reader of its value. */
const CAPS: Readonly<Record<string, readonly [string, Reader]>> = {
  max_budget: ['maxBudget', amount],
  budget_duration: ['budgetDuration', duration],
  duration: ['duration', duration],
  tpm_limit: ['tpmLimit', integer],
  rpm_limit: ['rpmLimit', integer],
  max_parallel_requests: ['maxParallelRequests', integer],
};
/** Defaults of keys, in the same form. */
const DEFAULTS: typeof CAPS = {
  ...CAPS,
  models: ['models', texts],
  team_id: ['teamId', text],
  metadata: ['metadata', map],
};

/** A map of members, each with a reader. A member that is null is not set. */
function mapOf<Value>(form: string, readers: typeof CAPS): Kind<Value> {
  return {
    form,
    isSecret: false,
    parse(raw) {
      if (!isJsonObject(raw)) return { refusals: [{ message: 'is not a map' }] };
      const refusals: Refusal[] = [];
      const read: Record<string, unknown> = {};
      for (const [name, sent] of Object.entries(raw)) {
        if (sent === null) continue;
        const known = Object.hasOwn(readers, name) ? readers[name] : undefined;
        if (known === undefined) {
          refusals.push({ message: 'is not supported', path: [name] });
          continue;
        }
        const [member, readMember] = known;
        const result = readMember(sent);
        if (typeof result === 'string') refusals.push({ message: result, path: [name] });
        else read[member] = result.value;
      }
      return refusals.length > 0 ? { refusals } : { value: read as Value };
    },
  };
}

export const keyDefaults = (): Kind<KeyDefaults> => mapOf<KeyDefaults>('map of parameters of keys', DEFAULTS);
export const keyCaps = (): Kind<KeyCaps> => mapOf<KeyCaps>('map of limits of keys', CAPS);

/** Who may create keys of teams, and personal keys. */
export interface KeyMakersSetting {
  readonly team?: KeyCreationRule;
  readonly personal?: KeyCreationRule;
}

/** Reads who may create one kind of keys. `rolesMember` is the name of the member with the roles. */
const makers =
  (rolesMember: string): Reader =>
  (value) => {
    if (!isJsonObject(value)) return 'is not a map';
    const members = new Set([rolesMember, 'required_params']);
    const unsupported = Object.keys(value).find((name) => !members.has(name));
    if (unsupported !== undefined) return `has the unsupported member ${unsupported}`;
    const roles = value[rolesMember] ?? null;
    const requiredParams = value['required_params'] ?? [];
    if (!isTextList(roles ?? []) || !isTextList(requiredParams)) return 'has a member that is not a list of texts';
    return { value: { roles, requiredParams } };
  };

export const keyMakers = (): Kind<KeyMakersSetting> =>
  mapOf<KeyMakersSetting>('map', {
    team_key_generation: ['team', makers('allowed_team_member_roles')],
    personal_key_generation: ['personal', makers('allowed_user_roles')],
  });
