import type { AnswerStep } from '../../src/domain/chat/answer-step.ts';

/** Texts that need correct framing and escaping. */
const PIECES = ['Hello', ' wörld', ' 😀', '\n\n', 'data: x', '"', '\\', ' {"a":1}', '\u2028', ' end'];

/** Kinds of answer steps that a dialect supports. */
export interface AnswerKinds {
  readonly reasoning: boolean;
  /** Whether reasoning ends with a proof (a signature of the vendor). */
  readonly proofs: boolean;
}

/** Random valid answer as steps: reasoning, text, tool calls, end and usage. */
export function randomAnswer(below: (bound: number) => number, { reasoning, proofs }: AnswerKinds): AnswerStep[] {
  const words = (): string => PIECES[below(PIECES.length)] ?? 'x';
  /** List of random length up to `max`, for a loop. */
  const some = (max: number): undefined[] => Array.from({ length: below(max + 1) });
  const steps: AnswerStep[] = [{ kind: 'begin', id: `answer-${below(1000)}`, model: 'upstream-1' }];
  const thoughts = reasoning ? some(3) : [];
  for (const _ of thoughts) steps.push({ kind: 'reasoning', text: words() });
  if (proofs && thoughts.length > 0) steps.push({ kind: 'reasoningProof', proof: `proof-${below(1000)}` });
  for (const _ of some(5)) steps.push({ kind: 'text', text: words() });
  const calls = some(2);
  calls.forEach((_, index) => {
    steps.push({ kind: 'toolCall', index, id: `call_${index}`, name: `tool_${index}`, arguments: '' });
    for (const piece of ['{"say":', JSON.stringify(words()), '}'])
      steps.push({ kind: 'toolCall', index, id: null, name: null, arguments: piece });
  });
  const reason = ['stop', 'length', 'content_filter'][below(3)] ?? 'stop';
  steps.push({ kind: 'finish', reason: calls.length > 0 ? 'tool_calls' : reason });
  const cacheReadTokens = below(50);
  const reasoningTokens = thoughts.length === 0 ? 0 : below(20);
  steps.push({
    kind: 'usage',
    usage: {
      inputTokens: cacheReadTokens + below(100),
      outputTokens: reasoningTokens + below(100),
      cacheReadTokens,
      cacheWriteTokens: 0,
      reasoningTokens,
    },
  });
  return steps;
}

/** Joins adjacent pieces of an answer and drops empty ones. The same answer in different chunks is then equal. */
export function joinedSteps(steps: readonly AnswerStep[]): readonly AnswerStep[] {
  const whole: AnswerStep[] = [];
  for (const step of steps) {
    const last = whole.at(-1);
    if (last?.kind === 'text' && step.kind === 'text')
      whole[whole.length - 1] = { ...last, text: last.text + step.text };
    else if (last?.kind === 'reasoning' && step.kind === 'reasoning')
      whole[whole.length - 1] = { ...last, text: last.text + step.text };
    else if (last?.kind === 'toolCall' && step.kind === 'toolCall' && last.index === step.index)
      whole[whole.length - 1] = { ...last, arguments: last.arguments + step.arguments };
    else if ((step.kind === 'text' || step.kind === 'reasoning') && step.text === '') continue;
    else whole.push(step);
  }
  return whole;
}
