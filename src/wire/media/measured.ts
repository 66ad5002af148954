import type { RequestBody } from '../../domain/inference/askable.ts';
import type { Measured } from '../../domain/inference/measured.ts';
import { type Fields, object, text } from '../json/fields.ts';

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
