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
/** Starts of tags that may follow the last frame. */
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
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    if (frame === null) {
      if (!isTrailer(bytes.subarray(at))) return null;
      break;
    }
    if (frame.rate !== first.rate) return null;
    const isTruncated = at + frame.bytes > bytes.length;
    // Players do not play a truncated frame.
    if (isTruncated) break;
    samples += frame.samples;
    frames += 1;
    at += frame.bytes;
  }
  return frames < MIN_FRAMES ? null : (samples - (info?.padding ?? 0)) / first.rate;
}

/** Bytes of the header of an ID3v2 tag, and of its optional footer. */
const TAG_HEADER_BYTES = 10;
const TAG_FOOTER_BYTES = 10;

/** Offset of the first frame, after an optional ID3v2 tag. */
function afterTag(bytes: Buffer): number {
  if (bytes.length < TAG_HEADER_BYTES || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  // The size has seven bits per byte.
  const size = bytes.subarray(6, TAG_HEADER_BYTES).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  const hasFooter = ((bytes[5] ?? 0) & 0x10) !== 0;
  return TAG_HEADER_BYTES + size + (hasFooter ? TAG_FOOTER_BYTES : 0);
}

const FRAME_HEADER_BYTES = 4;
const BYTES_PER_KBIT = 125;

/**
 * The frame whose header begins at `at`. Null without the eleven sync bits, for another layer and for reserved values.
 */
function frameAt(bytes: Buffer, at: number): Frame | null {
  if (at + FRAME_HEADER_BYTES > bytes.length) return null;
  const header = bytes.readUInt32BE(at);
  const hasSyncBits = header >>> 21 === 0x7ff;
  const divisor = RATE_DIVISORS[(header >>> 19) & 3] ?? null;
  const isLayer3 = ((header >>> 17) & 3) === 1;
  if (!hasSyncBits || divisor === null || !isLayer3) return null;
  const isMpeg1 = divisor === 1;
  const bitrate = BITRATES[isMpeg1 ? 0 : 1][(header >>> 12) & 15] ?? 0;
  const baseRate = RATES[(header >>> 10) & 3];
  if (bitrate === 0 || baseRate === undefined) return null;
  const rate = baseRate / divisor;
  const samples = isMpeg1 ? 1152 : 576;
  const paddingBytes = (header >>> 9) & 1;
  const size = Math.floor((samples * bitrate * BYTES_PER_KBIT) / rate) + paddingBytes;
  const isMono = ((header >>> 6) & 3) === 3;
  return { bytes: size, samples, rate, isMono, isMpeg1 };
}

/** Bytes of the side information that follows the header of a frame. */
function sideInformationBytes({ isMono, isMpeg1 }: Frame): number {
  if (isMpeg1) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
}

/** Bytes of the optional fields of an info frame, by the bit of their flag: frames, bytes, seek table, quality. */
const INFO_FIELD_BYTES = [4, 4, 100, 4] as const;

/** Info frame (VBRI, Xing, Info) with the number of padding samples. Null for a frame with sound. */
function infoFrame(frame: Buffer, facts: Frame): { readonly padding: number } | null {
  if (frame.toString('latin1', 36, 40) === 'VBRI') return { padding: 0 };
  const nameStart = FRAME_HEADER_BYTES + sideInformationBytes(facts);
  if (!/^(Xing|Info)$/.test(frame.toString('latin1', nameStart, nameStart + 4))) return null;
  const flagsStart = nameStart + 4;
  const fieldsStart = flagsStart + 4;
  const flags = frame.length < fieldsStart ? 0 : frame.readUInt32BE(flagsStart);
  const fieldBytes = INFO_FIELD_BYTES.reduce<number>((sum, bytes, bit) => sum + (flags & (1 << bit) ? bytes : 0), 0);
  const encoderStart = fieldsStart + fieldBytes;
  if (frame.length < encoderStart + 24 || frame[encoderStart] === 0) return { padding: 0 };
  // Twelve bits each: the samples that the encoder added before and after the sound.
  const delays = frame.readUIntBE(encoderStart + 21, 3);
  return { padding: (delays >>> 12) + (delays & 0xfff) };
}

/** Whether the bytes after the last frame are a tag or only zeros. */
function isTrailer(rest: Buffer): boolean {
  return TAGS.test(rest.toString('latin1', 0, 16)) || rest.every((byte) => byte === 0);
}
