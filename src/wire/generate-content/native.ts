import { isChatDelta } from '../../domain/chat/answer-step.ts';
import { OutcomeCollector } from '../../domain/chat/outcome.ts';
import type { InboundDialect, NativeDialect, OutboundDialect } from '../dialect.ts';
import { type Fields, parseJson } from '../json/fields.ts';
import { asBuffer, upstreamChanges, withMembers } from '../json/members.ts';
import { StepsInspector } from '../sse/steps-inspector.ts';
import { createContentReader, errorOf, isAnswer } from './answer.ts';
import { readGenerate } from './read-request.ts';
import { createContentWriter, wholeContent } from './write-answer.ts';
import { writeGenerate } from './write-request.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';

/** Dialect of callers that send Google's generateContent. */
export const GENERATE_CONTENT_IN: InboundDialect = {
  readRequest: readGenerate,
  writer: createContentWriter,
  whole: wholeContent,
};

/** Dialect of generateContent upstreams, for callers of other dialects. */
export const GENERATE_CONTENT_OUT: OutboundDialect = {
  writeRequest: writeGenerate,
  reader: createContentReader,
  stepsOf: (answer) => createContentReader().read(answer, null),
};

/** Native dialect of generateContent: answers are forwarded unchanged, except for the model name. */
export const GENERATE_CONTENT: NativeDialect = {
  errorOf,
  whole(bytes, { model, textLimit }) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isAnswer(value)) return null;
    const steps = createContentReader().read(value, null);
    const collector = new OutcomeCollector(textLimit);
    for (const step of steps) collector.add(step);
    return {
      bytes: withPublicModel(asBuffer(bytes), value, model),
      outcome: collector.outcome(),
      deltas: () => steps.filter(isChatDelta),
    };
  },
  inspector: (options) =>
    new StepsInspector({ reader: createContentReader, errorOf, rename: withPublicModel }, options),
};

function withPublicModel(json: Buffer, value: Fields, model: string): Buffer {
  const named = value['modelVersion'];
  if (typeof named !== 'string' || named === model) return json;
  return asBuffer(withMembers(json, { modelVersion: JSON.stringify(model) }));
}

/** The request for Google, without gateway fields. `model` and `stream` are removed: the URL expresses both. */
export const contentRequest = (request: ModelRequest): Uint8Array =>
  withMembers(request.bytes, { ...upstreamChanges(request), model: null, stream: null });
