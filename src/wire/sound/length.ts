import { asBuffer } from '../json/members.ts';
import { mp3Seconds } from './mp3.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';

/**
 * Duration of a recording in seconds, from its container. Null when the container does not give an unambiguous
 * duration. The duration is never an estimate, because calls are billed by it (ADR 0025).
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

/** WAV formats with a fixed size per sample: PCM, IEEE float, A-law, µ-law, and WAVE_FORMAT_EXTENSIBLE. */
const FIXED_SIZE_FORMATS = new Set([0x0001, 0x0003, 0x0006, 0x0007, 0xfffe]);
/** Size field of a data chunk that was written as a stream: the size is not known. */
const UNKNOWN_SIZE = 0xff_ff_ff_ff;

/** Maximum number of chunks, the data chunk included. */
const MAX_CHUNKS = 1_000;
/** `RIFF`, the size of the file, and `WAVE`. */
const RIFF_HEADER_BYTES = 12;
/** Name and size of a chunk. */
const CHUNK_HEADER_BYTES = 8;
/** Required fields of the format chunk. */
const FORMAT_BYTES = 16;
/** Offsets in the format chunk. */
const SAMPLE_RATE_OFFSET = 4;
const BLOCK_BYTES_OFFSET = 12;

function wavSeconds(bytes: Buffer): number | null {
  let rate = 0;
  /** Bytes of one sample of all channels. */
  let blockBytes = 0;
  let at = RIFF_HEADER_BYTES;
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEADER_BYTES <= bytes.length; count += 1) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + CHUNK_HEADER_BYTES;
    if (name === 'fmt ') {
      const isComplete = size >= FORMAT_BYTES && body + FORMAT_BYTES <= bytes.length;
      if (!isComplete || !FIXED_SIZE_FORMATS.has(bytes.readUInt16LE(body))) return null;
      rate = bytes.readUInt32LE(body + SAMPLE_RATE_OFFSET);
      blockBytes = bytes.readUInt16LE(body + BLOCK_BYTES_OFFSET);
    }
    if (name === 'data') {
      if (rate === 0 || blockBytes === 0) return null;
      const remaining = bytes.length - body;
      // A size of 0 before data means that the writer did not know the size.
      if (size === 0 && remaining > 0) return null;
      const soundBytes = size === UNKNOWN_SIZE ? remaining : Math.min(size, remaining);
      return Math.floor(soundBytes / blockBytes) / rate;
    }
    // Chunks are padded to an even size.
    at = body + size + (size % 2);
  }
  return null;
}

/** Duration from the 36-bit sample count of the STREAMINFO block. Null when the count is 0, which means unknown. */
function flacSeconds(bytes: Buffer): number | null {
  // `fLaC` and the header of the first block precede its content.
  const infoStart = 8;
  // The low seven bits of byte 4 are the type of the first block: 0 is STREAMINFO.
  const isStreamInfo = ((bytes[4] ?? 0) & 0x7f) === 0;
  if (!isStreamInfo || bytes.length < infoStart + 18) return null;
  // From byte 10 of the block: 20 bits of sample rate, 8 bits of channels and sample size, 36 bits of sample count.
  const rate = bytes.readUIntBE(infoStart + 10, 3) >>> 4;
  const samples = ((bytes[infoStart + 13] ?? 0) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(infoStart + 14);
  return rate === 0 || samples === 0 ? null : samples / rate;
}
