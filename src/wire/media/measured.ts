import type { RequestBody } from '../../domain/inference/askable.ts';
import type { Measured } from '../../domain/inference/measured.ts';
import type { Form } from '../../domain/inference/form.ts';
import { type Fields, object, text } from '../json/fields.ts';
import { soundSeconds } from '../sound/length.ts';

/** So many pictures, of the kind the answer says or, where it does not, the request. */
export function picturesOf(count: number, answer: Fields, body: RequestBody): Measured {
  const kind = (member: string): string | null => text(answer[member]) ?? text(body[member]);
  return { unit: 'image', count, size: kind('size'), quality: kind('quality') };
}

/** The seconds an answer tells; undefined where it does not. */
export function soundOf(answer: Fields): Measured | undefined {
  const seconds = secondsOf(answer);
  return seconds === null ? undefined : { unit: 'second', count: seconds };
}

/** The seconds of the recording that was sent; undefined where it does not say for sure. */
export function recordedSound(form: Form | undefined): Measured | undefined {
  const file = form?.parts.find(({ name, filename }) => name === 'file' && filename !== null);
  if (form === undefined || file === undefined) return undefined;
  const seconds = soundSeconds(form.bytes.subarray(file.bodyStart, file.bodyEnd));
  return seconds !== null && seconds < MOST_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Forms of a transcript whose lines say when they are said. */
const TIMED = new Set<unknown>(['srt', 'vtt']);
const LINE_END = /-->[ \t]*(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/g;

/** The seconds up to the last line of subtitles; undefined where none are. Silence after it is not told, nor billed. */
export function subtitledSound(subtitles: string, format: unknown): Measured | undefined {
  if (!TIMED.has(format)) return undefined;
  let seconds = 0;
  for (const [, hours = '0', minutes, rest, parts = ''] of subtitles.matchAll(LINE_END))
    seconds = Math.max(seconds, Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${rest}.${parts}`));
  return seconds > 0 && seconds < MOST_SECONDS ? { unit: 'second', count: seconds } : undefined;
}

/** Seconds of sound that an answer tells, as a number or as text; null where it does not. */
function secondsOf(answer: Fields): number | null {
  const told = object(answer['usage'])['seconds'] ?? answer['duration'];
  const seconds = typeof told === 'string' && told.trim() !== '' ? Number(told) : told;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 && seconds < MOST_SECONDS
    ? seconds
    : null;
}

/** Nobody records for a year; what says so counts something else. */
const MOST_SECONDS = 31_536_000;
