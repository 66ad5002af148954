import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { MadeDecision, Question } from '../../domain/decisions/decision.ts';
import type { GuardedText } from '../../domain/guardrails/guardrail.ts';
import { decisionTexts } from '../../domain/guardrails/texts/decision-texts.ts';
import { DECISION_SKIPS, requestTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { createWalk, type Members, type Walk, withTexts } from '../../domain/guardrails/texts/walk.ts';
import { maskedTexts } from '../accounting/recorded-texts.ts';
import type { DecisionRecord } from '../gateway.ts';
import type { CallGuard, RunningCall } from './guarding.ts';

interface Asked extends Members {
  readonly questions: MadeDecision['questions'];
}

/** Texts of a question. Its name and its labels are not read. */
function readQuestion(walk: Walk, question: Question, index: number): void {
  const at = (...path: readonly (string | number)[]) => ['questions', index, ...path];
  const { instructions } = question;
  if (typeof instructions === 'object' && instructions !== null && 'parts' in instructions)
    for (const [position, { kind, ...texts }] of instructions.parts.entries()) {
      if (kind !== 'image') walk.everything(texts, at('instructions', 'parts', position), 'user', DECISION_SKIPS);
    }
  else walk.everything(instructions, at('instructions'), 'user', DECISION_SKIPS);
  walk.everything(question.more, at('more'), 'user');
  if (question.kind === 'predicate')
    for (const [position, [, rule]] of (question.rules ?? []).entries())
      walk.everything(rule, at('rules', position, 1), 'user');
  if (question.kind === 'choice')
    for (const [position, { description }] of question.options.entries())
      walk.everything(description, at('options', position, 'description'), 'user');
  if (question.kind === 'score')
    for (const [position, { description }] of question.levels.entries())
      walk.everything(description, at('levels', position, 'description'), 'user');
}

/** Text in a stored decision in place of each text that no guardrail has checked. */
const UNCHECKED = '[NOT_CHECKED]';

/** The texts of a decision that guardrails check, and the decision with other texts, one for each. */
function textsOfRecord({ endpoint }: Pick<ModelRequest, 'endpoint'>, { decision, input }: DecisionRecord) {
  const { member } = endpoint.input;
  const prompt: Members = { [member]: input };
  const inputs = requestTexts(endpoint, prompt);
  const answers = decisionTexts(decision, { allLabels: true });
  const walk = createWalk();
  for (const [index, question] of decision.questions.entries()) readQuestion(walk, question, index);
  const all: readonly GuardedText[] = [...inputs, ...answers.places, ...walk.places];
  const answersFrom = inputs.length;
  const questionsFrom = answersFrom + answers.places.length;
  return {
    all,
    withTexts(texts: readonly string[]): DecisionRecord {
      const edited = answers.withTexts(texts.slice(answersFrom, questionsFrom));
      const asked: Asked = { questions: edited.questions };
      const { questions }: Asked = { ...asked, ...withTexts(asked, walk.places, texts.slice(questionsFrom)) };
      const editedInput = { ...prompt, ...withTexts(prompt, inputs, texts) }[member];
      return { input: editedInput, decision: { ...edited, questions } };
    },
  };
}

/** Settles as `work` does, or rejects when the signal aborts first. */
async function untilAborted<Result>(work: Promise<Result> | Result, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Masks a decision before it is stored, by guardrails of the mode `logging_only`. Null where one blocks or changes the
 * number of texts. Without texts where one fails or does not answer in time, and when the signal aborts: texts that
 * were not checked are not stored.
 */
export async function maskedDecision(
  guard: CallGuard,
  { callId, traceId, signal }: RunningCall,
  { request, record }: { readonly request: Pick<ModelRequest, 'model' | 'endpoint'>; readonly record: DecisionRecord },
): Promise<DecisionRecord | null> {
  const guardrails = guard.of('logging_only');
  if (guardrails.length === 0) return record;
  const read = textsOfRecord(request, record);
  try {
    const context = { guardrails, caller: guard.caller, callId, traceId, signal };
    const texts = await untilAborted(maskedTexts(context, request.model, read.all), signal);
    return texts === null ? null : read.withTexts(texts);
  } catch {
    return { ...read.withTexts(read.all.map(() => UNCHECKED)), input: null };
  }
}
