import { z } from 'zod';
import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import { commonParams, nameFault } from '../../domain/guardrails/guardrail-params.ts';
import type { ParamReader } from '../../domain/guardrails/guardrails.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import { type Path, resolveReferences } from './config-references.ts';
import { nearestOf } from './nearest-name.ts';
import { pathOfIssue, stableId } from './section-entries.ts';

/** Section of the guardrails in the file. */
const SECTION = 'guardrails';

const anyMap = z.record(z.string(), z.unknown());

/** One guardrail of the file. */
export const guardrailEntry = z.looseObject({
  guardrail_name: z.string(),
  litellm_params: z.looseObject({
    guardrail: z.string(),
    mode: z.union([z.string(), z.array(z.string()), anyMap]),
    default_on: z.boolean().nullish(),
  }),
  guardrail_info: anyMap.nullish(),
  guardrail_id: z.string().nullish(),
});

type Entry = z.infer<typeof guardrailEntry>;

const MEMBERS = Object.keys(guardrailEntry.shape);

interface GuardrailReading {
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** The guardrails of the file; empty when one has a wrong value. `fault` receives each wrong value. */
export function readGuardrails(
  document: ConfigDocument,
  { fault, faultIfStrict }: GuardrailReading,
): readonly GuardrailDefinition[] {
  const at = (path: Path, message: string): ConfigFault => {
    const place = [SECTION, ...path];
    return { ...document.placeOf(place), key: place.join('.'), message };
  };
  let isRefused = false;
  const refuse = (path: Path, message: string): void => {
    const one = at(path, message);
    isRefused = true;
    // A reference to an unset variable is reported already.
    if (!document.faults.some(({ key }) => key === one.key)) fault(one);
  };
  const section = document.content[SECTION];
  const parsed = z.array(guardrailEntry).safeParse(isOff(section) ? [] : section);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) refuse(pathOfIssue(issue), issue.message);
    return [];
  }
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const declared = document.declared[SECTION] as readonly Entry[];
  const definitions = parsed.data.map((entry, index) => {
    const { faults, notes, ...common } = commonParams(entry.litellm_params);
    for (const { path, message } of faults) refuse([index, 'litellm_params', ...path], message);
    for (const { path, message } of notes) faultIfStrict(at([index, 'litellm_params', ...path], message));
    const wrongName = nameFault(entry.guardrail_name);
    if (wrongName !== null) refuse([index, 'guardrail_name'], wrongName);
    for (const name of Object.keys(entry))
      if (!MEMBERS.includes(name)) faultIfStrict(at([index, name], unknownMember(name, entry.litellm_params)));
    const kindAndName = `${entry.litellm_params.guardrail} ${entry.guardrail_name}`;
    const before = counts.get(kindAndName) ?? 0;
    counts.set(kindAndName, before + 1);
    const id = entry.guardrail_id ?? stableId([kindAndName, before]);
    if (ids.has(id)) refuse([index, 'guardrail_id'], 'is the id of another guardrail, too');
    ids.add(id);
    return {
      id,
      name: entry.guardrail_name,
      ...common,
      // As written: references stay unresolved, so that `list` shows no value of a variable.
      params: declared[index]?.litellm_params ?? entry.litellm_params,
      info: entry.guardrail_info ?? null,
      isFromConfig: true,
      teamId: null,
      createdAt: null,
      updatedAt: null,
    };
  });
  return isRefused ? [] : definitions;
}

/** A reader of params with the variables of the environment. A variable that is not set is null. */
export const paramReader =
  (env: NodeJS.ProcessEnv): ParamReader =>
  (params) =>
    resolveReferences(params, [], (_path, name) => env[name] ?? null) as typeof params;

function unknownMember(name: string, params: Entry['litellm_params']): string {
  if (name === 'mode' || name === 'default_on' || name === 'guardrail' || Object.hasOwn(params, name))
    return `has no effect here; did you mean litellm_params.${name}?`;
  const nearest = nearestOf(name, MEMBERS);
  return nearest === null ? 'has no effect' : `is not a known setting; did you mean ${nearest}?`;
}

/** False, null, and empty texts and maps mean no guardrail. */
const isOff = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
