import { asBuffer } from '../json/members.ts';
import { mp3Seconds } from './mp3.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';

/**
 * The seconds of a recording, from its container; null where that does not say it for sure. Nothing is estimated: calls are
 * billed by it (ADR 0036).
 */
export function soundSeconds(file: Uint8Array): number | null {
  const bytes = asBuffer(file);
  const seconds = secondsOf(bytes);
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function secondsOf(bytes: Buffer): number | null {
  const word = (at: number): string => bytes.toString('latin1', at, at + 4);
  if (word(0) === 'RIFF' && word(8) === 'WAVE') return wavSeconds(bytes);
  if (word(0) === 'fLaC') return flacSeconds(bytes);
  if (word(0) === 'OggS') return oggSeconds(bytes);
  if (word(4) === 'ftyp') return mp4Seconds(bytes);
  return mp3Seconds(bytes);
}

/** Forms of samples of which each has its place: PCM, in floating point, of telephones, and the first with a longer head. */
const EVEN_FORMS = new Set([0x0001, 0x0003, 0x0006, 0x0007, 0xfffe]);
/** What who writes to a stream puts where a size is to stand. */
const UNKNOWN_SIZE = 0xff_ff_ff_ff;

/** Most chunks before that of the samples. */
const MOST_CHUNKS = 1_000;

function wavSeconds(bytes: Buffer): number | null {
  let rate = 0;
  let blockBytes = 0;
  for (let at = 12, count = 0; count < MOST_CHUNKS && at + 8 <= bytes.length; count += 1) {
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    const name = bytes.toString('latin1', at, at + 4);
    if (name === 'fmt ') {
      if (size < 16 || body + 16 > bytes.length || !EVEN_FORMS.has(bytes.readUInt16LE(body))) return null;
      rate = bytes.readUInt32LE(body + 4);
      blockBytes = bytes.readUInt16LE(body + 12);
    }
    if (name === 'data') {
      if (rate === 0 || blockBytes === 0) return null;
      const left = bytes.length - body;
      if (size === 0 && left > 0) return null;
      return Math.floor(Math.min(size === UNKNOWN_SIZE ? left : size, left) / blockBytes) / rate;
    }
    // Chunks begin at even places.
    at = body + size + (size % 2);
  }
  return null;
}

/** The count of samples stands in 36 bits of the first block; zero where its writer did not know it. */
function flacSeconds(bytes: Buffer): number | null {
  const at = 8;
  if (bytes.length < at + 18 || ((bytes[4] ?? 0) & 0x7f) !== 0) return null;
  const rate = bytes.readUIntBE(at + 10, 3) >>> 4;
  const samples = ((bytes[at + 13] ?? 0) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(at + 14);
  return rate === 0 || samples === 0 ? null : samples / rate;
}
