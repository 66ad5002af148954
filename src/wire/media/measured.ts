import type { RequestBody } from '../../domain/inference/request-validation.ts';
import type { Measured } from '../../domain/inference/billed-quantity.ts';
import type { Form } from '../../domain/inference/form.ts';
import { type Fields, object, text } from '../json/fields.ts';
import { soundSeconds } from '../sound/length.ts';

/** A number of images. Size and quality come from the answer, else from the request; null when neither has them. */
export function measuredImages(count: number, answer: Fields, body: RequestBody): Measured {
  const kind = (member: string): string | null => text(answer[member]) ?? text(body[member]);
  return { unit: 'image', count, size: kind('size'), quality: kind('quality') };
}

/** Seconds of audio that an answer reports. Undefined when it reports none. */
export function measuredSeconds(answer: Fields): Measured | undefined {
  const seconds = secondsOf(answer);
  return seconds === null ? undefined : { unit: 'second', count: seconds };
}

/** Seconds of the uploaded recording, from its container. Undefined when they are not certain. */
export function measuredRecording(form: Form | undefined): Measured | undefined {
  const file = form?.parts.find(({ name, filename }) => name === 'file' && filename !== null);
  if (form === undefined || file === undefined) return undefined;
  const seconds = soundSeconds(form.bytes.subarray(file.bodyStart, file.bodyEnd));
  return seconds !== null && seconds < MAX_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Response formats of transcripts with times. */
const SUBTITLE_FORMATS = new Set<unknown>(['srt', 'vtt']);
const LINE_END = /-->[ \t]*(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/g;

/** Seconds up to the end of the last subtitle. Undefined without subtitles. Later silence is unknown and not billed. */
export function measuredSubtitles(subtitles: string, format: unknown): Measured | undefined {
  if (!SUBTITLE_FORMATS.has(format)) return undefined;
  let seconds = 0;
  for (const [, hours = '0', minutes, rest, parts = ''] of subtitles.matchAll(LINE_END))
    seconds = Math.max(seconds, Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${rest}.${parts}`));
  return seconds > 0 && seconds < MAX_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Seconds of audio in an answer, given as a number or as text. Null when missing or implausible. */
function secondsOf(answer: Fields): number | null {
  const reported = object(answer['usage'])['seconds'] ?? answer['duration'];
  const seconds = typeof reported === 'string' && reported.trim() !== '' ? Number(reported) : reported;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 && seconds < MAX_SECONDS
    ? seconds
    : null;
}

/** One year. A longer duration is not in seconds and is ignored. */
const MAX_SECONDS = 31_536_000;
