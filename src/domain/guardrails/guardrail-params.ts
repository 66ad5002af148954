import { isJsonObject, type JsonObject } from '../json-object.ts';
import { GUARDRAIL_MODES, type GuardrailDefinition, type GuardrailMode } from './definition.ts';
import { KIND_DESCRIPTIONS } from './kind-descriptions.ts';

/** Kinds of guardrails that this gateway supports. */
export const GUARDRAIL_KINDS: readonly string[] = KIND_DESCRIPTIONS.map(({ kind }) => kind);

/** Modes of the LiteLLM proxy that are accepted but in which no guardrail of this gateway runs. */
const IDLE_MODES: readonly string[] = [
  'pre_mcp_call',
  'during_mcp_call',
  'post_mcp_call',
  'realtime_input_transcription',
];

/** A fault or warning about one member of the params. */
interface ParamRemark {
  readonly path: readonly string[];
  readonly message: string;
}

/** The members of the params that every kind has. */
export interface CommonParams extends Pick<GuardrailDefinition, 'kind' | 'modes' | 'defaultOn'> {
  /** Invalid values. */
  readonly faults: readonly ParamRemark[];
  /** Valid values without an effect in this gateway. */
  readonly notes: readonly ParamRemark[];
}

const MODE_LIST = [...GUARDRAIL_MODES, ...IDLE_MODES].join(', ');

/** Reads the members of `litellm_params` that every kind has. */
export function commonParams(params: JsonObject): CommonParams {
  const faults: ParamRemark[] = [];
  const notes: ParamRemark[] = [];
  const { guardrail, default_on: defaultOn } = params;
  const kind = typeof guardrail === 'string' ? guardrail : '';
  if (kind === '') faults.push({ path: ['guardrail'], message: 'must name the kind of the guardrail' });
  else if (!GUARDRAIL_KINDS.includes(kind))
    notes.push({ path: ['guardrail'], message: 'has no effect: guardrails of this kind do not run here' });
  if (defaultOn !== undefined && defaultOn !== null && typeof defaultOn !== 'boolean')
    faults.push({ path: ['default_on'], message: 'is neither true nor false' });
  const modes = modesOf(params['mode'], { faults, notes });
  return { kind, modes, defaultOn: defaultOn === true, faults, notes };
}

interface Remarks {
  readonly faults: ParamRemark[];
  readonly notes: ParamRemark[];
}

function modesOf(mode: unknown, { faults, notes }: Remarks): readonly GuardrailMode[] {
  const path = ['mode'];
  const names = namedModes(mode);
  if (names === null || names.length === 0) {
    faults.push({ path, message: `must be one or more of ${MODE_LIST}` });
    return [];
  }
  if (isJsonObject(mode))
    notes.push({ path, message: 'has no effect by tag: the guardrail runs in each of these modes' });
  const isKnown = (name: unknown): boolean => isMode(name) || IDLE_MODES.includes(String(name));
  if (!names.every(isKnown)) faults.push({ path, message: `must be one or more of ${MODE_LIST}` });
  const idle = names.filter((name) => IDLE_MODES.includes(String(name)));
  if (idle.length > 0)
    notes.push({ path, message: `${idle.join(', ')}: has no effect, nothing runs in this mode here` });
  return GUARDRAIL_MODES.filter((one) => names.includes(one));
}

/** The modes in a text, in a list, or in an object with modes by tag and a default; null for anything else. */
function namedModes(mode: unknown): readonly unknown[] | null {
  if (typeof mode === 'string') return [mode];
  if (Array.isArray(mode)) return mode as readonly unknown[];
  if (!isJsonObject(mode)) return null;
  const { tags, default: otherwise } = mode;
  const listed = [...(isJsonObject(tags) ? Object.values(tags) : []), otherwise];
  return [...new Set(listed.flat().filter((one) => one !== undefined && one !== null))];
}

const isMode = (name: unknown): name is GuardrailMode => GUARDRAIL_MODES.some((one) => one === name);

const MAX_NAME_CHARACTERS = 256;

/**
 * Why a text cannot be the name of a guardrail; null when it can. Names are part of a header, in which commas separate
 * them.
 */
export function nameFault(name: string): string | null {
  if (name.trim() === '') return 'must not be blank';
  if (name.length > MAX_NAME_CHARACTERS) return `must have at most ${MAX_NAME_CHARACTERS} characters`;
  return /[\p{Cc},]/u.test(name) ? 'must have no comma and no control character' : null;
}
