import { isJsonObject } from '../../domain/json-object.ts';
import type { ModelRequest, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { errorOf, isAnswer } from '../chat-completions/answer.ts';
import type { NativeDialect, WholeAnswer } from '../dialect.ts';
import { object, parseJson, text } from '../json/fields.ts';
import { asBuffer, itemCount, outlineOf } from '../json/members.ts';
import { MediaInspector } from './inspector.ts';
import { measuredImages, measuredRecording, measuredSeconds, measuredSubtitles } from './measured.ts';
import { imageUsageOf, transcriptUsageOf } from './usage.ts';
import { upstreamRequest } from '../chat-completions/native.ts';
import { contentTypeOf, upstreamForm } from '../multipart/form.ts';

/** Image answers. Image data is not parsed. The outcome has the reported tokens, and the images as billed quantity. */
const IMAGES: NativeDialect = {
  errorOf,
  whole(bytes, { body }) {
    const value = outlineOf(bytes, 'data');
    const error = errorOf(value);
    if (error !== null) return { error };
    if (!isAnswer(value, 'data')) return null;
    const answer = object(value);
    const measured = measuredImages(itemCount(bytes, 'data') ?? 0, answer, body);
    return wholeAnswer(bytes, { usage: imageUsageOf(answer['usage']), measured });
  },
  inspector: (options) => new MediaInspector(options),
};

/** Response formats of transcripts that are not JSON. */
const PLAIN_FORMATS = new Set<unknown>(['text', 'srt', 'vtt']);

/**
 * Transcripts, in JSON or as plain text. The outcome has the reported tokens and seconds of audio. When the answer
 * reports neither, the seconds come from the recording, else from the subtitles.
 */
const TRANSCRIPTS: NativeDialect = {
  errorOf,
  whole(bytes, { body, form, textLimit }) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    const answer = object(value);
    const format = body['response_format'];
    const jsonText = text(answer['text']);
    const isPlainText = !isJsonObject(value) && PLAIN_FORMATS.has(format);
    if (jsonText === null && !isPlainText) return null;
    const transcript = jsonText ?? asBuffer(bytes).toString('utf8');
    const usage = transcriptUsageOf(answer['usage']);
    const reported = isPlainText ? undefined : measuredSeconds(answer);
    const hasReport = usage !== null || reported !== undefined;
    const recording = hasReport ? undefined : measuredRecording(form);
    const subtitles = isPlainText ? measuredSubtitles(transcript, format) : undefined;
    return wholeAnswer(bytes, {
      usage,
      measured: reported ?? recording ?? subtitles,
      text: textLimit === 0 ? null : transcript.slice(0, textLimit),
    });
  },
  inspector: (options) => new MediaInspector(options),
};

/** Native dialect for the answers of each medium. */
export const MEDIA: Readonly<Record<NonNullable<Endpoint['medium']>, NativeDialect>> = {
  image: IMAGES,
  transcript: TRANSCRIPTS,
};

function wholeAnswer(
  bytes: Uint8Array,
  {
    usage,
    measured,
    text: keptText = null,
  }: { readonly usage: Usage | null; readonly measured: BilledQuantity | undefined; readonly text?: string | null },
): WholeAnswer {
  const outcome: Outcome = {
    responseId: null,
    responseModel: null,
    finishReason: null,
    usage,
    ...(measured === undefined ? {} : { measured }),
    failure: null,
    text: keptText,
  };
  return { bytes, outcome, deltas: () => [] };
}

/** Encoded body with its content type. */
interface EncodedBody {
  readonly contentType: string;
  readonly body: Uint8Array | readonly Uint8Array[];
}

/** Body of an image or audio request, in OpenAI's format. */
export function mediaRequest(request: ModelRequest, upstreamModel: string): EncodedBody {
  const { form } = request;
  if (form !== undefined) return { contentType: contentTypeOf(form), body: upstreamForm(form, upstreamModel) };
  // Only text streams support `stream_options`.
  const body = upstreamRequest(request, upstreamModel, { streamOptions: false });
  return { contentType: 'application/json', body };
}
