import { describe, expect, it } from 'vitest';
import type { AnswerStep } from '../../../src/domain/chat/answer-step.ts';
import { CHAT_COMPLETIONS_IN, chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import type { AnswerContext, InboundDialect, OutboundDialect } from '../../../src/wire/dialect.ts';
import { MESSAGES_IN, messagesOut } from '../../../src/wire/messages/native.ts';
import { stepsOfEvents } from '../../../src/wire/translate.ts';
import { joinedSteps, randomAnswer } from '../../support/random-answer.ts';
import { randomFrom } from '../../support/random.ts';

const CHAT = { inbound: CHAT_COMPLETIONS_IN, outbound: chatCompletionsOut({ maxTokensMember: 'max_tokens' }) };
const MESSAGES = { inbound: MESSAGES_IN, outbound: messagesOut({ maxTokens: 4096 }) };
const CONTEXT: AnswerContext = {
  model: 'public',
  fallbackId: 'fallback',
  createdAt: 1_700_000_000,
  includeUsage: true,
  body: { model: 'public' },
};

interface Dialect {
  readonly inbound: InboundDialect;
  readonly outbound: OutboundDialect;
}

/** An answer that a dialect writes as a stream and reads again. `whole` does so without streaming. */
function streamed(steps: readonly AnswerStep[], { inbound, outbound }: Dialect): readonly AnswerStep[] {
  const writer = inbound.writer(CONTEXT);
  const text = `${steps.map((step) => writer.write(step)).join('')}${writer.end()}`;
  return stepsOfEvents(Buffer.from(text), outbound.reader());
}

const whole = (steps: readonly AnswerStep[], { inbound, outbound }: Dialect): readonly AnswerStep[] =>
  outbound.stepsOf(JSON.parse(JSON.stringify(inbound.whole(steps, CONTEXT))));

describe.each([
  ['an upstream of chat completions for a caller of messages', CHAT, MESSAGES],
  ['an upstream of messages for a caller of chat completions', MESSAGES, CHAT],
])('%s', (_what, upstream, caller) => {
  it('gives the same answer streamed and whole: content, calls, finish reason and usage', () => {
    const random = randomFrom(20_261_127);
    for (let round = 0; round < 200; round += 1) {
      const answer = randomAnswer(random, { reasoning: true, proofs: false });
      const viaStream = joinedSteps(streamed(streamed(answer, upstream), caller));
      const viaWhole = joinedSteps(whole(whole(answer, upstream), caller));
      expect(viaStream).toEqual(viaWhole);
      expect(viaStream).toEqual(
        joinedSteps(answer.map((step) => (step.kind === 'begin' ? { ...step, model: 'public' } : step))),
      );
    }
  });
});
