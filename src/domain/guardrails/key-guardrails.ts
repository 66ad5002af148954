import { isJsonObject, type JsonObject } from '../json-object.ts';
import { Forbidden } from '../errors.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';

export type Metadata = JsonObject;

/** Guardrail settings of a key, its team and its project. */
export interface CallerGuardrails {
  /** Names of guardrails that run in addition to those with `defaultOn`, each once. */
  readonly named: readonly string[];
  /** Whether guardrails with `defaultOn` do not run. */
  readonly disableGlobal: boolean;
  /** Names of guardrails with `defaultOn` that do not run. */
  readonly optedOut: readonly string[];
}

const NONE: CallerGuardrails = Object.freeze({ named: [], disableGlobal: false, optedOut: [] });

/** Members of metadata that decide which guardrails run. */
export const GUARDRAIL_MEMBERS = ['guardrails', 'disable_global_guardrails', 'opted_out_global_guardrails'] as const;

/** Names in a member of metadata. The `guardrails` of a team may be an object with a right: it has no names. */
const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

const unionOf = (metadata: readonly Metadata[], member: string): readonly string[] => [
  ...new Set(metadata.flatMap((one) => namesIn(one[member]))),
];

/** Combined guardrail settings of a key, its team and its project. A project can add guardrails, but disable none. */
export function callerGuardrailsOf(key: VirtualKey | null): CallerGuardrails {
  if (key === null) return NONE;
  const { team, project } = key.owners ?? {};
  const ofKeyAndTeam = team ? [key.metadata, team.metadata] : [key.metadata];
  return {
    named: unionOf(project ? [...ofKeyAndTeam, project.metadata] : ofKeyAndTeam, 'guardrails'),
    disableGlobal: ofKeyAndTeam.some((one) => one['disable_global_guardrails'] === true),
    optedOut: unionOf(ofKeyAndTeam, 'opted_out_global_guardrails'),
  };
}

/** Whether the metadata of a team forbids that requests of its keys change guardrails. */
function lacksRight({ guardrails, guardrails_modify: modify }: Metadata): boolean {
  return modify === false || (isJsonObject(guardrails) && guardrails['modify_guardrails'] === false);
}

/** Members of a request, or of its metadata, that change guardrails. */
const REQUEST_MEMBERS: readonly string[] = [...GUARDRAIL_MEMBERS, 'disable_global_guardrail', 'policies'];

/** The metadata of a request, which may be JSON text. */
function metadataIn(value: unknown): Metadata | null {
  if (typeof value !== 'string') return isJsonObject(value) ? value : null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isJsonObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const changesGuardrails = (members: Metadata | null): boolean =>
  members !== null &&
  REQUEST_MEMBERS.some((name) => Object.hasOwn(members, name) && members[name] !== null && members[name] !== undefined);

/** Error for a change of guardrails by a team without the right. */
export const guardrailChangeForbidden = (): Forbidden =>
  new Forbidden('Your team does not have permission to modify guardrails.', 'guardrails');

/**
 * Throws Forbidden for a request that changes guardrails where the team of its key does not have that right. The body
 * is read only for teams without the right.
 */
export function assertMayChangeGuardrails(key: VirtualKey | null, body: Metadata): void {
  const metadata = key?.owners?.team?.metadata;
  if (metadata === undefined || !lacksRight(metadata)) return;
  const places = [body, metadataIn(body['metadata']), metadataIn(body['litellm_metadata'])];
  if (places.some(changesGuardrails)) throw guardrailChangeForbidden();
}
