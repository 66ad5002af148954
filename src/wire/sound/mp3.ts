/** Kilobits a second of layer 3, by the index in a frame's head: of MPEG 1, and of its slower successors. */
const BITRATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const RATES = [44_100, 48_000, 32_000] as const;
/** How much slower the versions are, by their bits: 2.5, none, 2, 1. */
const SLOWER = [4, null, 2, 1] as const;
/** Fewer that follow each other may be chance. */
const LEAST_FRAMES = 2;
/** What may stand behind the last frame. */
const TAGS = /^(TAG|APETAGEX|LYRICSBEGIN|ID3)/;

interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  readonly isMono: boolean;
  readonly isFirstVersion: boolean;
}

/** Every frame is counted: the rate of the first says nothing of the others. */
export function mp3Seconds(bytes: Buffer): number | null {
  let at = afterTag(bytes);
  const first = frameAt(bytes, at);
  if (first === null) return null;
  const head = headOf(bytes.subarray(at, at + first.bytes), first);
  if (head !== null) at += first.bytes;
  let samples = 0;
  let frames = 0;
  for (; at < bytes.length; frames += 1) {
    const frame = frameAt(bytes, at);
    if (frame === null) {
      if (!isRest(bytes.subarray(at))) return null;
      break;
    }
    if (frame.rate !== first.rate) return null;
    // The last one is not all there: nobody plays it.
    if (at + frame.bytes > bytes.length) break;
    samples += frame.samples;
    at += frame.bytes;
  }
  return frames < LEAST_FRAMES ? null : (samples - (head?.padding ?? 0)) / first.rate;
}

/** Where the first frame is: behind a tag whose size is written in seven bits a byte. */
function afterTag(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + (((bytes[5] ?? 0) & 0x10) === 0 ? 0 : 10);
}

function frameAt(bytes: Buffer, at: number): Frame | null {
  if (at + 4 > bytes.length) return null;
  const head = bytes.readUInt32BE(at);
  const slower = SLOWER[(head >>> 19) & 3] ?? null;
  const isLayer3 = ((head >>> 17) & 3) === 1;
  if (head >>> 21 !== 0x7ff || slower === null || !isLayer3) return null;
  const isFirstVersion = slower === 1;
  const bitrate = BITRATES[isFirstVersion ? 0 : 1][(head >>> 12) & 15] ?? 0;
  const fastest = RATES[(head >>> 10) & 3];
  if (bitrate === 0 || fastest === undefined) return null;
  const rate = fastest / slower;
  const samples = isFirstVersion ? 1152 : 576;
  const size = Math.floor((samples * bitrate * 125) / rate) + ((head >>> 9) & 1);
  return { bytes: size, samples, rate, isMono: ((head >>> 6) & 3) === 3, isFirstVersion };
}

/** A first frame that only tells of the others, and how many samples it says were added to them; null for one with sound. */
function headOf(frame: Buffer, { isMono, isFirstVersion }: Frame): { readonly padding: number } | null {
  if (frame.toString('latin1', 36, 40) === 'VBRI') return { padding: 0 };
  const at = 4 + (isFirstVersion ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  if (!/^(Xing|Info)$/.test(frame.toString('latin1', at, at + 4))) return null;
  const flags = frame.length < at + 8 ? 0 : frame.readUInt32BE(at + 4);
  // Frames, bytes, a table, quality: each is there or not.
  const encoder = at + 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  if (frame.length < encoder + 24 || frame[encoder] === 0) return { padding: 0 };
  const delays = frame.readUIntBE(encoder + 21, 3);
  return { padding: (delays >>> 12) + (delays & 0xfff) };
}

/** Tags and zeros. */
function isRest(rest: Buffer): boolean {
  return TAGS.test(rest.toString('latin1', 0, 16)) || rest.every((byte) => byte === 0);
}
