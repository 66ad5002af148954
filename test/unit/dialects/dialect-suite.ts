import { describe, expect, it } from 'vitest';
import type { AnswerStep } from '../../../src/domain/chat/answer-step.ts';
import type { AnswerContext, InboundDialect, OutboundDialect } from '../../../src/wire/dialect.ts';
import { stepsOfEvents, translatedStream } from '../../../src/wire/translate.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';
import { type AnswerKinds, joinedSteps, randomAnswer } from '../../support/random-answer.ts';
import { randomFrom } from '../../support/random.ts';

const CONTEXT: AnswerContext = {
  model: 'public',
  fallbackId: 'fallback',
  createdAt: 1_700_000_000,
  includeUsage: true,
  body: { model: 'public' },
};
const ROUNDS = 200;

/** Answer steps of a stream. */
function read(text: string, outbound: OutboundDialect): readonly AnswerStep[] {
  return stepsOfEvents(Buffer.from(text), outbound.reader());
}

function write(steps: readonly AnswerStep[], inbound: InboundDialect): string {
  const writer = inbound.writer(CONTEXT);
  return `${steps.map((step) => writer.write(step)).join('')}${writer.end()}`;
}

/** Joined steps with the model name that the caller used. */
const asCallersSee = (steps: readonly AnswerStep[]): readonly AnswerStep[] =>
  joinedSteps(steps.map((step) => (step.kind === 'begin' ? { ...step, model: CONTEXT.model } : step)));

const failed = ({ message }: { readonly message: string }): Error => new Error(message);

/** Contract of a dialect with an inbound and an outbound side: a written answer is read without loss. */
export function dialectSuite(
  dialect: string,
  { inbound, outbound, kinds }: { inbound: InboundDialect; outbound: OutboundDialect; kinds: AnswerKinds },
): void {
  describe(`the dialect ${dialect}`, () => {
    const answers = (): readonly (readonly AnswerStep[])[] => {
      const random = randomFrom(20_261_121);
      return Array.from({ length: ROUNDS }, () => randomAnswer(random, kinds));
    };

    it('reads a streamed answer without loss', () => {
      for (const steps of answers())
        expect(joinedSteps(read(write(steps, inbound), outbound))).toEqual(asCallersSee(steps));
    });

    it('reads a whole answer without loss', () => {
      for (const steps of answers()) {
        const whole: unknown = JSON.parse(JSON.stringify(inbound.whole(steps, CONTEXT)));
        expect(joinedSteps(outbound.stepsOf(whole))).toEqual(asCallersSee(steps));
      }
    });

    it('translates a stream to the same bytes for any chunk boundaries', () => {
      for (const steps of answers().slice(0, 10)) {
        const bytes = Buffer.from(write(steps, inbound));
        const inOnePiece = write(read(bytes.toString('utf8'), outbound), inbound);
        for (const size of [1, 2, 3, 7, 64, bytes.length]) {
          const source = fedStream();
          const gathered = gather(translatedStream(source, outbound.reader(), inbound.writer(CONTEXT), { failed }));
          for (let offset = 0; offset < bytes.length; offset += size)
            source.feed(bytes.subarray(offset, offset + size));
          source.finish();
          expect({ size, text: gathered.text(), end: gathered.end }).toEqual({ size, text: inOnePiece, end: 'done' });
        }
      }
    });

    it('reads malformed values without an error', () => {
      const reader = outbound.reader();
      for (const malformed of [
        null,
        undefined,
        1,
        'x',
        [],
        {},
        { choices: 1 },
        { type: 7 },
        { error: {} },
        { usage: 'x' },
      ])
        expect(() => reader.read(malformed, null)).not.toThrow();
      for (const malformed of [null, undefined, [], {}, 'x']) expect(() => outbound.stepsOf(malformed)).not.toThrow();
    });
  });
}
