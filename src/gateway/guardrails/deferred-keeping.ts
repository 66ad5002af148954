import type { ModelRequest } from '../../domain/chat/chat.ts';
import { answerTexts } from '../../domain/guardrails/texts/answer-texts.ts';
import { withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { CallGuard } from './guarding.ts';

/** A request whose answer is stored only after its guardrails let it pass. */
interface DeferredKeeping {
  readonly request: ModelRequest;
  /** Stores the answer. `texts` are its edited texts; null where none was edited. */
  passed(texts: readonly string[] | null): void;
}

/** Stores the answer of a guarded call after it was checked. */
export function deferKeeping(guard: CallGuard, request: ModelRequest): DeferredKeeping {
  const { followUp, endpoint } = request;
  const keep = followUp?.keep;
  if (followUp === undefined || keep === undefined || !guard.has('post_call'))
    return { request, passed: () => undefined };
  let answer: Readonly<Record<string, unknown>> | null = null;
  return {
    request: {
      ...request,
      followUp: {
        ...followUp,
        keep(complete) {
          answer = complete;
          return true;
        },
      },
    },
    passed(texts) {
      if (answer === null) return;
      const changes = texts === null ? {} : withTexts(answer, answerTexts(endpoint, answer), texts);
      keep({ ...answer, ...changes });
    },
  };
}
