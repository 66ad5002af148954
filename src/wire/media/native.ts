import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import type { Measured } from '../../domain/inference/measured.ts';
import { errorOf, isAnswer } from '../chat-completions/answer.ts';
import type { NativeDialect, WholeAnswer } from '../dialect.ts';
import { isObject, object, parseJson, text } from '../json/fields.ts';
import { itemCount } from '../json/members.ts';
import { outlineOf } from '../json/outline.ts';
import { MediaInspector } from './inspector.ts';
import { picturesOf, recordedSound, soundOf, subtitledSound } from './measured.ts';
import { imageUsageOf, transcriptUsageOf } from './usage.ts';

/** Pictures: their bytes are passed over, their number and kind are what they are sold by. */
const IMAGES: NativeDialect = {
  errorOf,
  whole(bytes, { body }) {
    const value = outlineOf(bytes, 'data');
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isAnswer(value, 'data')) return null;
    const answer = object(value);
    const measured = picturesOf(itemCount(bytes, 'data') ?? 0, answer, body);
    return wholeAnswer(bytes, { usage: imageUsageOf(answer['usage']), measured });
  },
  inspector: (options) => new MediaInspector(options),
};

/** Forms of a transcript that are no JSON. */
const WRITTEN = new Set<unknown>(['text', 'srt', 'vtt']);

/** What is said in a recording, in JSON or as it would be printed. */
const TRANSCRIPTS: NativeDialect = {
  errorOf,
  whole(bytes, { body, form, textLimit }) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    const answer = object(value);
    const said = text(answer['text']);
    if (said === null && (isObject(value) || !WRITTEN.has(body['response_format']))) return null;
    const kept = said ?? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const usage = transcriptUsageOf(answer['usage']);
    const told = said === null ? undefined : soundOf(answer);
    const recorded = usage === null && told === undefined ? recordedSound(form) : undefined;
    return wholeAnswer(bytes, {
      usage,
      measured: told ?? recorded ?? (said === null ? subtitledSound(kept, body['response_format']) : undefined),
      text: textLimit === 0 ? null : kept.slice(0, textLimit),
    });
  },
  inspector: (options) => new MediaInspector(options),
};

/** How the answers of each medium are read. */
export const MEDIA: Readonly<Record<NonNullable<Endpoint['medium']>, NativeDialect>> = {
  image: IMAGES,
  transcript: TRANSCRIPTS,
};

function wholeAnswer(
  bytes: Uint8Array,
  {
    usage,
    measured,
    text: kept = null,
  }: { readonly usage: Usage | null; readonly measured: Measured | undefined; readonly text?: string | null },
): WholeAnswer {
  const outcome: Outcome = {
    responseId: null,
    responseModel: null,
    finishReason: null,
    usage,
    ...(measured === undefined ? {} : { measured }),
    failure: null,
    text: kept,
  };
  return { bytes, outcome, deltas: () => [] };
}
