import { isJsonObject } from '../../domain/json-object.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import { OutcomeCollector } from '../../domain/chat/outcome.ts';
import { containersOfOutput } from '../../domain/upstream-objects/named-containers.ts';
import type { InboundDialect, NativeDialect, OutboundDialect } from '../dialect.ts';
import { object, parseJson, text } from '../json/fields.ts';
import { ResponseInspector } from './inspector.ts';
import { createEventReader, errorOf, stepsOfResponse } from './read-answer.ts';
import { mayNameContainer } from './container-names.ts';
import { renamedResponse } from './rename.ts';
import { usageOfResponse } from '../../domain/responses/usage.ts';
import { readResponseRequest } from './read-request.ts';
import { ResponseWriter, wholeResponse } from './write-answer.ts';
import { isOpenAiProof, writeResponseRequest } from './write-request.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { upstreamChanges, withMembers } from '../json/members.ts';

/** Native dialect of the Responses API: complete and streamed responses, and compactions. */
export const RESPONSES_NATIVE: NativeDialect = {
  errorOf,
  whole(bytes, { model, textLimit, idOf = (id) => id, previousId = null, onContainers, onBackground }) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isJsonObject(value) || !Array.isArray(value['output'])) return null;
    if (onContainers !== undefined && mayNameContainer(bytes)) onContainers(containersOfOutput(value['output']));
    const steps = stepsOfResponse(value);
    const collector = new OutcomeCollector(textLimit);
    for (const step of steps) collector.add(step);
    const id = text(value['id']);
    const outcome = collector.outcome();
    const runsInBackground = value['status'] === 'queued' || value['status'] === 'in_progress';
    const isBilledLater = runsInBackground && value['background'] === true && onBackground?.(value) === true;
    return {
      bytes: renamedResponse(bytes, value, { model, idOf, previousId }),
      outcome: {
        ...outcome,
        responseId: id === null ? null : idOf(id),
        finishReason: runsInBackground ? null : outcome.finishReason,
        usage: usageOfResponse(value),
        ...(isBilledLater ? { billedLater: true as const } : {}),
      },
      deltas: () => steps.filter(isChatDelta),
    };
  },
  inspector: (options) => new ResponseInspector(options),
};

/** Dialect of callers that use OpenAI's Responses API. */
export const RESPONSES_IN: InboundDialect = {
  readRequest: readResponseRequest,
  writer: (context) => new ResponseWriter(context),
  whole: wholeResponse,
};

/** Dialect of Responses upstreams, for callers of other dialects. */
export const RESPONSES_OUT: OutboundDialect = {
  writeRequest: writeResponseRequest,
  reader: createEventReader,
  stepsOf: stepsOfResponse,
};

/** Whether an upstream of this dialect accepts an item. Reasoning needs a proof of OpenAI. */
const isAcceptedItem = (value: unknown): boolean => {
  const { type, encrypted_content: proof } = object(value);
  return type !== 'reasoning' || isOpenAiProof(proof);
};

/**
 * The request for the upstream: with the upstream's model name, and without gateway fields. Applies `replaced`, and
 * removes reasoning of other vendors from a replaced `input`. All other values keep their bytes.
 */
export function upstreamResponseRequest(request: ModelRequest, upstreamModel: string): Uint8Array {
  const changes = upstreamChanges(request);
  changes['model'] = JSON.stringify(upstreamModel);
  const input = request.replaced?.['input'];
  if (Array.isArray(input)) changes['input'] = JSON.stringify(input.filter(isAcceptedItem));
  return withMembers(request.bytes, changes);
}
