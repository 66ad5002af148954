import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { errorOf, isAnswer } from '../chat-completions/answer.ts';
import type { NativeDialect } from '../dialect.ts';
import { type Fields, list, object, parseJson, text } from '../json/fields.ts';
import { asBuffer, createModelRewriter, itemCount, outlineOf } from '../json/members.ts';
import { documentQuantityIn } from '../reported-usage/reported.ts';

/** Text of the pages of an answer, at most `limit` characters. */
function textOfPages(answer: Fields, limit: number): string {
  let result = '';
  for (const page of list(answer['pages'])) {
    if (result.length >= limit) break;
    const markdown = text(object(page)['markdown']) ?? '';
    result += result === '' ? markdown : `\n\n${markdown}`;
  }
  return result.slice(0, limit);
}

/** Billed pages of an answer: those that it reports, else those that it has. */
const pagesOf = (answer: Fields, bytes: Uint8Array): BilledQuantity =>
  documentQuantityIn(answer) ?? { unit: 'page', count: itemCount(bytes, 'pages') ?? 0 };

/** Texts of documents, in Mistral's format. Pages may have images of megabytes: they are parsed for their text only. */
export const OCR_NATIVE: NativeDialect = {
  errorOf,
  whole(bytes, { model, textLimit }) {
    const value = textLimit === 0 ? outlineOf(bytes, 'pages') : parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isAnswer(value, 'pages')) return null;
    const answer = object(value);
    const responseModel = text(answer['model']);
    return {
      bytes: responseModel === model ? asBuffer(bytes) : createModelRewriter(model)(asBuffer(bytes)),
      outcome: {
        responseId: null,
        responseModel,
        finishReason: null,
        usage: null,
        failure: null,
        text: textLimit === 0 ? null : textOfPages(answer, textLimit),
        measured: pagesOf(answer, bytes),
      },
      deltas: () => [],
    };
  },
  inspector() {
    throw new TypeError('The text of a document cannot be a stream.');
  },
};
