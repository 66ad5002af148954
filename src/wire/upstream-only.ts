import { isChatDelta } from '../domain/chat/answer-step.ts';
import { OutcomeCollector } from '../domain/chat/outcome.ts';
import type { AnswerError, NativeDialect, OutboundDialect } from './dialect.ts';
import { parseJson } from './json/fields.ts';
import { StepsInspector } from './sse/steps-inspector.ts';

/** Creates the native dialect of upstreams whose dialect callers do not use. Its answers are always translated. */
export function upstreamOnly(dialect: {
  readonly outbound: OutboundDialect;
  errorOf(value: unknown): AnswerError | null;
  isAnswer(value: unknown): boolean;
}): NativeDialect {
  const { outbound, errorOf, isAnswer } = dialect;
  return {
    errorOf,
    whole(bytes, { textLimit }) {
      const value = parseJson(bytes);
      const error = errorOf(value);
      if (error !== null) return { error };
      if (!isAnswer(value)) return null;
      const steps = outbound.stepsOf(value);
      const collector = new OutcomeCollector(textLimit);
      for (const step of steps) collector.add(step);
      return { bytes, outcome: collector.outcome(), deltas: () => steps.filter(isChatDelta) };
    },
    inspector: (options) =>
      new StepsInspector({ reader: () => outbound.reader(), errorOf, rename: (data) => data }, options),
  };
}
