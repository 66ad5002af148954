import { isJsonObject } from '../../domain/json-object.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import { OutcomeOfSteps } from '../../domain/chat/outcome.ts';
import type { NativeDialect } from '../dialect.ts';
import { parseJson, text } from '../json/fields.ts';
import { ResponseInspector } from './inspector.ts';
import { errorOf, stepsOfResponse } from './read-answer.ts';
import { renamedResponse } from './rename.ts';
import { usageOfResponse } from './usage.ts';

/** Native dialect of the Responses API: complete and streamed responses, and compactions. */
export const RESPONSES_FRAME: NativeDialect = {
  errorOf,
  whole(bytes, { model, textLimit, idOf = (id) => id, previousId = null }) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isJsonObject(value) || !Array.isArray(value['output'])) return null;
    const steps = stepsOfResponse(value);
    const seen = new OutcomeOfSteps(textLimit);
    for (const step of steps) seen.add(step);
    const id = text(value['id']);
    const outcome = seen.outcome();
    return {
      bytes: renamedResponse(bytes, value, { model, idOf, previousId }),
      // A background response has not ended, so it has no finish reason and no usage yet.
      outcome: {
        ...outcome,
        responseId: id === null ? null : idOf(id),
        finishReason: value['status'] === 'queued' || value['status'] === 'in_progress' ? null : outcome.finishReason,
        usage: usageOfResponse(value),
      },
      deltas: () => steps.filter(isChatDelta),
    };
  },
  inspector: (options) => new ResponseInspector(options),
};
