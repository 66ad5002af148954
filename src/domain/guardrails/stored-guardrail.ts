import type { JsonObject } from '../json-object.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { withKeptSecrets } from '../settings/redaction.ts';
import type { GuardrailDefinition } from './definition.ts';
import { commonParams, GUARDRAIL_KINDS, nameFault } from './guardrail-params.ts';

/**
 * A guardrail as the database has it. Its params are encrypted. `kind`, `modes` and `defaultOn` are copies of some
 * params in plain text.
 */
export interface StoredGuardrail
  extends Stamps, Pick<GuardrailDefinition, 'id' | 'name' | 'kind' | 'modes' | 'defaultOn' | 'info' | 'teamId'> {
  /** Params as encrypted JSON, base64. */
  readonly sealed: string;
}

/** Names are unique. */
export type GuardrailStore = RowStore<StoredGuardrail, null>;

/** A new guardrail. */
export interface GuardrailDraft extends Pick<GuardrailDefinition, 'name' | 'params' | 'info' | 'teamId'> {
  /** Null for a generated id. */
  readonly id: string | null;
}

/** Changes to a guardrail. An absent member is unchanged. */
export interface GuardrailPatch extends Partial<Omit<GuardrailDraft, 'id' | 'params'>> {
  /** Replaces all params. A secret that is shown as redacted keeps its stored value. */
  readonly params?: JsonObject;
  /** Replaces single params; null removes one. */
  readonly changedParams?: JsonObject;
}

/** A stored guardrail with its params decrypted. */
export type OpenGuardrail = Omit<StoredGuardrail, 'sealed'> & Pick<GuardrailDefinition, 'params'>;

const configurationError = (message: string, issues: readonly Issue[] = []): InvalidInput =>
  new InvalidInput(`Guardrail configuration error: ${message}`, issues);

const MAX_ID_CHARACTERS = 256;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;

/**
 * The guardrail with `kind`, `modes` and `defaultOn` from its params. Throws InvalidInput for a guardrail that could
 * not run.
 */
function validated(open: OpenGuardrail): OpenGuardrail {
  const fault = nameFault(open.name);
  if (fault !== null) throw configurationError(`guardrail_name ${fault}`);
  const areIdsValid = [open.id, open.teamId ?? ''].every(
    (id) => id.length <= MAX_ID_CHARACTERS && !CONTROL_OR_UNPAIRED_SURROGATE.test(id),
  );
  if (!areIdsValid)
    throw configurationError(
      `guardrail_id and team_id must have at most ${MAX_ID_CHARACTERS} characters, no control character and no unpaired surrogate`,
    );
  const { faults, notes: _notes, ...common } = commonParams(open.params);
  const [first] = faults;
  if (first !== undefined) throw configurationError(`litellm_params.${first.path.join('.')} ${first.message}`);
  if (!GUARDRAIL_KINDS.includes(common.kind)) throw configurationError(`Unsupported guardrail: ${common.kind}`);
  if (common.modes.length === 0)
    throw configurationError('litellm_params.mode names no mode in which guardrails run here');
  return { ...open, ...common };
}

/** A new guardrail. Throws InvalidInput. */
export const newGuardrail = (
  { name, params, info, teamId }: Omit<GuardrailDraft, 'id'>,
  about: Authored & { readonly id: string },
): OpenGuardrail =>
  validated({ id: about.id, name, kind: '', modes: [], defaultOn: false, params, info, teamId, ...newStamps(about) });

const withoutNulls = (params: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));

/** A guardrail with a patch applied. Throws InvalidInput. */
export function patchedGuardrail(
  before: OpenGuardrail,
  { params, changedParams, ...patch }: GuardrailPatch,
  { now, by }: Authored,
): OpenGuardrail {
  const replaced = params === undefined ? before.params : withKeptSecrets(params, before.params);
  const changed = changedParams === undefined ? {} : withKeptSecrets(changedParams, before.params);
  return validated({
    ...before,
    ...patch,
    params: withoutNulls({ ...replaced, ...changed }),
    updatedAt: now,
    updatedBy: by,
  });
}
