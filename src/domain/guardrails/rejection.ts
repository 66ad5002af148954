import type { JsonObject } from '../json-object.ts';
import { Rejected } from '../errors.ts';
import type { GuardrailMode } from './definition.ts';
import type { ActiveGuardrail } from './guardrail.ts';

/** The refusal of a call by a guardrail. `detail` is the message, or an object with the message: see `messageIn`. */
export function rejection({ definition }: ActiveGuardrail, mode: GuardrailMode, detail: string | object): Rejected {
  const { name } = definition;
  if (typeof detail === 'string') return new Rejected(detail, name);
  const members: JsonObject = { ...detail };
  const fields = { ...members, guardrail_name: name, guardrail_mode: mode };
  return new Rejected(messageIn(members), name, fields);
}

/** Message of a refusal: the first text among `error`, `error.message` and `message`, else all members as JSON. */
function messageIn(detail: JsonObject): string {
  const { error, message } = detail;
  if (typeof error === 'string') return error;
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string')
    return error.message;
  return typeof message === 'string' ? message : JSON.stringify(detail);
}
