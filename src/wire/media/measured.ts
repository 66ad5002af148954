import type { RequestBody } from '../../domain/inference/request-validation.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import type { Form } from '../../domain/inference/form.ts';
import { type Fields, object, text } from '../json/fields.ts';
import { soundSeconds } from '../sound/length.ts';

/** One year in seconds. A longer duration is implausible and is ignored. */
const MAX_SECONDS = 31_536_000;

/** Billed images. Size and quality come from the answer, else from the request. Null when neither has them. */
export function measuredImages(count: number, answer: Fields, body: RequestBody): BilledQuantity {
  const setting = (member: string): string | null => text(answer[member]) ?? text(body[member]);
  return { unit: 'image', count, size: setting('size'), quality: setting('quality') };
}

/** Seconds of audio that an answer reports. Undefined when it reports none, or an implausible number. */
export function measuredSeconds(answer: Fields): BilledQuantity | undefined {
  const seconds = secondsOf(answer);
  return seconds === null ? undefined : { unit: 'second', count: seconds };
}

/** Seconds of the uploaded recording. Undefined without a file, and when its duration is unknown or implausible. */
export function measuredRecording(form: Form | undefined): BilledQuantity | undefined {
  const file = form?.parts.find(({ name, filename }) => name === 'file' && filename !== null);
  if (form === undefined || file === undefined) return undefined;
  const seconds = soundSeconds(form.bytes.subarray(file.bodyStart, file.bodyEnd));
  return seconds !== null && seconds < MAX_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Response formats of transcripts that are subtitles. */
const SUBTITLE_FORMATS = new Set<unknown>(['srt', 'vtt']);
const END_TIME = /-->[ \t]*(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/g;

/**
 * Seconds up to the end of the last subtitle. Undefined without subtitles. Silence after the last subtitle is unknown
 * and not billed.
 */
export function measuredSubtitles(subtitles: string, format: unknown): BilledQuantity | undefined {
  if (!SUBTITLE_FORMATS.has(format)) return undefined;
  let seconds = 0;
  for (const [, hours = '0', minutes, wholeSeconds, fraction = ''] of subtitles.matchAll(END_TIME))
    seconds = Math.max(seconds, Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${wholeSeconds}.${fraction}`));
  return seconds > 0 && seconds < MAX_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Seconds of audio in an answer, given as a number or as text. Null when missing or implausible. */
function secondsOf(answer: Fields): number | null {
  const reported = object(answer['usage'])['seconds'] ?? answer['duration'];
  const seconds = typeof reported === 'string' && reported.trim() !== '' ? Number(reported) : reported;
  if (typeof seconds !== 'number') return null;
  return seconds >= 0 && seconds < MAX_SECONDS ? seconds : null;
}
