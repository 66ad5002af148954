import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { soundSeconds } from '../../../src/wire/sound/length.ts';

/** Tones of 12,345 samples at 16,000 Hz, and `pcm.wav` of 2,000 samples, written by libsndfile and FFmpeg. */
const recorded = (name: string): Buffer => readFileSync(new URL(`../../fixtures/sound/${name}`, import.meta.url));
const TONE_SECONDS = 12_345 / 16_000;

const changed = (name: string, change: (bytes: Buffer) => Buffer | void): Buffer => {
  const bytes = Buffer.from(recorded(name));
  return change(bytes) ?? bytes;
};
/** Offset of the data size in a plain WAV file. */
const DATA_SIZE = 40;

describe('the duration of a recording', () => {
  it.each([
    ['pcm.wav', 0.125],
    ['tone.flac', TONE_SECONDS],
    ['tone.mp3', TONE_SECONDS],
    ['vorbis.ogg', TONE_SECONDS],
    ['opus.ogg', TONE_SECONDS],
    // Times in this container are in milliseconds.
    ['aac.m4a', 0.772],
  ])('is read from its container: %s', (name, seconds) => {
    expect(soundSeconds(recorded(name))).toBe(seconds);
  });

  it.each([
    ['WAV from a stream', changed('pcm.wav', (bytes) => void bytes.writeUInt32LE(0xff_ff_ff_ff, DATA_SIZE)), 0.125],
    // The header has 44 bytes, and each of the 2,000 samples two.
    ['WAV with half of its samples', recorded('pcm.wav').subarray(0, 44 + 2_000), 0.0625],
    ['WAV with an additional chunk', changed('pcm.wav', (bytes) => withChunk(bytes)), 0.125],
    ['MP3 with tags on both ends', tagged(recorded('tone.mp3')), TONE_SECONDS],
    ['MP3 whose last frame is incomplete', recorded('tone.mp3').subarray(0, -20), TONE_SECONDS - 576 / 16_000],
    // Only the header frame states the padding of the encoder. Without it, all 24 frames of 576 samples count.
    ['MP3 without its header frame', recorded('tone.mp3').subarray(secondMp3Frame()), 0.864],
  ])('is read from variants: %s', (_name, bytes, seconds) => {
    expect(soundSeconds(bytes)).toBeCloseTo(seconds, 9);
  });

  it.each([
    ['a file without sound', Buffer.from('what was said')],
    ['an empty file', Buffer.alloc(0)],
    ['WAV of compressed samples', recorded('adpcm.wav')],
    ['WAV whose size was never written', changed('pcm.wav', (bytes) => void bytes.writeUInt32LE(0, DATA_SIZE))],
    ['FLAC without a number of samples', changed('tone.flac', (bytes) => void bytes.fill(0, 22, 26))],
    ['truncated Ogg', recorded('opus.ogg').subarray(0, -5)],
    ['Ogg with trailing data', Buffer.concat([recorded('opus.ogg'), Buffer.from('x')])],
    ['Ogg of two streams', Buffer.concat([recorded('opus.ogg'), recorded('vorbis.ogg')])],
    ['Ogg that begins in the middle of a stream', changed('vorbis.ogg', fromTheMiddle)],
    ['MP3 with other bytes inside', withNoise(recorded('tone.mp3'))],
    ['MP4 without its movie header', changed('aac.m4a', (bytes) => void bytes.write('free', bytes.indexOf('moov')))],
    ['MP4 in fragments', changed('aac.m4a', (bytes) => void bytes.write('mvex', bytes.indexOf('udta')))],
    ['MP4 without sound', changed('aac.m4a', (bytes) => void bytes.write('vide', bytes.indexOf('soun')))],
  ])('is unknown: %s', (_name, bytes) => {
    expect(soundSeconds(bytes)).toBeNull();
  });

  it('is null or a positive number, without an error, for truncated or changed files', () => {
    for (const name of ['pcm.wav', 'tone.flac', 'tone.mp3', 'vorbis.ogg', 'opus.ogg', 'aac.m4a']) {
      const bytes = recorded(name);
      for (let index = 0; index < Math.min(bytes.length, 600); index += 1) {
        const variants = [
          bytes.subarray(0, index),
          changed(name, (copy) => void copy.writeUInt8(255 - (copy[index] ?? 0), index)),
        ];
        for (const seconds of variants.map(soundSeconds))
          expect(seconds === null || (Number.isFinite(seconds) && seconds > 0)).toBe(true);
      }
    }
  });
});

function withChunk(bytes: Buffer): Buffer {
  const chunk = Buffer.from('LIST\x03\0\0\0abc\0', 'latin1');
  return Buffer.concat([bytes.subarray(0, 36), chunk, bytes.subarray(36)]);
}

function tagged(bytes: Buffer): Buffer {
  const front = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x01\x02', 'latin1'), Buffer.alloc(130)]);
  return Buffer.concat([front, bytes, Buffer.from('TAG'), Buffer.alloc(125)]);
}

/** Offset of the second frame of the tone, in bytes. */
function secondMp3Frame(): number {
  const bytes = recorded('tone.mp3');
  // All frames begin with the same two bytes.
  return bytes.indexOf(bytes.subarray(0, 2), 4);
}

function withNoise(bytes: Buffer): Buffer {
  const middle = bytes.length >> 1;
  return Buffer.concat([bytes.subarray(0, middle), Buffer.from('noise'), bytes.subarray(middle)]);
}

/** Changes the positions of the pages, as if the recording began ten hours after the start of a stream. */
function fromTheMiddle(bytes: Buffer): void {
  const samplesOfTenHours = 10n * 3_600n * 16_000n;
  for (let start = bytes.indexOf('OggS'); start !== -1; start = bytes.indexOf('OggS', start + 4)) {
    const played = bytes.readBigInt64LE(start + 6);
    if (played > 0n) bytes.writeBigInt64LE(played + samplesOfTenHours, start + 6);
  }
}
