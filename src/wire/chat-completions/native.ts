import type { ChatDelta, Outcome } from '../../domain/chat/chat.ts';
import type { NativeDialect, WholeAnswerContext, WholeAnswer } from '../dialect.ts';
import { parseJson } from '../json/fields.ts';
import { asBuffer } from '../json/members.ts';
import { createModelRewriter } from '../json/model-rewriter.ts';
import { outlineOf } from '../json/outline.ts';
import { chargedOf, deltasOfAnswer, errorOf, factsOf, isAnswer, searchesOf } from './answer.ts';
import { type AnswerForm, ChunkInspector } from './inspector.ts';

/** Native dialect of endpoints with OpenAI's answer format: chat completions, completions, embeddings and others. */
export function openAiFrame(form: AnswerForm = {}): NativeDialect {
  return {
    errorOf,
    whole(bytes, context) {
      const { member } = context.endpoint.answers;
      if (member === null) return null;
      // Vectors and images are megabytes that need no parsing.
      const value = member === 'choices' ? parseJson(bytes) : outlineOf(bytes, member);
      const error = errorOf(value);
      if (error !== null) return { error };
      return isAnswer(value, member) ? wholeAnswer(bytes, value, context, form) : null;
    },
    inspector: (options) => new ChunkInspector(options, form),
  };
}

/** A complete answer in OpenAI's format. `original` are its bytes, `value` is the parsed JSON. */
export function wholeAnswer(
  original: Uint8Array,
  value: unknown,
  { model, textLimit }: Pick<WholeAnswerContext, 'model' | 'textLimit'>,
  { namesPrice, keepsModel }: AnswerForm = {},
): WholeAnswer {
  const { id, model: responseModel, finishReason, usage } = factsOf(value);
  const searches = searchesOf(value);
  const charged = namesPrice === true ? chargedOf(value) : undefined;
  const outcome: Outcome = {
    responseId: id,
    responseModel,
    finishReason,
    usage,
    ...(searches === null ? {} : { measured: { unit: 'query', count: searches } }),
    ...(charged === undefined ? {} : { charged }),
    failure: null,
    text: textLimit === 0 ? null : textOf(deltasOfAnswer(value)).slice(0, textLimit),
  };
  const bytes = asBuffer(original);
  return {
    bytes: keepsModel === true || responseModel === model ? bytes : createModelRewriter(model).rename(bytes),
    outcome,
    deltas: () => deltasOfAnswer(value),
  };
}

function textOf(deltas: readonly ChatDelta[]): string {
  return deltas
    .map((delta) => {
      if (delta.kind === 'text') return delta.text;
      return delta.kind === 'toolCall' ? `${delta.name ?? ''}${delta.arguments}` : '';
    })
    .join('');
}
