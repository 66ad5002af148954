/** Bitrates of layer 3 in kbit/s, by the index in the frame header. First MPEG 1, then MPEG 2 and 2.5. */
const BITRATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
/** Sample rates of MPEG 1 in Hz, by the index in the frame header. */
const RATES = [44_100, 48_000, 32_000] as const;
/** Divisor of the sample rate, by the version bits: MPEG 2.5, reserved, MPEG 2, MPEG 1. */
const RATE_DIVISORS = [4, null, 2, 1] as const;
/** Minimum number of frames of an MP3 file. A single frame may be a coincidence. */
const MIN_FRAMES = 2;
/** Tags that may follow the last frame. */
const TAGS = /^(TAG|APETAGEX|LYRICSBEGIN|ID3)/;

interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  readonly isMono: boolean;
  readonly isMpeg1: boolean;
}

/** Duration in seconds. Counts every frame, because the bitrate may vary. Null when the file is not certainly MP3. */
export function mp3Seconds(bytes: Buffer): number | null {
  let at = afterTag(bytes);
  const first = frameAt(bytes, at);
  if (first === null) return null;
  const info = infoFrame(bytes.subarray(at, at + first.bytes), first);
  if (info !== null) at += first.bytes;
  let samples = 0;
  let frames = 0;
  for (; at < bytes.length; frames += 1) {
    const frame = frameAt(bytes, at);
    if (frame === null) {
      if (!isTrailer(bytes.subarray(at))) return null;
      break;
    }
    if (frame.rate !== first.rate) return null;
    // The last frame is truncated and not played.
    if (at + frame.bytes > bytes.length) break;
    samples += frame.samples;
    at += frame.bytes;
  }
  return frames < MIN_FRAMES ? null : (samples - (info?.padding ?? 0)) / first.rate;
}

/**
 * Offset of the first frame, after an optional ID3v2 tag. The size of the tag has seven bits per byte. A flag adds a
 * footer of 10 bytes.
 */
function afterTag(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + (((bytes[5] ?? 0) & 0x10) === 0 ? 0 : 10);
}

/**
 * The frame whose header begins at `at`. Null without the eleven sync bits, for another layer and for reserved values.
 */
function frameAt(bytes: Buffer, at: number): Frame | null {
  if (at + 4 > bytes.length) return null;
  const head = bytes.readUInt32BE(at);
  const divisor = RATE_DIVISORS[(head >>> 19) & 3] ?? null;
  const isLayer3 = ((head >>> 17) & 3) === 1;
  if (head >>> 21 !== 0x7ff || divisor === null || !isLayer3) return null;
  const isMpeg1 = divisor === 1;
  const bitrate = BITRATES[isMpeg1 ? 0 : 1][(head >>> 12) & 15] ?? 0;
  const baseRate = RATES[(head >>> 10) & 3];
  if (bitrate === 0 || baseRate === undefined) return null;
  const rate = baseRate / divisor;
  const samples = isMpeg1 ? 1152 : 576;
  // 125 converts kbit to bytes. The last bit adds a padding byte.
  const size = Math.floor((samples * bitrate * 125) / rate) + ((head >>> 9) & 1);
  return { bytes: size, samples, rate, isMono: ((head >>> 6) & 3) === 3, isMpeg1 };
}

/** Info frame (VBRI, Xing, Info) with the number of padding samples. Null for a frame with sound. */
function infoFrame(frame: Buffer, { isMono, isMpeg1 }: Frame): { readonly padding: number } | null {
  if (frame.toString('latin1', 36, 40) === 'VBRI') return { padding: 0 };
  // The name follows the header and the side information, whose size depends on version and channels.
  const nameStart = 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  if (!/^(Xing|Info)$/.test(frame.toString('latin1', nameStart, nameStart + 4))) return null;
  const flags = frame.length < nameStart + 8 ? 0 : frame.readUInt32BE(nameStart + 4);
  // Optional fields by flag: frame count, byte count, seek table, quality.
  const encoderStart =
    nameStart + 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  if (frame.length < encoderStart + 24 || frame[encoderStart] === 0) return { padding: 0 };
  // Twelve bits each: the samples that the encoder added before and after the sound.
  const delays = frame.readUIntBE(encoderStart + 21, 3);
  return { padding: (delays >>> 12) + (delays & 0xfff) };
}

/** Whether the bytes after the last frame are a tag or only zeros. */
function isTrailer(rest: Buffer): boolean {
  return TAGS.test(rest.toString('latin1', 0, 16)) || rest.every((byte) => byte === 0);
}
