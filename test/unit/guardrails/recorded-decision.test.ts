import { expect, it } from 'vitest';
import type { Question } from '../../../src/domain/decisions/decision.ts';
import { DECISIONS, SYSTEM_ONE } from '../../../src/domain/inference/endpoint.ts';
import { maskedDecision } from '../../../src/gateway/guardrails/recorded-decision.ts';
import type { CallGuard } from '../../../src/gateway/guardrails/guarding.ts';

/** A guard whose only guardrail masks records. */
const guard = {
  caller: {},
  of: () => [
    {
      guardrail: {
        check: ({ texts }: { texts: readonly { text: string }[] }) => ({
          kind: 'edited',
          texts: texts.map(({ text }) => text.replace('secret', 'X')),
        }),
      },
    },
  ],
} as unknown as CallGuard;

/** Members whose names are those of options and levels in other places. */
const members = { name: 'secret', value: 'secret', label: ['secret'], kind: 'secret' };
const masked = { name: 'X', value: 'X', label: ['X'], kind: 'X' };

const questionsOf = (text: string, json: unknown): readonly Question[] => {
  const common = { name: 'secret', instructions: { json }, more: { note: json } };
  return [
    {
      kind: 'choice',
      ...common,
      options: [
        { value: text, description: { json } },
        { value: true, description: text },
      ],
    },
    {
      kind: 'score',
      ...common,
      levels: [
        { label: text, description: text },
        { label: { json }, description: null },
      ],
    },
    { kind: 'predicate', ...common, rules: [['true', { json }]] },
    {
      kind: 'box',
      ...common,
      instructions: { parts: [{ kind: 'text', text, sent: { type: 'input_text', text } }] },
    },
  ];
};

it.each([
  [DECISIONS, [{ type: 'input_json', data: members }], [{ type: 'input_json', data: masked }]],
  [DECISIONS, [{ type: 'message', ...members }], [{ type: 'message', ...masked }]],
  [SYSTEM_ONE, members, masked],
])('a record is masked in members of any name, and in the labels of refused questions: %#', async (...one) => {
  const [endpoint, input, expected] = one;
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const decision = (questions: readonly Question[]) => ({
    qualifiedModel: 'p/m',
    questions,
    decision: {
      model: 'm',
      answers: questions.map(() => ({ kind: 'refusal' }) as const),
      usage,
      more: {},
      usageMore: {},
    },
  });
  const running = { callId: 'c', traceId: 't', signal: new AbortController().signal };
  const record = { input, decision: decision(questionsOf('secret', members)) };
  expect(await maskedDecision(guard, running, { request: { model: 'm', endpoint }, record })).toEqual({
    input: expected,
    decision: decision(questionsOf('X', masked)),
  });
});
